//! The lines of captures as Python sees them.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::captures::described::{detected, start, Extra};
use crate::captures::exchange::{Item, Ready};
use crate::captures::lines::Captures;

/// CaptureLines(filename, types, extra=())
///
/// Makes the lines of one archive's captures: as the counter of a `RecordReader` of usual responses and revisits, or of
/// records that Python hands to `take` and `describe`. `filename` is JSON; `extra` are names of fields that lines also
/// have: `recordid`, `last-modified`. Items that Python makes itself pass through,
/// so that all come out in the order of their records.
#[pyclass(module = "crawlmill_native")]
pub struct CaptureLines {
    pub captures: Captures,
}

const _: () = assert!(align_of::<CaptureLines>() <= 8);

#[pymethods]
impl CaptureLines {
    #[new]
    #[pyo3(signature = (filename, types, extra = Vec::new()))]
    #[allow(clippy::needless_pass_by_value)]
    fn new(filename: &[u8], types: Vec<String>, extra: Vec<String>) -> CaptureLines {
        let has = |name: &str| extra.iter().any(|wanted| wanted == name);
        let extra = Extra { id: has("recordid"), last_modified: has("last-modified") };
        CaptureLines { captures: Captures::new(filename, &types, extra) }
    }

    /// take(header, block, revisit, (length, offset), key=None) -> True, or what it lacks
    ///
    /// Takes in the record with this header, and a block that begins so. If it is unusual, False, and nothing is done;
    /// if only its URL is, the URL: then it needs a key.
    #[pyo3(signature = (header, block, revisit, place, key = None))]
    fn take<'py>(
        &mut self,
        py: Python<'py>,
        header: &[u8],
        block: &[u8],
        revisit: bool,
        place: (u64, u64),
        key: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(start) = start(header, block, revisit, self.captures.extra) else {
            return Ok(false.into_pyobject(py)?.to_owned().into_any());
        };
        let Some(key) = key.or(start.key.as_deref()) else {
            return Ok(PyBytes::new(py, start.url).into_any());
        };
        self.captures.wait(&start, key, place.0, place.1);
        Ok(true.into_pyobject(py)?.to_owned().into_any())
    }

    /// describe(header, block) -> whether it could be taken in: what a metadata record says
    fn describe(&mut self, header: &[u8], block: &[u8]) -> bool {
        let found = detected(header, block);
        found.is_some_and(|found| {
            self.captures.describe(&found);
            true
        })
    }

    /// keep(number, url=None, ids=None)
    ///
    /// Takes in an item of Python by what its record is known by; without `ids`, no metadata is about it.
    #[pyo3(signature = (number, url = None, ids = None))]
    #[allow(clippy::needless_pass_by_value)]
    fn keep(&mut self, number: usize, url: Option<&[u8]>, ids: Option<Vec<Vec<u8>>>) {
        let ids = ids.as_ref().map(|ids| ids.iter().map(Vec::as_slice).collect());
        self.captures.exchange.wait(Item::Kept(number), url, ids);
    }

    /// tell(found, named, url=None)
    ///
    /// Takes in what a metadata record says, as JSON that begins with a comma, the ids that it names, and its URL.
    #[pyo3(signature = (found, named, url = None))]
    #[allow(clippy::needless_pass_by_value)]
    fn tell(&mut self, found: &[u8], named: Vec<Vec<u8>>, url: Option<&[u8]>) {
        let named: Vec<&[u8]> = named.iter().map(Vec::as_slice).collect();
        self.captures.exchange.tell(&found.into(), &named, url);
    }

    /// A list of what is ready, in order: bytes of whole lines, or (number, what was told of it or None).
    fn ready<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        given(py, self.captures.exchange.take())
    }

    /// The same of all that is left.
    fn rest<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        given(py, self.captures.exchange.rest())
    }
}

fn given(py: Python<'_>, ready: Vec<Ready>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    ready
        .into_iter()
        .map(|each| match each {
            Ready::Lines(lines) => Ok(PyBytes::new(py, &lines).into_any()),
            Ready::Kept(number, found) => {
                let found = found.map(|found| PyBytes::new(py, &found));
                Ok(PyTuple::new(py, [number.into_pyobject(py)?.into_any(), found.into_pyobject(py)?.into_any()])?
                    .into_any())
            }
        })
        .collect()
}
