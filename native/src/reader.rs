//! Records read ahead of the Python reader: given to Python, or to a counter.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::captures::python::CaptureLines;
use crate::coding::Coding;
use crate::counters::{learn, PageFilter, ServerCounter, TagCounter, WordCounter};
use crate::criteria::{Criteria, Search};
use crate::frames::Frames;
use crate::links::python::LinkLines;
use crate::member::Members;
use crate::records::{Counter, Nothing, Progress, Records, Stop};
use crate::selection::Selection;
use crate::siblings::python::SiblingPlaces;
use crate::warc::TYPES;

/// Bytes inflated in one call, after which it ends.
const MAX_AT_ONCE: usize = 4 << 20;

/// (type, offset in the data, length of the member, where the block begins, length of the block, content or its head)
type Row<'py> = (Bound<'py, PyString>, usize, usize, usize, u64, Bound<'py, PyBytes>);

/// What may take records.
#[derive(FromPyObject)]
enum Taker<'py> {
    Tags(PyRefMut<'py, TagCounter>),
    Words(PyRefMut<'py, WordCounter>),
    Servers(PyRefMut<'py, ServerCounter>),
    Captures(PyRefMut<'py, CaptureLines>),
    Links(PyRefMut<'py, LinkLines>),
    Pages(PyRefMut<'py, PageFilter>),
    Siblings(PyRefMut<'py, SiblingPlaces>),
}

/// RecordReader(types, heads=0, most=0, criteria=None, dictionary=None)
///
/// Reads records of these types (None: of all) that meet the criteria, and passes by the others; what cannot be decided
/// here is given, and not counted. With `heads`, only so many bytes of each are
/// inflated, and what is proven is that its header, block and closing line ends come to the length it declares.
/// A counter takes no record whose block has more than `most` bytes.
/// An exception of what `criteria` search URLs with ends a call of `read`.
/// With a `dictionary`, which may be empty, members are Zstandard frames, else they are of gzip.
#[pyclass(module = "crawlmill_native")]
pub struct RecordReader {
    records: Box<Records>,
    search: Option<Search>,
    /// Whether `read` stopped where the data do not show the end of the next member: more are needed.
    #[pyo3(get)]
    short: bool,
    noted: (usize, usize),
}

// Python aligns its objects to no more than that, and what searches with SIMD may ask for more: hence the box.
const _: () = assert!(align_of::<RecordReader>() <= 8);

#[pymethods]
impl RecordReader {
    #[new]
    #[pyo3(signature = (types, heads = 0, most = 0, criteria = None, dictionary = None))]
    #[allow(clippy::needless_pass_by_value)]
    fn new(
        py: Python<'_>,
        types: Option<Vec<String>>,
        heads: usize,
        most: usize,
        criteria: Option<Criteria>,
        dictionary: Option<&[u8]>,
    ) -> RecordReader {
        let coding = match dictionary {
            None => Coding::Gzip(Box::new(Members::new())),
            Some(dictionary) => Coding::Zstd(Frames::new(dictionary)),
        };
        let search = criteria.as_ref().and_then(|criteria| Some(criteria.search.as_ref()?.clone_ref(py)));
        let selection = Selection::new(types.as_deref(), criteria);
        let records = Box::new(Records::new(coding, selection, heads, most));
        RecordReader { records, search, short: false, noted: (0, 0) }
    }

    /// unproven() -> how many records were read since the last call of which a changed byte need not be noticed
    fn unproven(&mut self) -> usize {
        self.records.unproven()
    }

    /// noted() -> (records, records)
    ///
    /// Of the records passed by since the last call: those of wanted types that do not meet the criteria, and those
    /// counted whose payload the crawler has cut.
    fn noted(&mut self) -> (usize, usize) {
        std::mem::take(&mut self.noted)
    }

    /// read(data, at, ended, counter=None, start=0) -> (position behind, records passed by, rows)
    ///
    /// From the position `at` of `data` on, members that are whole and hold one usual record each; stops at the first
    /// that is anything else, or for which more data may be needed, unless the file has `ended` with this data.
    /// A counter is offered the records, and those that it takes are passed by. `start` is where the data begin in the
    /// file.
    #[pyo3(signature = (data, at, ended, counter = None, start = 0))]
    fn read<'py>(
        &mut self,
        data: &Bound<'py, PyBytes>,
        at: usize,
        ended: bool,
        counter: Option<Taker<'py>>,
        start: u64,
    ) -> PyResult<(usize, usize, Vec<Row<'py>>)> {
        let (records, search, noted) = (&mut *self.records, self.search.as_ref(), &mut self.noted);
        let mut reading = Reading { records, search, noted, data, ended, start, short: false };
        let read = match counter {
            None => reading.read(at, &mut Nothing),
            Some(Taker::Tags(mut counter)) => reading.read(at, &mut counter.counts),
            Some(Taker::Words(mut counter)) => reading.read(at, &mut counter.counts),
            Some(Taker::Servers(mut counter)) => reading.read(at, &mut counter.counts),
            Some(Taker::Captures(mut lines)) => reading.read(at, &mut lines.captures),
            Some(Taker::Links(mut lines)) => reading.read(at, &mut lines.lines),
            Some(Taker::Pages(mut filter)) => reading.read(at, &mut filter.pages),
            Some(Taker::Siblings(mut places)) => reading.read(at, &mut places.places),
        };
        self.short = reading.short;
        read
    }
}

/// What a function of Python says of a URL, which is ASCII.
fn found(search: &Search, url: &[u8]) -> PyResult<bool> {
    Python::attach(|py| search.bind(py).call1((String::from_utf8_lossy(url),))?.is_truthy())
}

struct Reading<'a, 'py> {
    records: &'a mut Records,
    search: Option<&'a Search>,
    noted: &'a mut (usize, usize),
    data: &'a Bound<'py, PyBytes>,
    ended: bool,
    start: u64,
    short: bool,
}

impl<'py> Reading<'_, 'py> {
    fn read<C: Counter + Send>(&mut self, at: usize, counter: &mut C) -> PyResult<(usize, usize, Vec<Row<'py>>)> {
        let (py, data, ended) = (self.data.py(), self.data.as_bytes(), self.ended);
        let (records, search) = (&mut *self.records, self.search);
        let mut progress = Progress { at, start: self.start, passed: 0, deselected: 0, cut: 0, budget: MAX_AT_ONCE };
        let mut rows = Vec::new();
        loop {
            let stop = py.detach(|| {
                let mut raised = None;
                let mut find = |url: &[u8]| found(search?, url).map_err(|error| raised = Some(error)).ok();
                let stop = records.read(data, ended, &mut progress, counter, &mut find);
                raised.map_or(Ok(stop), Err)
            })?;
            self.noted.0 += std::mem::take(&mut progress.deselected);
            self.noted.1 += std::mem::take(&mut progress.cut);
            match stop {
                Stop::Over => return Ok((progress.at, progress.passed, rows)),
                Stop::Short => {
                    self.short = true;
                    return Ok((progress.at, progress.passed, rows));
                }
                Stop::Unknown(chunk) => learn(py, chunk)?,
                Stop::Record { head, length, size } => {
                    let kind = PyString::intern(py, TYPES[head.kind]);
                    let content = PyBytes::new(py, records.content(size));
                    rows.push((kind, progress.at - length, length, head.start, head.length, content));
                    if C::IN_ORDER {
                        return Ok((progress.at, progress.passed, rows));
                    }
                }
            }
        }
    }
}
