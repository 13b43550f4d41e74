//! The lines of links as Python sees them.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// LinkLines()
///
/// Writes the links of usual pages that a `RecordReader` offers it.
#[pyclass(module = "crawlmill_native")]
#[derive(Default)]
pub struct LinkLines {
    pub lines: super::LinkLines,
}

const _: () = assert!(align_of::<LinkLines>() <= 8);

#[pymethods]
impl LinkLines {
    #[new]
    fn new() -> LinkLines {
        LinkLines::default()
    }

    /// What was found since this was last asked for, in order: whole lines of JSON, and references to be resolved.
    ///
    /// Such a reference is (page, its base or None, kind, reference, whether it may hold character references).
    fn drain<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (lines, gaps) = self.lines.take();
        let mut drained = Vec::new();
        let mut done = 0;
        for gap in gaps {
            if gap.at > done {
                drained.push(PyBytes::new(py, &lines[done..gap.at]).into_any());
                done = gap.at;
            }
            let page = &*gap.page;
            let told = (page.url.as_str(), page.base.as_deref(), gap.kind, gap.reference, gap.is_html);
            let told: Bound<'py, PyTuple> = told.into_pyobject(py)?;
            drained.push(told.into_any());
        }
        if done < lines.len() {
            drained.push(PyBytes::new(py, &lines[done..]).into_any());
        }
        Ok(drained)
    }
}
