//! Records read ahead of the Python reader: from a buffer of gzip members, as far as each is whole and is one record.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::member::{declared_size, whole_size, Members};
use crate::warc::{quick_head, whole_record, Head, TYPES};

/// Bytes inflated in one call, after which it ends.
const MOST_AT_ONCE: usize = 4 << 20;

/// Bytes of a member from which on other threads may run while it is inflated.
const WORTH_DETACHING: usize = 16 << 10;

/// (type, offset in the data, length of the member, where the block begins, length of the block, content or its head)
type Row<'py> = (Bound<'py, PyString>, usize, usize, usize, u64, Bound<'py, PyBytes>);

/// RecordReader(types, heads=0)
///
/// Reads records of these types (None: of all) and counts the others. With `heads`, only so many bytes of each are
/// inflated, and what is proven is that its header, block and closing line ends come to the length it declares.
#[pyclass(module = "crawlmill_native")]
pub struct RecordReader {
    members: Box<Members>,
    wanted: [bool; TYPES.len()],
    heads: usize,
}

// Python aligns its objects to no more than that, and what searches with SIMD may ask for more: hence the box.
const _: () = assert!(align_of::<RecordReader>() <= 8);

#[pymethods]
impl RecordReader {
    #[new]
    #[pyo3(signature = (types, heads = 0))]
    fn new(types: Option<Vec<String>>, heads: usize) -> RecordReader {
        let wanted = TYPES.map(|name| types.as_ref().is_none_or(|types| types.iter().any(|wanted| wanted == name)));
        RecordReader { members: Box::new(Members::new()), wanted, heads }
    }

    /// read(data, at, ended) -> (position behind, records left out, rows)
    ///
    /// From the position `at` of `data` on, members that are whole and hold one usual record each; stops at the first
    /// that is anything else, or for which more data may be needed, unless the file has `ended` with this data.
    fn read<'py>(
        &mut self,
        data: &Bound<'py, PyBytes>,
        mut at: usize,
        ended: bool,
    ) -> PyResult<(usize, usize, Vec<Row<'py>>)> {
        let py = data.py();
        let bytes = data.as_bytes();
        let (mut rows, mut left_out, mut inflated) = (Vec::new(), 0, 0);
        while inflated < MOST_AT_ONCE {
            let Some(member) = self.members.candidate(bytes, at, ended) else {
                break;
            };
            let read = if self.heads == 0 { self.whole(py, member)? } else { self.head(py, member)? };
            let Some((head, content)) = read else {
                break;
            };
            inflated += content.as_bytes().len();
            if self.wanted[head.kind] {
                rows.push((PyString::intern(py, TYPES[head.kind]), at, member.len(), head.start, head.length, content));
            } else {
                left_out += 1;
            }
            at += member.len();
        }
        Ok((at, left_out, rows))
    }
}

impl RecordReader {
    /// The record that a member holds, with all of its content.
    fn whole<'py>(&mut self, py: Python<'py>, member: &[u8]) -> PyResult<Option<(Head, Bound<'py, PyBytes>)>> {
        let Some(size) = whole_size(member) else {
            return Ok(None);
        };
        let members = &mut self.members;
        let mut head = None;
        let content = PyBytes::new_with(py, size, |content| {
            let mut inflate = || if members.inflate(member, content) { whole_record(content) } else { None };
            head = if size < WORTH_DETACHING { inflate() } else { py.detach(inflate) };
            Ok(())
        })?;
        Ok(head.map(|head| (head, content)))
    }

    /// The record that a member holds, with the first bytes of its content.
    fn head<'py>(&mut self, py: Python<'py>, member: &[u8]) -> PyResult<Option<(Head, Bound<'py, PyBytes>)>> {
        let Some(declared) = declared_size(member) else {
            return Ok(None);
        };
        if declared <= self.heads {
            return self.whole(py, member);
        }
        let mut buffer = vec![0; self.heads];
        let Some(size) = self.members.inflate_head(member, &mut buffer) else {
            return Ok(None);
        };
        let head = quick_head(&buffer[..size]).filter(|head| head.fills(declared as u64));
        Ok(head.map(|head| (head, PyBytes::new(py, &buffer[..size]))))
    }
}
