//! Pairs of a key and counts as lines of JSON, with the bytes that `crawlmill.mr.task.pairs` writes.

use crate::sort::sums::write_number;

/// Bytes of lines that are handed over at once.
const CHUNK: usize = 1 << 20;

/// Lines, in chunks.
#[derive(Default)]
pub struct Lines {
    chunks: Vec<Vec<u8>>,
    chunk: Vec<u8>,
}

impl Lines {
    /// The line of a pair: a text or null, and one number or a list of two.
    pub fn push(&mut self, key: Option<&[u8]>, number: u64, second: Option<u64>) {
        let line = &mut self.chunk;
        match key {
            Some(text) => write_text(text, line),
            None => line.extend_from_slice(b"null"),
        }
        line.push(b'\t');
        if let Some(second) = second {
            line.push(b'[');
            write_number(number.into(), line);
            line.push(b',');
            write_number(second.into(), line);
            line.push(b']');
        } else {
            write_number(number.into(), line);
        }
        line.push(b'\n');
        if line.len() >= CHUNK {
            self.chunks.push(std::mem::take(line));
        }
    }

    pub fn into_chunks(mut self) -> Vec<Vec<u8>> {
        if !self.chunk.is_empty() {
            self.chunks.push(self.chunk);
        }
        self.chunks
    }
}

/// The JSON of a text in UTF-8.
pub fn write_text(text: &[u8], line: &mut Vec<u8>) {
    line.push(b'"');
    let mut plain = 0;
    for (at, &byte) in text.iter().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        line.extend_from_slice(&text[plain..at]);
        plain = at + 1;
        line.push(b'\\');
        match byte {
            b'"' | b'\\' => line.push(byte),
            b'\n' => line.push(b'n'),
            b'\r' => line.push(b'r'),
            b'\t' => line.push(b't'),
            0x0c => line.push(b'f'),
            0x08 => line.push(b'b'),
            _ => line.extend_from_slice(format!("u{byte:04x}").as_bytes()),
        }
    }
    line.extend_from_slice(&text[plain..]);
    line.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn pairs_are_written_as_python_writes_them() {
        let mut lines = Lines::default();
        lines.push(None, 0, None);
        lines.push(Some("a\"\\/\n\r\t\u{c}\u{8}\u{1}\u{1f}\u{7f}é😀".as_bytes()), u64::MAX, None);
        lines.push(Some(b""), 12, Some(3));
        let expected =
            "null\t0\n\"a\\\"\\\\/\\n\\r\\t\\f\\b\\u0001\\u001f\u{7f}é😀\"\t18446744073709551615\n\"\"\t[12,3]\n";
        assert_eq!(String::from_utf8(lines.into_chunks().concat()).unwrap(), expected);
    }
}
