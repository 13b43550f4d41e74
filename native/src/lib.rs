//! The hot loops of Crawlmill for Python: counting the tags of pages and the words of texts, and reading records ahead.
//!
//! Each has a twin in Python, gives the same results as that, and never has the last word on damage.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "python"), allow(dead_code))]

mod body;
#[cfg(feature = "python")]
mod counters;
mod http;
mod letters;
mod lines;
mod member;
mod page;
mod pairs;
#[cfg(feature = "python")]
mod reader;
mod records;
mod selection;
mod servers;
mod sort;
mod tags;
mod tokenizer;
mod warc;
mod wat;
mod words;

#[cfg(feature = "python")]
#[pyo3::pymodule]
mod crawlmill_native {
    use pyo3::prelude::*;
    use pyo3::types::{PyBytes, PyList};

    use super::wat::{servers, Servers};

    #[pymodule_export]
    use super::counters::{ServerCounter, TagCounter, WordCounter};
    #[pymodule_export]
    use super::reader::RecordReader;
    #[pymodule_export]
    use super::sort::python::{merge_runs, LineSorter, LineSpiller, LineSums, SortedBlocks};

    /// wat_servers(envelope) -> the servers that a WAT record counts under ([None] without one), or None
    ///
    /// NotImplemented for what is not usual.
    #[pyfunction]
    fn wat_servers<'py>(envelope: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
        let py = envelope.py();
        match servers(envelope.as_bytes()) {
            Servers::NoResponse => Ok(py.None().into_bound(py)),
            Servers::Named(names) if names.is_empty() => Ok(PyList::new(py, [py.None()])?.into_any()),
            Servers::Named(names) => Ok(PyList::new(py, names)?.into_any()),
            Servers::Unusual => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Raised with every change of what Python calls here; `crawlmill.core` takes only its own.
        module.add("API_VERSION", 4)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
