//! The hot loops of Crawlmill for Python: counting the tags of pages and the words of texts, and reading records ahead.
//!
//! Each has a twin in Python, gives the same results as that, and never has the last word on damage.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "python"), allow(dead_code))]

#[cfg(feature = "python")]
mod counters;
mod letters;
mod member;
#[cfg(feature = "python")]
mod reader;
mod tags;
mod tokenizer;
mod warc;
mod words;

#[cfg(feature = "python")]
#[pyo3::pymodule]
mod crawlmill_native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::counters::{TagCounter, WordCounter};
    #[pymodule_export]
    use super::reader::RecordReader;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Raised with every change of what Python calls here; `crawlmill.core` takes only its own.
        module.add("API_VERSION", 1)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
