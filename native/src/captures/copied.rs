//! Index lines of records that are copied as they are: the twin of `crawlmill.extraction.lines`.

use std::io::Write;

use crate::captures::described::Start;
use crate::captures::listed::Listed;

/// Where a copy is: the file's name as JSON, and its place there.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub filename: &'a [u8],
    pub offset: u64,
    pub length: u64,
}

/// Appends the line of a record: what it says itself, where its copy is, and what only the list says of it.
pub fn push_line(key: &[u8], start: &Start<'_>, listed: &Listed<'_>, place: Place<'_>, out: &mut Vec<u8>) {
    for part in [key, b" ", &start.timestamp, b" ", &start.front] {
        out.extend_from_slice(part);
    }
    // Writing to a vector never fails.
    let _ = write!(out, ", \"length\": \"{}\", \"offset\": \"{}\", \"filename\": ", place.length, place.offset);
    out.extend_from_slice(place.filename);
    let detected = [(&b"charset"[..], listed.charset), (b"languages", listed.languages)];
    for (name, value) in detected.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        push_field(name, value, out);
    }
    out.extend_from_slice(&start.back);
    for (name, value) in &listed.more {
        push_field(name, value, out);
    }
    out.extend_from_slice(b"}\n");
}

fn push_field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    for part in [b", \"", name, b"\": \"", value, b"\""] {
        out.extend_from_slice(part);
    }
}
