//! The counters as Python sees them. Each is used by one thread at a time; another that interferes gets an exception.

use hashbrown::hash_map::IntoIter;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::letters::{characters, Letters, Unknown, IRREGULAR};
use crate::tags::TagCounts;
use crate::words::{Counts, WordCounts};

/// Bytes of a text or page from which on other threads may run while it is counted.
const WORTH_DETACHING: usize = 4 << 10;

/// Counts the start tags of pages.
#[pyclass(module = "crawlmill_native")]
#[derive(Default)]
pub struct TagCounter {
    counts: TagCounts,
}

#[pymethods]
impl TagCounter {
    #[new]
    fn new() -> TagCounter {
        TagCounter::default()
    }

    /// Count one page.
    fn add(&mut self, page: &Bound<'_, PyBytes>) {
        let bytes = page.as_bytes();
        let counts = &mut self.counts;
        if bytes.len() < WORTH_DETACHING {
            counts.add_page(bytes);
        } else {
            page.py().detach(|| counts.add_page(bytes));
        }
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }

    /// A list of (name, count); the counter is empty then.
    fn drain(&mut self) -> Vec<(String, u64)> {
        std::mem::take(&mut self.counts).into_names().into_iter().collect()
    }
}

/// Counts the words of texts, and with `document_frequency` the texts that hold each of them.
#[pyclass(module = "crawlmill_native")]
pub struct WordCounter {
    counts: WordCounts,
    document_frequency: bool,
}

#[pymethods]
impl WordCounter {
    #[new]
    #[pyo3(signature = (document_frequency = false))]
    fn new(document_frequency: bool) -> WordCounter {
        WordCounter { counts: WordCounts::default(), document_frequency }
    }

    /// Count one text.
    fn add(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let Ok(utf8) = text.to_str() else {
            // Surrogates, which are no part of words, and as good as any other character that is not.
            let replaced = text.call_method1("encode", ("utf-8", "replace"))?.call_method1("decode", ("utf-8",))?;
            return self.add(replaced.cast::<PyString>()?);
        };
        if utf8.is_ascii() || !utf8.contains(IRREGULAR) {
            return self.add_utf8(text.py(), utf8);
        }
        let lowered = text.call_method0("lower")?;
        self.add_utf8(text.py(), lowered.cast::<PyString>()?.to_str()?)
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }

    /// An iterator over (word, count), or (word, [count, documents]); the counter is empty from now on.
    fn drain(&mut self) -> DrainedWords {
        let counts = std::mem::take(&mut self.counts).into_counts();
        DrainedWords { counts, document_frequency: self.document_frequency }
    }
}

impl WordCounter {
    fn add_utf8(&mut self, py: Python<'_>, text: &str) -> PyResult<()> {
        let counts = &mut self.counts;
        let mut from = 0;
        while let Err(Unknown { chunk, at }) = if text.len() < WORTH_DETACHING {
            counts.add_text(text, from, &LETTERS)
        } else {
            py.detach(|| counts.add_text(text, from, &LETTERS))
        } {
            learn(py, chunk)?;
            from = at;
        }
        Ok(())
    }
}

static LETTERS: Letters = Letters::new();

/// Ask this Python what it takes for lower-cased parts of words.
fn learn(py: Python<'_>, chunk: usize) -> PyResult<()> {
    let lowered = PyString::new(py, &characters(chunk).collect::<String>()).call_method0("lower")?;
    let found = py.import("re")?.call_method1("sub", (r"\W", "\0", lowered))?;
    if LETTERS.learn(chunk, found.cast::<PyString>()?.to_str()?) {
        return Ok(());
    }
    Err(PyRuntimeError::new_err("str.lower() of this Python has a case that this module does not know"))
}

/// What a WordCounter held.
#[pyclass(module = "crawlmill_native")]
pub struct DrainedWords {
    counts: IntoIter<Box<[u8]>, Counts>,
    document_frequency: bool,
}

#[pymethods]
impl DrainedWords {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyString>, Bound<'py, PyAny>)>> {
        let Some((word, counts)) = self.counts.next() else {
            return Ok(None);
        };
        let word = PyString::from_bytes(py, &word)?;
        let number = if self.document_frequency {
            PyList::new(py, [counts.words, counts.documents])?.into_any()
        } else {
            counts.words.into_pyobject(py)?.into_any()
        };
        Ok(Some((word, number)))
    }
}
