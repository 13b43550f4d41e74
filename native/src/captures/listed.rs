//! Lines of input lists as nearly all are: the twin of `crawlmill.inputs.list_lines` and `crawlmill.extraction.listed`.

use memchr::{memchr, memchr_iter};

use crate::index_lines::parse_usual;

/// Bytes of a line that may be one of a list.
const MAX_LINE: usize = 1 << 20;

const DELETE: u8 = 0x7f;

/// What a line says of a capture. Fields are None or empty for what it does not say.
#[derive(Debug, Default, PartialEq)]
pub struct Listed<'a> {
    pub location: &'a [u8],
    pub offset: u64,
    pub length: u64,
    pub url: Option<&'a [u8]>,
    pub key: Option<&'a [u8]>,
    pub charset: Option<&'a [u8]>,
    pub languages: Option<&'a [u8]>,
    /// Fields that are not from records.
    pub more: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> Listed<'a> {
    /// Takes apart a line of CDXJ as `parse_usual` knows it, or LOCATION, OFFSET and LENGTH with tabs between them, all
    /// of which are printable ASCII. None of any other line.
    pub fn of(line: &'a [u8]) -> Option<Listed<'a>> {
        let begins = line.first().is_some_and(|byte| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'{'));
        if !begins || line.len() > MAX_LINE {
            return None;
        }
        if memchr(b'{', line).is_some() {
            Listed::of_cdxj(line)
        } else {
            Listed::of_range(line)
        }
    }

    fn of_range(line: &'a [u8]) -> Option<Listed<'a>> {
        let mut fields = line.split(|&byte| byte == b'\t');
        let (location, offset, length) = (fields.next()?, fields.next()?, fields.next()?);
        let printable = location.iter().all(|byte| (b' '..DELETE).contains(byte));
        let is_range = printable && fields.next().is_none();
        is_range.then_some(Listed { location, offset: number(offset)?, length: number(length)?, ..Listed::default() })
    }

    fn of_cdxj(line: &'a [u8]) -> Option<Listed<'a>> {
        let mut listed = Listed::default();
        let (mut offset, mut length, mut odd) = (&b""[..], &b""[..], false);
        let (mut original, mut encoding) = (None, None);
        let usual = parse_usual(line, |name, value| {
            let said = (!value.is_empty() && value != b"-").then_some(value);
            match name {
                b"filename" => listed.location = value,
                b"offset" => offset = value,
                b"length" => length = value,
                b"url" => listed.url = said,
                b"original" => original = said,
                b"charset" => listed.charset = said,
                b"encoding" => encoding = said,
                b"languages" => listed.languages = said,
                b"mime" | b"mime-detected" | b"status" | b"digest" | b"truncated" | b"redirect" | b"urlkey"
                | b"timestamp" | b"mimetype" | b"statuscode" => {}
                _ => {
                    odd |= listed.more.iter().any(|&(other, _)| other == name);
                    listed.more.extend(said.map(|value| (name, value)));
                }
            }
        })?;
        listed.url = listed.url.or(original);
        listed.charset = listed.charset.or(encoding);
        listed.key = Some(usual.key);
        (listed.offset, listed.length) = (number(offset)?, number(length)?);
        let escaped = memchr(DELETE, line).is_some(); // by Python's JSON, though it may stand as it is
        let usual = line.ends_with(b"}") && usual.key.iter().all(u8::is_ascii_graphic) && !listed.location.is_empty();
        (usual && !escaped && !odd).then_some(listed)
    }
}

/// Gives `take` each of the lines from `at` on that `Listed` knows, and what they say; returns where they end.
pub fn each_listed<'a>(text: &'a [u8], mut at: usize, mut take: impl FnMut(&'a [u8], &Listed<'a>)) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let begin = text.len() - rest.len();
    for end in memchr_iter(b'\n', rest).map(|end| begin + end) {
        let line = &text[at..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(listed) = Listed::of(line) else { break };
        take(line, &listed);
        at = end + 1;
    }
    at
}

fn number(digits: &[u8]) -> Option<u64> {
    let usual = (1..19).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    usual.then(|| digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::{each_listed, Listed};

    const LINE: &str = "org,a)/ 20260101000000 {\"url\": \"http://a.org/\", \"mime\": \"-\", \"offset\": \"7\", \
        \"length\": \"9\", \"filename\": \"x y.warc.gz\", \"encoding\": \"UTF-8\", \"languages\": \"eng,nor\", \
        \"recordid\": \"1\", \"note\": \"-\"}";

    #[test]
    fn lines_say_where_a_record_is_and_what_of() {
        let listed = Listed::of(LINE.as_bytes()).unwrap();
        let expected = Listed {
            location: b"x y.warc.gz",
            offset: 7,
            length: 9,
            url: Some(b"http://a.org/"),
            key: Some(b"org,a)/"),
            charset: Some(b"UTF-8"),
            languages: Some(b"eng,nor"),
            more: vec![(b"recordid", b"1")],
        };
        assert_eq!(listed, expected);
        let range = Listed::of(b"s3://b/x.warc.gz\t0\t123456789012345678").unwrap();
        let expected = Listed { location: b"s3://b/x.warc.gz", length: 123_456_789_012_345_678, ..Listed::default() };
        assert_eq!(range, expected);
    }

    #[test]
    fn other_lines_are_for_python() {
        for (from, to) in [
            ("org,a)/", "#org"),
            ("org,a)/", "org,\u{e9})/"),
            ("\"7\"", "7"),
            ("\"7\"", "\"\""),
            ("\"7\"", "\"1234567890123456789\""),
            ("\"offset\"", "\"start\""),
            ("x y.warc.gz", ""),
            ("x y.warc.gz", "x\\u0020y"),
            ("recordid", "note"),
            ("UTF-8", "UTF\u{7f}8"),
            ("\"}", "\"} "),
            ("\"}", "\"}\r"),
        ] {
            assert_eq!(Listed::of(LINE.replacen(from, to, 1).as_bytes()), None, "{to}");
        }
        for line in ["", "x.warc.gz", "x\t1", "x\t1\t2\t3", "x\t1\t-2", "x\t 1\t2", " x\t1\t2", "\t1\t2", "x\0\t1\t2"] {
            assert_eq!(Listed::of(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn lines_are_taken_up_to_the_first_other_one() {
        let text = format!("{LINE}\r\nx\t1\t2\n\ny\t3\t4\nz\t5\t6");
        let taken = |at| {
            let mut lines = Vec::new();
            let end = each_listed(text.as_bytes(), at, |line, listed| lines.push((line, listed.offset)));
            (lines, end)
        };
        let blank = LINE.len() + 8;
        assert_eq!(taken(0), (vec![(LINE.as_bytes(), 7), (b"x\t1\t2", 1)], blank));
        assert_eq!(taken(blank), (vec![], blank));
        assert_eq!(taken(blank + 1), (vec![(&b"y\t3\t4"[..], 3)], blank + 7));
        assert_eq!(taken(usize::MAX).0, vec![]);
    }
}
