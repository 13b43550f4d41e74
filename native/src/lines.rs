//! The lines of a header that is written as the standards say: each ends in CR LF, and there is no other CR or LF.

/// Lines up to the empty one that ends the header.
pub struct Lines<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    /// Those of `data` from `at` on.
    pub fn new(data: &'a [u8], at: usize) -> Lines<'a> {
        Lines { data, at }
    }

    /// Where the next line begins; at the end, what stands behind the header.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next line, Some(None) at the empty one. None if there is a stray CR or LF, or no empty line.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Option<&'a [u8]>> {
        let rest = self.data.get(self.at..)?;
        let length = memchr::memchr2(b'\r', b'\n', rest)?;
        if !rest[length..].starts_with(b"\r\n") {
            return None;
        }
        self.at += length + 2;
        Some((length > 0).then_some(&rest[..length]))
    }
}

/// A value without the blanks around it; None if it holds anything but ASCII that can be seen, and blanks.
pub fn graphic(value: &[u8]) -> Option<&[u8]> {
    let value = trim(value);
    value.iter().all(|&byte| (b' '..0x7f).contains(&byte) || byte == b'\t').then_some(value)
}

/// A value without the blanks and tabs around it.
pub fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::{graphic, Lines};

    fn lines(data: &[u8]) -> Option<(Vec<&[u8]>, usize)> {
        let (mut lines, mut found) = (Lines::new(data, 0), Vec::new());
        while let Some(line) = lines.next()? {
            found.push(line);
        }
        Some((found, lines.at()))
    }

    #[test]
    fn lines_end_where_the_header_does() {
        assert_eq!(lines(b"a: b\r\nc\r\n\r\nd\r\n").unwrap(), (vec![&b"a: b"[..], b"c"], 11));
        assert_eq!(lines(b"\r\n").unwrap(), (vec![], 2));
        for odd in [&b""[..], b"a", b"a\r\n", b"a\n\n", b"a\rb\r\n\r\n", b"a\r\n\r", b"a\r\n\r\r\n", b"\n\r\n"] {
            assert_eq!(lines(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn value_is_trimmed_and_must_be_seen() {
        assert_eq!(graphic(b" \ta b\t "), Some(&b"a b"[..]));
        assert_eq!(graphic(b" "), Some(&b""[..]));
        for odd in [&b"\xe9"[..], b"a\0b", b"\x0ba", b"\x7f"] {
            assert_eq!(graphic(odd), None);
        }
    }
}
