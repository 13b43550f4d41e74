//! Sorting as Python sees it. Each object is used by one thread at a time; the others may run meanwhile.

use std::io;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::sort::external::{merge_all, Sorter};
use crate::sort::merge::{Blocks, FileRun, Merge};
use crate::sort::spill::Spiller;
use crate::sort::store::Packing;
use crate::sort::sums::{Piece, Sums};

/// Sorts the lines of a text.
#[pyclass(module = "crawlmill_native")]
pub struct LineSorter {
    folder: PathBuf,
    sorter: Option<Sorter>,
}

#[pymethods]
impl LineSorter {
    #[new]
    fn new(folder: PathBuf, memory: usize) -> LineSorter {
        LineSorter { sorter: Some(Sorter::new(&folder, memory, Packing::Measured)), folder }
    }

    /// Take more of the text, wherever it is cut.
    fn add(&mut self, data: &Bound<'_, PyBytes>) -> PyResult<()> {
        let (py, bytes) = (data.py(), data.as_bytes());
        let sorter = self.sorter.as_mut().ok_or_else(used)?;
        let added = if bytes.len() < WORTH_DETACHING { sorter.push(bytes) } else { py.detach(|| sorter.push(bytes)) };
        added.map_err(|error| os_error(py, &error, &self.folder))
    }

    /// The lines in their order, as an object whose `read` gives many at once.
    fn finish(&mut self, py: Python<'_>) -> PyResult<SortedBlocks> {
        let sorter = self.sorter.take().ok_or_else(used)?;
        let merge = py.detach(|| sorter.finish()).map_err(|error| os_error(py, &error, &self.folder))?;
        Ok(SortedBlocks { merge, folder: self.folder.clone() })
    }
}

/// Bytes from which on other threads may run meanwhile.
const WORTH_DETACHING: usize = 4 << 10;

/// Sorted lines.
#[pyclass(module = "crawlmill_native")]
pub struct SortedBlocks {
    merge: Merge,
    folder: PathBuf,
}

#[pymethods]
impl SortedBlocks {
    /// Some whole lines, each with its line end; b"" at the end.
    fn read<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut block = Vec::new();
        let merge = &mut self.merge;
        py.detach(|| merge.read(&mut block)).map_err(|error| os_error(py, &error, &self.folder))?;
        Ok(PyBytes::new(py, &block))
    }
}

/// Merges sorted runs: (path, offset, length) tuples.
#[pyfunction]
pub fn merge_runs(
    py: Python<'_>,
    runs: Vec<(PathBuf, u64, u64)>,
    folder: PathBuf,
    memory: usize,
) -> PyResult<SortedBlocks> {
    let block = (memory / (runs.len().max(1) * 2)).clamp(1 << 12, 1 << 18);
    let merge = py.detach(|| {
        let runs = runs
            .into_iter()
            .map(|(path, offset, length)| -> Box<dyn Blocks> { Box::new(FileRun::new(path, offset, length, block)) });
        merge_all(runs.collect(), &folder, memory, Packing::Measured)
    });
    Ok(SortedBlocks { merge: merge.map_err(|error| os_error(py, &error, &folder))?, folder })
}

/// Cuts lines into partitions by their keys, each sorted, in files of a folder.
#[pyclass(module = "crawlmill_native")]
pub struct LineSpiller {
    folder: PathBuf,
    spiller: Option<Spiller>,
}

#[pymethods]
impl LineSpiller {
    #[new]
    fn new(folder: PathBuf, partitions: usize, memory: usize) -> LineSpiller {
        LineSpiller { spiller: Some(Spiller::new(&folder, partitions, memory)), folder }
    }

    /// Take more lines, wherever they are cut.
    fn add(&mut self, data: &Bound<'_, PyBytes>) -> PyResult<()> {
        let (py, bytes) = (data.py(), data.as_bytes());
        let spiller = self.spiller.as_mut().ok_or_else(used)?;
        let added = if bytes.len() < WORTH_DETACHING { spiller.push(bytes) } else { py.detach(|| spiller.push(bytes)) };
        added.map_err(|error| os_error(py, &error, &self.folder))
    }

    /// Write what is held; for each of the files, a list of the bytes of each partition's run.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Vec<Vec<u64>>> {
        let spiller = self.spiller.take().ok_or_else(used)?;
        py.detach(|| spiller.finish()).map_err(|error| os_error(py, &error, &self.folder))
    }
}

/// Sums by key.
#[pyclass(module = "crawlmill_native")]
pub struct LineSums {
    sums: Sums,
}

#[pymethods]
impl LineSums {
    #[new]
    #[pyo3(signature = (least = None, most = None))]
    fn new(least: Option<i64>, most: Option<usize>) -> LineSums {
        LineSums { sums: Sums::new(least.map_or(i128::MIN, i128::from), most) }
    }

    /// Take more sorted lines, wherever they are cut.
    ///
    /// A list of (left, lines): sums, or where `left` is true lines that are to be summed in Python.
    fn add<'py>(&mut self, data: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyList>> {
        let (py, bytes, sums) = (data.py(), data.as_bytes(), &mut self.sums);
        let pieces = if bytes.len() < WORTH_DETACHING { sums.push(bytes) } else { py.detach(|| sums.push(bytes)) };
        as_list(py, pieces)
    }

    /// The rest, likewise, once no more lines come. With `most`, these are the largest, falling.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let sums = &mut self.sums;
        let pieces = py.detach(|| sums.finish());
        as_list(py, pieces)
    }
}

fn as_list(py: Python<'_>, pieces: Vec<Piece>) -> PyResult<Bound<'_, PyList>> {
    let tuples = pieces.into_iter().map(|piece| match piece {
        Piece::Summed(lines) => (false, PyBytes::new(py, &lines)).into_pyobject(py),
        Piece::Left(lines) => (true, PyBytes::new(py, &lines)).into_pyobject(py),
    });
    PyList::new(py, tuples.collect::<PyResult<Vec<Bound<'_, PyTuple>>>>()?)
}

/// An OSError with the number that Python's own would have.
fn os_error(py: Python<'_>, error: &io::Error, folder: &Path) -> PyErr {
    let Some(code) = error.raw_os_error() else {
        return match error.kind() {
            io::ErrorKind::InvalidInput => PyValueError::new_err(error.to_string()),
            _ => PyOSError::new_err(format!("{error}: {}", folder.display())),
        };
    };
    let text = py.import("os").and_then(|os| os.call_method1("strerror", (code,))?.extract::<String>());
    PyOSError::new_err((code, text.unwrap_or_else(|_| error.to_string()), folder.display().to_string()))
}

fn used() -> PyErr {
    PyValueError::new_err("nothing can be added or asked after finish()")
}
