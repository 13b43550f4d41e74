//! The head of a WARC record as nearly all are written: the twin of `crawlmill.formats.warc.record.quick_head`.

use crate::lines::{graphic, Lines};

/// The types of WARC records, in no particular order.
pub const TYPES: [&str; 8] =
    ["warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"];
pub const RESPONSE: usize = 1;
pub const METADATA: usize = 4;
pub const REVISIT: usize = 5;
pub const CONVERSION: usize = 6;

/// Bytes in which a record's header must end.
const MAX_HEAD: usize = 1 << 20;

const END: &[u8] = b"\r\n\r\n";

/// What a record's header says.
#[derive(Debug, PartialEq)]
pub struct Head {
    /// The place of the record's type in `TYPES`.
    pub kind: usize,
    /// Where the block begins.
    pub start: usize,
    /// How long it declares the block to be.
    pub length: u64,
}

/// The head of the record that `data` begins with: 1.0 or 1.1, CR LF, names as in the standard, each once.
pub fn quick_head(data: &[u8]) -> Option<Head> {
    if !(data.starts_with(b"WARC/1.0\r\n") || data.starts_with(b"WARC/1.1\r\n")) {
        return None;
    }
    let (mut kind, mut length) = (None, None);
    let mut lines = Lines::new(&data[..data.len().min(MAX_HEAD)], 10);
    while let Some(line) = lines.next()? {
        if let Some(value) = line.strip_prefix(b"Content-Length: ") {
            if length.replace(value).is_some() {
                return None;
            }
        } else if let (None, Some(value)) = (kind, line.strip_prefix(b"WARC-Type: ")) {
            kind = Some(value);
        }
    }
    let (kind, length) = (kind?, length?);
    if !(1..19).contains(&length.len()) || !length.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(Head {
        kind: TYPES.iter().position(|name| name.as_bytes() == kind)?,
        start: lines.at(),
        length: length.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')),
    })
}

/// The Content-Type that the header of a record has, "" without one; None if that needs a closer look.
pub fn content_type(header: &[u8]) -> Option<&[u8]> {
    let mut lines = Lines::new(header, 10);
    let mut found = None;
    while let Some(line) = lines.next()? {
        let (name, value) = line.split_at(memchr::memchr(b':', line)?);
        if !name.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return None;
        }
        if found.is_none() && name.eq_ignore_ascii_case(b"content-type") {
            found = Some(graphic(&value[1..])?);
        }
    }
    Some(found.unwrap_or_default())
}

/// Whether a header says that the crawler has cut the payload.
pub fn is_truncated(header: &[u8]) -> bool {
    const NAME: &[u8] = b"WARC-Truncated:";
    header.split(|&byte| byte == b'\n').any(|line| {
        line.get(..NAME.len()).is_some_and(|start| start.eq_ignore_ascii_case(NAME))
            && !line[NAME.len()..].trim_ascii().is_empty()
    })
}

impl Head {
    /// Whether a member of so many bytes holds this record, its two closing line ends, and nothing else.
    pub fn fills(&self, size: u64) -> bool {
        (self.start as u64).checked_add(self.length).and_then(|end| end.checked_add(4)) == Some(size)
    }
}

/// The head of the one record that is all of `content`.
pub fn whole_record(content: &[u8]) -> Option<Head> {
    let head = quick_head(content)?;
    (head.fills(content.len() as u64) && content.ends_with(END)).then_some(head)
}
#[cfg(test)]
mod tests {
    use super::{quick_head, whole_record, Head};

    #[test]
    fn usual_head_is_read() {
        let record = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n";
        let head = Head { kind: 1, start: record.len() - 7, length: 3 };
        assert_eq!(quick_head(record), Some(head));
        assert!(whole_record(record).is_some());
        assert!(whole_record(&record[..record.len() - 1]).is_none());
        assert!(whole_record(&[record, &b"\n"[..]].concat()).is_none());
    }

    #[test]
    fn odd_heads_are_left_to_others() {
        let with = |fields: &str| quick_head(format!("WARC/1.1\r\n{fields}\r\n\r\n").as_bytes());
        assert!(with("WARC-Type: response\r\nContent-Length: 999999999999999999").is_some());
        for fields in [
            "WARC-Type: response\r\nContent-Length: 1000000000000000000",
            "WARC-Type: response\r\nContent-Length: 18446744073709551616",
            "WARC-Type: response\r\nContent-Length: -1",
            "WARC-Type: response\r\nContent-Length: +1",
            "WARC-Type: response\r\nContent-Length: ",
            "WARC-Type: response\r\nContent-Length: 1\r\nContent-Length: 1",
            "WARC-Type: Response\r\nContent-Length: 1",
            "WARC-Type: other\r\nContent-Length: 1",
            "Content-Length: 1",
            "WARC-Type: response",
            "",
        ] {
            assert!(with(fields).is_none(), "{fields}");
        }
        assert!(quick_head(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 1\r\n").is_none());
        assert!(quick_head(b"").is_none());
        let head = Head { kind: 0, start: usize::MAX, length: u64::MAX };
        assert!(!head.fills(3));
    }
}
