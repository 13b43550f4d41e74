//! The lines of links as Python sees them.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

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

    /// What was written since it was last asked for: whole lines of JSON.
    fn take<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lines.take_lines())
    }
}
