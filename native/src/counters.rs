//! The counters as Python sees them. Each is used by one thread at a time; another that interferes gets an exception.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::letters::{characters, irregular_questions, Stop, IRREGULAR_CHUNK, LETTERS};
use crate::markup;
use crate::pairs::Lines;
use crate::servers::ServerCounts;
use crate::tags::TagCounts;
use crate::words::{utf8_lossy, Counts, WordCounts};

/// Bytes of a text or page from which on other threads may run while it is counted.
const WORTH_DETACHING: usize = 4 << 10;

// Python aligns its objects to no more than that.
const _: () =
    assert!(align_of::<TagCounter>() <= 8 && align_of::<WordCounter>() <= 8 && align_of::<ServerCounter>() <= 8);
const _: () = assert!(align_of::<PageFilter>() <= 8);

/// Counts the start tags of pages.
#[pyclass(module = "crawlmill_native")]
#[derive(Default)]
pub struct TagCounter {
    pub counts: TagCounts,
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

    /// The same as bytes: lines of JSON, some of them in each.
    fn drain_lines<'py>(&mut self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let counts = std::mem::take(&mut self.counts);
        lines(py, |lines| {
            for (name, count) in counts.into_names() {
                lines.push(Some(name.as_bytes()), count, None);
            }
        })
    }
}

/// Counts the servers of responses, of which it is given records by a `RecordReader`.
#[pyclass(module = "crawlmill_native")]
#[derive(Default)]
pub struct ServerCounter {
    pub counts: ServerCounts,
}

#[pymethods]
impl ServerCounter {
    #[new]
    fn new() -> ServerCounter {
        ServerCounter::default()
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }

    /// A list of (server or None, count); the counter is empty then.
    fn drain(&mut self) -> Vec<(Option<String>, u64)> {
        let counts = std::mem::take(&mut self.counts).into_counts();
        counts.map(|(name, count)| (name.map(String::from), count)).collect()
    }

    /// The same as bytes: lines of JSON, some of them in each.
    fn drain_lines<'py>(&mut self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let counts = std::mem::take(&mut self.counts);
        lines(py, |lines| {
            for (name, count) in counts.into_counts() {
                lines.push(name.as_deref().map(str::as_bytes), count, None);
            }
        })
    }
}

/// PageFilter(wanted)
///
/// Takes, of records that it is given by a `RecordReader`, pages without these formats (as `structured_formats` has
/// them) and responses that are no pages.
#[pyclass(module = "crawlmill_native")]
pub struct PageFilter {
    pub pages: markup::PageFilter,
}

#[pymethods]
impl PageFilter {
    #[new]
    fn new(wanted: u8) -> PageFilter {
        PageFilter { pages: markup::PageFilter::new(wanted) }
    }
}

/// Counts the words of texts, and with `document_frequency` the texts that hold each of them.
#[pyclass(module = "crawlmill_native")]
pub struct WordCounter {
    pub counts: WordCounts,
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
        self.add_valid(text.py(), utf8)
    }

    /// Count one text, in UTF-8; what is none counts as U+FFFD.
    fn add_utf8(&mut self, text: &Bound<'_, PyBytes>) -> PyResult<()> {
        self.add_valid(text.py(), &utf8_lossy(text.as_bytes()))
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }

    /// An iterator over (word, count), or (word, [count, documents]); the counter is empty from now on.
    fn drain(&mut self) -> DrainedWords {
        let counts = std::mem::take(&mut self.counts).into_counts();
        DrainedWords { counts: Box::new(counts), document_frequency: self.document_frequency }
    }

    /// The same as bytes: lines of JSON, some of them in each.
    fn drain_lines<'py>(&mut self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let counts = std::mem::take(&mut self.counts);
        let document_frequency = self.document_frequency;
        lines(py, |lines| {
            counts.each(|word, counts| {
                lines.push(Some(word), counts.words, document_frequency.then_some(counts.documents));
            });
        })
    }
}

/// What a WordCounter held.
#[pyclass(module = "crawlmill_native")]
pub struct DrainedWords {
    counts: Box<dyn Iterator<Item = (String, Counts)> + Send + Sync>,
    document_frequency: bool,
}

#[pymethods]
impl DrainedWords {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<(String, Bound<'py, PyAny>)>> {
        let Some((word, counts)) = self.counts.next() else {
            return Ok(None);
        };
        let number = if self.document_frequency {
            PyList::new(py, [counts.words, counts.documents])?.into_any()
        } else {
            counts.words.into_pyobject(py)?.into_any()
        };
        Ok(Some((word, number)))
    }
}

impl WordCounter {
    fn add_valid(&mut self, py: Python<'_>, text: &str) -> PyResult<()> {
        if self.add_regular(py, text)? {
            return Ok(());
        }
        let lowered = PyString::new(py, text).call_method0("lower")?;
        if self.add_regular(py, lowered.cast::<PyString>()?.to_str()?)? {
            return Ok(());
        }
        Err(unknown_lower_case())
    }

    /// Count one text; false, and nothing is counted, if Python has to lower it.
    fn add_regular(&mut self, py: Python<'_>, text: &str) -> PyResult<bool> {
        let counts = &mut self.counts;
        let mut from = 0;
        loop {
            let added = if text.len() < WORTH_DETACHING {
                counts.add_text(text, from, &LETTERS)
            } else {
                py.detach(|| counts.add_text(text, from, &LETTERS))
            };
            match added {
                Ok(()) => return Ok(true),
                Err(Stop::Irregular) => return Ok(false),
                Err(Stop::Unknown { chunk, at }) => {
                    learn(py, chunk)?;
                    from = at;
                }
            }
        }
    }
}

/// What `write` puts there, as Python has it; other threads run meanwhile.
fn lines<'py>(py: Python<'py>, write: impl FnOnce(&mut Lines) + Send) -> Vec<Bound<'py, PyBytes>> {
    let chunks = py.detach(|| {
        let mut lines = Lines::default();
        write(&mut lines);
        lines.into_chunks()
    });
    chunks.iter().map(|chunk| PyBytes::new(py, chunk)).collect()
}

/// Ask this Python what it takes for lower-cased parts of words.
pub fn learn(py: Python<'_>, chunk: usize) -> PyResult<()> {
    let lower = |text: &str| PyString::new(py, text).call_method0("lower");
    let words = |lowered| py.import("re")?.call_method1("sub", (r"\W", "\0", lowered));
    let learned = if chunk == IRREGULAR_CHUNK {
        let (answers, dotted_i) = (lower(&irregular_questions())?, words(lower("İ")?)?);
        LETTERS.learn_irregular(answers.cast::<PyString>()?.to_str()?, dotted_i.cast::<PyString>()?.to_str()?)
    } else {
        let found = words(lower(&characters(chunk).collect::<String>())?)?;
        LETTERS.learn(chunk, found.cast::<PyString>()?.to_str()?)
    };
    if learned {
        Ok(())
    } else {
        Err(unknown_lower_case())
    }
}

fn unknown_lower_case() -> PyErr {
    PyRuntimeError::new_err("str.lower() of this Python does what this module does not know; set CRAWLMILL_CORE=python")
}
