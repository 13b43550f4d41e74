//! Rows of a ledger as tasks write them: the twin of `encode_usual` and `take_row` in `crawlmill.mr.task.rows`.

use std::io::Write;

use memchr::memmem;

use crate::json::push_text;

/// What a row is about: the line that names it, its location, and its offset and length if it is not a whole file.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub input: &'a str,
    pub location: &'a str,
    pub span: Option<(u64, u64)>,
}

/// Appends the line of a row.
///
/// `middle` are the fields between the place and its numbers, `end` what comes after these.
pub fn push(rank: u64, place: Place<'_>, middle: &str, records: u64, bytes: u64, end: &str, out: &mut Vec<u8>) {
    // Writing to a vector never fails.
    let _ = write!(out, "\"\\u0000ledger:{rank:012}\"\t{{\"input\":\"");
    push_text(place.input.as_bytes(), out);
    out.extend(b"\",\"location\":\"");
    push_text(place.location.as_bytes(), out);
    out.push(b'"');
    if let Some((offset, length)) = place.span {
        let _ = write!(out, ",\"offset\":{offset},\"length\":{length}");
    }
    let _ = writeln!(out, ",{middle},\"records\":{records},\"bytes\":{bytes},{end}");
}

/// The rows of neighbouring whole inputs without losses.
pub struct Rows<'a> {
    /// The place of the first input.
    pub rank: u64,
    /// Their lines of the ledger.
    pub lines: Vec<u8>,
    pub records: u64,
    pub bytes: u64,
    pub unicode: &'a [u8],
    pub core: &'a [u8],
    pub count: u64,
}

/// Rows that belong together, or a line that needs a closer look.
pub enum Taken<'a> {
    Rows(Rows<'a>),
    Line(&'a [u8]),
}

/// The rows of some lines.
pub fn take(lines: &[u8]) -> Vec<Taken<'_>> {
    let mut taken = Vec::new();
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        let Some((fields, row)) = written(line) else {
            taken.push(Taken::Line(line));
            continue;
        };
        if let Some(Taken::Rows(rows)) = taken.last_mut() {
            let next = rows.rank + rows.count == row.rank && (rows.unicode, rows.core) == (row.unicode, row.core);
            if let (true, Some(records), Some(bytes)) =
                (next, rows.records.checked_add(row.records), rows.bytes.checked_add(row.bytes))
            {
                (rows.records, rows.bytes, rows.count) = (records, bytes, rows.count + 1);
                push_line(fields, &mut rows.lines);
                continue;
            }
        }
        let mut rows = row;
        push_line(fields, &mut rows.lines);
        taken.push(Taken::Rows(rows));
    }
    taken
}

fn push_line(fields: &[u8], lines: &mut Vec<u8>) {
    lines.extend_from_slice(fields);
    lines.extend_from_slice(b"}\n");
}

