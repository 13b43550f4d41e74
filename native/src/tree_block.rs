//! A data block of a prefix tree as Python sees it.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};

use crate::tree_items::{items, key_of, within};
use crate::tree_lines::push_line;

/// What a range has: its place among those that were asked for, and its lines; None: they need a closer look.
type Found<'py> = (usize, Option<Bound<'py, PyBytes>>);

/// TreeBlock(block, value_bytes)
///
/// The items of a data block, each a key, a NUL, and a value of so many bytes.
#[pyclass(module = "crawlmill_native", frozen)]
pub struct TreeBlock {
    block: Py<PyBytes>,
    value_bytes: usize,
    ends: Vec<usize>,
    /// Whether no key is less than the one before it.
    #[pyo3(get)]
    is_sorted: bool,
}

const _: () = assert!(align_of::<TreeBlock>() <= 8);

#[pymethods]
impl TreeBlock {
    #[new]
    fn new(block: &Bound<'_, PyBytes>, value_bytes: usize) -> TreeBlock {
        let (ends, is_sorted) = items(block.as_bytes(), value_bytes);
        TreeBlock { block: block.clone().unbind(), value_bytes, ends, is_sorted }
    }

    /// Where the items end.
    #[getter]
    fn end(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// A list of the keys, in the order of the block.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        (0..self.ends.len()).map(|number| self.key(py, number)).collect()
    }

    /// The first key; empty if there is no item.
    #[getter]
    fn first<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.key(py, 0)
    }

    /// The last key; empty if there is no item.
    #[getter]
    fn last<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.key(py, self.ends.len().saturating_sub(1))
    }

    /// within(low, high) -> a list of the items with keys from `low` up to, not including, `high`
    fn within<'py>(&self, py: Python<'py>, low: &[u8], high: &[u8]) -> Vec<Bound<'py, PyBytes>> {
        let found = within(self.block.as_bytes(py), &self.ends, self.value_bytes, self.is_sorted, low, high);
        found.into_iter().map(|item| PyBytes::new(py, item)).collect()
    }

    /// lines(asked, start) -> the place of the first range that ends behind the block, and the lines of those before it
    ///
    /// Ranges, each with low, high and a number, rise from `start` on. Those without a line are left out.
    fn lines<'py>(&self, asked: &Bound<'py, PyList>, start: usize) -> PyResult<(usize, Vec<Found<'py>>)> {
        let py = asked.py();
        let block = self.block.as_bytes(py);
        let last = key_of(block, &self.ends, self.value_bytes, self.ends.len().saturating_sub(1));
        let mut found = Vec::new();
        for place in start..asked.len() {
            let (low, high, _): (PyBackedBytes, PyBackedBytes, usize) = asked.get_item(place)?.extract()?;
            if last < &high[..] {
                return Ok((place, found));
            }
            let items = within(block, &self.ends, self.value_bytes, self.is_sorted, &low, &high);
            if !items.is_empty() {
                found.push((place, self.lines_of(&items).map(|lines| PyBytes::new(py, &lines))));
            }
        }
        Ok((asked.len(), found))
    }
}

impl TreeBlock {
    fn lines_of(&self, items: &[&[u8]]) -> Option<Vec<u8>> {
        let mut lines = Vec::new();
        for item in items {
            let (key, value) = item.split_at(item.len() - self.value_bytes);
            push_line(&key[..key.len() - 1], value, &mut lines)?;
        }
        Some(lines)
    }

    fn key<'py>(&self, py: Python<'py>, number: usize) -> Bound<'py, PyBytes> {
        PyBytes::new(py, key_of(self.block.as_bytes(py), &self.ends, self.value_bytes, number))
    }
}
