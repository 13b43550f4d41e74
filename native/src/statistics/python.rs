//! Statistics as Python sees them. Each object is used by one thread at a time.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::statistics::hosts;
use crate::statistics::lines::{self, HostParts, Left};
use crate::statistics::tally;

/// StatisticsLines(parts, exact)
///
/// Makes the lines of pages for the shuffle. `parts` is called with the host of a URL, and gives the host, its domain and
/// its suffix as bytes of JSON texts. With `exact`, digests have lines too.
#[pyclass(module = "crawlmill_native")]
pub struct StatisticsLines {
    parts: Py<PyAny>,
    lines: lines::StatisticsLines,
}

/// (crawl, [(status, is_robots, number)], registers of URLs or None, of digests)
type Counts<'py> =
    (Bound<'py, PyBytes>, Vec<(i64, bool, u64)>, Option<Bound<'py, PyBytes>>, Option<Bound<'py, PyBytes>>);

const _: () = assert!(align_of::<StatisticsLines>() <= 8 && align_of::<SortedPages>() <= 8);
const _: () = assert!(align_of::<GroupLines>() <= 8);

#[pymethods]
impl StatisticsLines {
    #[new]
    fn new(parts: Py<PyAny>, exact: bool) -> StatisticsLines {
        StatisticsLines { parts, lines: lines::StatisticsLines::new(exact) }
    }

    /// add(data, crawl=None) -> (lines, [(number, start, end)])
    ///
    /// Take whole lines of an index. Those that are not usual are left: where they are is given. Without `crawl`, which is
    /// the text of JSON, the names of files say it.
    #[pyo3(signature = (data, crawl = None))]
    fn add<'py>(
        &mut self,
        data: &Bound<'py, PyBytes>,
        crawl: Option<&[u8]>,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<Left>)> {
        let py = data.py();
        let parts = self.parts.bind(py);
        let ask = |host: &[u8]| {
            let said = parts.call1((String::from_utf8_lossy(host),))?;
            let (host, domain, tld): (PyBackedBytes, PyBackedBytes, PyBackedBytes) = said.extract()?;
            Ok::<_, PyErr>(HostParts::new(&host, &domain, &tld))
        };
        let (out, left) = self.lines.add(data.as_bytes(), crawl, ask)?;
        Ok((PyBytes::new(py, &out), left))
    }

    /// How many numbers are held.
    fn __len__(&self) -> usize {
        self.lines.counted.len()
    }

    /// What was counted of each crawl; nothing is counted then.
    fn drain<'py>(&mut self, py: Python<'py>) -> Vec<Counts<'py>> {
        let bytes = |registers: &[u8]| PyBytes::new(py, registers);
        let crawls = self.lines.counted.take().into_iter();
        let counts = crawls.map(|(crawl, counts)| {
            let seen =
                counts.seen.into_iter().map(|((status, is_robots), number)| (status, is_robots, number)).collect();
            let [url, digest] =
                [counts.url, counts.digest].map(|sketch| sketch.map(|sketch| bytes(sketch.registers())));
            (bytes(&crawl), seen, url, digest)
        });
        counts.collect()
    }
}

/// SortedPages(exact)
///
/// Counts the sorted lines of pages.
#[pyclass(module = "crawlmill_native")]
pub struct SortedPages {
    pages: tally::SortedPages,
}

#[pymethods]
impl SortedPages {
    #[new]
    fn new(exact: bool) -> SortedPages {
        SortedPages { pages: tally::SortedPages::new(exact) }
    }

    /// Take more whole lines; gives some lines of pairs.
    fn add<'py>(&mut self, data: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyBytes>> {
        let (bytes, pages) = (data.as_bytes(), &mut self.pages);
        given(data.py(), data.py().detach(|| pages.add(bytes)))
    }

    /// The rest.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        given(py, self.pages.finish())
    }
}

/// GroupLines(key, segments=None)
///
/// Makes the lines of captures for the shuffle. `key` is called with the host of a URL, and gives the bytes of the JSON of
/// its key; with `segments`, so many segments of the path are added to it.
#[pyclass(module = "crawlmill_native")]
pub struct GroupLines {
    key: Py<PyAny>,
    lines: hosts::GroupLines,
}

#[pymethods]
impl GroupLines {
    #[new]
    #[pyo3(signature = (key, segments = None))]
    fn new(key: Py<PyAny>, segments: Option<usize>) -> GroupLines {
        GroupLines { key, lines: hosts::GroupLines::new(segments) }
    }

    /// add(data) -> (lines, [(number, start, end)])
    ///
    /// Take whole lines of an index. Those that are not usual are left: where they are is given.
    fn add<'py>(&mut self, data: &Bound<'py, PyBytes>) -> PyResult<(Bound<'py, PyBytes>, Vec<Left>)> {
        let py = data.py();
        let key = self.key.bind(py);
        let ask = |host: &[u8]| {
            let said: PyBackedBytes = key.call1((String::from_utf8_lossy(host),))?.extract()?;
            Ok::<_, PyErr>(said.to_vec())
        };
        let (out, left) = self.lines.add(data.as_bytes(), ask)?;
        Ok((PyBytes::new(py, &out), left))
    }
}

/// SortedGroups(least, ranked)
///
/// Counts the sorted lines of captures by key. Groups of fewer than `least` captures are left out; with `ranked`, lines are
/// `null TAB [captures,key,row]` in place of `key TAB row`.
#[pyclass(module = "crawlmill_native")]
pub struct SortedGroups {
    groups: hosts::SortedGroups,
}

#[pymethods]
impl SortedGroups {
    #[new]
    fn new(least: u64, ranked: bool) -> SortedGroups {
        SortedGroups { groups: hosts::SortedGroups::new(least, ranked) }
    }

    /// Take more whole lines; gives the lines of keys that are whole.
    fn add<'py>(&mut self, data: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyBytes>> {
        let (bytes, groups) = (data.as_bytes(), &mut self.groups);
        given(data.py(), data.py().detach(|| groups.add(bytes)))
    }

    /// The rest.
    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.groups.finish())
    }
}

fn given(py: Python<'_>, lines: Option<Vec<u8>>) -> PyResult<Bound<'_, PyBytes>> {
    lines.map(|lines| PyBytes::new(py, &lines)).ok_or_else(|| PyValueError::new_err("not a line of a capture"))
}