/// The fields of a row that are in the ledger, without the brace at their end, and what a run adds up.
fn written(line: &[u8]) -> Option<(&[u8], Rows<'_>)> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let (rank, fields) = line.strip_prefix(br#""\u0000ledger:"#)?.split_at_checked(12)?;
    let (rank, rest) = (number(rank)?, fields.strip_prefix(b"\"\t")?);
    // In JSON text, a quote within a string has a backslash before it, so this is found among names only.
    let outcome = br#","outcome":"ok","records":"#;
    let end = memmem::rfind(rest, outcome).filter(|_| rest.starts_with(b"{"))?;
    let (records, tail) = digits(&rest[end + outcome.len()..])?;
    let (bytes, tail) = digits(tail.strip_prefix(br#","bytes":"#)?)?;
    let tail = tail.strip_prefix(br#","verified":"#)?;
    let tail = tail.strip_prefix(b"true").or_else(|| tail.strip_prefix(b"false"))?;
    let tail = tail.strip_prefix(br#","lost":{},"problems":[]"#)?;
    let fields = &rest[..rest.len() - tail.len()];
    let tail = tail.strip_prefix(br#","unicode":""#)?.strip_suffix(br#""}"#)?;
    let middle = br#"","core":""#;
    let at = memmem::find(tail, middle)?;
    let (unicode, core) = (&tail[..at], &tail[at + middle.len()..]);
    let is_version = unicode.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let is_name = core.iter().all(u8::is_ascii_lowercase);
    let usual = is_version && is_name && !unicode.is_empty() && !core.is_empty();
    usual.then(|| (fields, Rows { rank, lines: Vec::new(), records, bytes, unicode, core, count: 1 }))
}

fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let (digits, rest) = text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count());
    Some((number(digits)?, rest))
}

fn number(digits: &[u8]) -> Option<u64> {
    let plain = digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| plain)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{push, take, Place, Taken};

    #[test]
    fn rows_are_json() {
        let mut lines = Vec::new();
        let place = Place { input: "\u{e9}\"\n", location: "l", span: Some((4, 5)) };
        push(7, place, "\"a\":1", 2, 3, "}", &mut lines);
        push(8, Place { span: None, ..place }, "\"a\":1", 2, 3, "}", &mut lines);
        assert_eq!(
            String::from_utf8(lines).unwrap(),
            "\"\\u0000ledger:000000000007\"\t{\"input\":\"\u{e9}\\\"\\n\",\
             \"location\":\"l\",\"offset\":4,\"length\":5,\"a\":1,\"records\":2,\"bytes\":3,}\n\
             \"\\u0000ledger:000000000008\"\t{\"input\":\"\u{e9}\\\"\\n\",\
             \"location\":\"l\",\"a\":1,\"records\":2,\"bytes\":3,}\n"
        );
    }

    fn line(rank: u32, records: u64, more: &str) -> String {
        format!(
            "\"\\u0000ledger:{rank:012}\"\t{{\"input\":\"x\",\"outcome\":\"ok\",\"records\":{records},\"bytes\":2,\
             \"verified\":true,\"lost\":{{}},\"problems\":[],\"unicode\":\"1.2\",\"core\":\"native\"{more}}}\n"
        )
    }

    fn shape(text: &str) -> Vec<(u64, u64, u64)> {
        let of = |each| match each {
            Taken::Rows(rows) => (rows.rank, rows.count, rows.records),
            Taken::Line(_) => (0, 0, 0),
        };
        take(text.as_bytes()).into_iter().map(of).collect()
    }

    #[test]
    fn neighbours_are_taken_together() {
        let lines = [line(3, 1, ""), line(4, 2, ""), line(6, 4, ""), line(7, 8, ",\"cut\":1"), line(8, 1, "")];
        assert_eq!(shape(&lines.concat()), [(3, 2, 3), (6, 1, 4), (0, 0, 0), (8, 1, 1)]);
        let together = lines[..2].concat();
        let taken = take(together.as_bytes());
        let [Taken::Rows(rows)] = &taken[..] else { panic!("not taken together") };
        let fields = |records| {
            format!(
                "{{\"input\":\"x\",\"outcome\":\"ok\",\"records\":{records},\"bytes\":2,\"verified\":true,\
                 \"lost\":{{}},\"problems\":[]}}\n"
            )
        };
        assert_eq!(String::from_utf8(rows.lines.clone()).unwrap(), fields(1) + &fields(2));
        assert_eq!((rows.bytes, rows.unicode, rows.core), (4, &b"1.2"[..], &b"native"[..]));
    }

    #[test]
    fn numbers_that_are_too_large_are_left_to_python() {
        assert_eq!(shape(&line(3, u64::MAX, "").replace("\"records\":1", "\"records\":91")), [(0, 0, 0)]);
        assert_eq!(shape(&[line(3, u64::MAX, ""), line(4, 1, "")].concat()), [(3, 1, u64::MAX), (4, 1, 1)]);
        assert_eq!(shape(&line(3, 1, "").replace("000003", "00000x")), [(0, 0, 0)]);
        assert_eq!(shape(""), []);
    }
}
