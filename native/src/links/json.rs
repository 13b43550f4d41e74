//! JSON that is read where it stands: of what every reader takes for JSON, and nothing else.

use std::borrow::Cow;

/// Values within values, at most.
const MAX_DEPTH: usize = 64;

/// A text that is being read.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The text must be UTF-8.
    pub fn new(text: &'a [u8]) -> Reader<'a> {
        Reader { rest: text }
    }

    /// The next byte that is no blank.
    pub fn peek(&mut self) -> Option<u8> {
        let blanks = self.rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))?;
        self.rest = &self.rest[blanks..];
        self.rest.first().copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.rest = &self.rest[1..])
    }

    /// Whether nothing but blanks is left.
    pub fn is_over(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads an object: tells of each key, whose value must then be read or skipped.
    pub fn object(&mut self, mut each: impl FnMut(&[u8], &mut Reader<'a>) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            return self.take(b'}');
        }
        loop {
            let key = self.string()?;
            if key.contains(&b'\\') {
                return None; // it may be one that is looked for
            }
            self.take(b':')?;
            each(key, self)?;
            match self.peek()? {
                b',' => self.take(b',')?,
                _ => return self.take(b'}'),
            }
        }
    }

    /// Reads an array: at each of its items, which must then be read or skipped.
    pub fn array(&mut self, mut each: impl FnMut(&mut Reader<'a>) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            return self.take(b']');
        }
        loop {
            each(self)?;
            match self.peek()? {
                b',' => self.take(b',')?,
                _ => return self.take(b']'),
            }
        }
    }

    /// The text of a value, whatever it is.
    pub fn skip(&mut self) -> Option<&'a [u8]> {
        self.peek()?;
        let start = self.rest;
        self.skip_value(0)?;
        Some(&start[..start.len() - self.rest.len()])
    }

    fn skip_value(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' => self.object(|_, reader| reader.skip_value(depth + 1)),
            b'[' => self.array(|reader| reader.skip_value(depth + 1)),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// A whole number of a usual size.
    fn number(&mut self) -> Option<()> {
        let digits = self.rest.strip_prefix(b"-").unwrap_or(self.rest);
        let length = digits.iter().position(|byte| !byte.is_ascii_digit())?;
        let usual = (1..16).contains(&length) && (length == 1 || digits[0] != b'0');
        let ended = matches!(digits[length], b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
        (usual && ended).then(|| self.rest = &digits[length..])
    }

    /// A string as it stands, without its quotes.
    pub fn string(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let mut at = 0;
        loop {
            at += memchr::memchr2(b'"', b'\\', self.rest.get(at..)?)?;
            if self.rest[at] == b'"' {
                break;
            }
            match self.rest.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' if self.rest.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => at += 6,
                _ => return None,
            }
        }
        let string = &self.rest[..at];
        if string.iter().any(|&byte| byte < 0x20) {
            return None;
        }
        self.rest = &self.rest[at + 1..];
        Some(string)
    }
}

/// What a string says; None if it has half a character.
pub fn unescape(string: &[u8]) -> Option<Cow<'_, str>> {
    if !string.contains(&b'\\') {
        return std::str::from_utf8(string).ok().map(Cow::Borrowed);
    }
    let mut text = String::with_capacity(string.len());
    let mut rest = string;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        text.push_str(std::str::from_utf8(&rest[..at]).ok()?);
        let escape = *rest.get(at + 1)?;
        rest = &rest[at + 2..];
        text.push(match escape {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = unit(rest)?;
                rest = &rest[4..];
                if (0xd800..0xdc00).contains(&unit) {
                    let low = unit_behind(rest)?;
                    rest = &rest[6..];
                    char::decode_utf16([unit, low]).next()?.ok()?
                } else {
                    char::from_u32(u32::from(unit))?
                }
            }
            other => char::from(other),
        });
    }
    text.push_str(std::str::from_utf8(rest).ok()?);
    Some(Cow::Owned(text))
}

fn unit(digits: &[u8]) -> Option<u16> {
    u16::from_str_radix(std::str::from_utf8(digits.get(..4)?).ok()?, 16).ok()
}

fn unit_behind(rest: &[u8]) -> Option<u16> {
    let low = unit(rest.strip_prefix(b"\\u")?)?;
    (0xdc00..0xe000).contains(&low).then_some(low)
}

#[cfg(test)]
mod tests {
    use super::{unescape, Reader};

    #[test]
    fn values_are_skipped_whole() {
        for value in [r#""a\"\\\u00e9""#, "{}", "[]", r#"{"a":[1,-20,0,true,false,null,{"b":""}]}"#, "[ 1 , 2 ]"] {
            let text = format!("[{value} , 1]");
            let mut found = Vec::new();
            let mut reader = Reader::new(text.as_bytes());
            reader.array(|reader| reader.skip().map(|text| found.push(text.len()))).unwrap();
            assert_eq!(found, [value.len(), 1], "{value}");
            assert!(reader.is_over());
        }
        let deep = "[".repeat(100) + &"]".repeat(100);
        let odd = [
            r#""\x""#,
            r#""\u12""#,
            "\"\n\"",
            "01 ",
            "1.5 ",
            "1e3 ",
            "- ",
            "nul",
            "{1:2}",
            "[1,]",
            "{\"a\":1,}",
            r#"{"\u0061":1}"#,
            &deep,
        ];
        for value in odd {
            assert!(Reader::new(format!("{value} ").as_bytes()).skip().is_none(), "{value}");
        }
    }

    #[test]
    fn strings_are_read() {
        assert_eq!(unescape(br#"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"#).unwrap(), "a\"\\/\u{8}\u{c}\n\r\té😀");
        for odd in [r"\ud800", r"\ud800\u0041", r"\udc00"] {
            assert!(unescape(odd.as_bytes()).is_none(), "{odd}");
        }
    }
}
