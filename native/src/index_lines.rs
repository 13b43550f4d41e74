//! Whether the lines of URL indexes are as nearly all are: the twin of expressions of `crawlmill.indexes`.

use memchr::{memchr, memchr_iter};

/// Where the rest of a line begins, behind a key, a timestamp of 14 digits, and a blank behind each.
fn rest_of(line: &[u8]) -> Option<usize> {
    let blank = memchr(b' ', line).filter(|&blank| blank > 0)?;
    let time = line.get(blank + 1..blank + 16)?;
    (time[..14].iter().all(u8::is_ascii_digit) && time[14] == b' ').then_some(blank + 16)
}

/// Bytes of the lines at the beginning that have a key, a timestamp, and something in braces or columns.
pub fn sound(text: &[u8]) -> usize {
    whole_lines(text, |line| {
        rest_of(line).is_some_and(|at| match line.get(at) {
            None => false,
            Some(b'{') => line.len() > at + 1 && line.ends_with(b"}"),
            Some(_) => true,
        })
    })
}

/// Bytes of the lines at the beginning whose JSON is pairs of plain texts, written as Common Crawl and pywb write them.
pub fn usual(text: &[u8]) -> usize {
    whole_lines(text, |line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        rest_of(line).is_some_and(|at| usual_pairs(&line[at..], |_, _| ()).is_some())
    })
}

/// What a line begins with: its key and its time.
pub struct Usual<'a> {
    pub key: &'a [u8],
    pub timestamp: &'a [u8],
}

impl<'a> Usual<'a> {
    /// The key up to its first parenthesis, if it may stand in JSON as it is, and is ASCII.
    pub fn surt_domain(&self) -> Option<&'a [u8]> {
        let domain = &self.key[..memchr(b')', self.key).unwrap_or(self.key.len())];
        domain.iter().all(|byte| (0x20..0x80).contains(byte) && !matches!(byte, b'"' | b'\\')).then_some(domain)
    }
}

/// The beginning of a line that `usual` knows; its pairs are given to `take`, in order. None of any other line, of which
/// some pairs may have been given.
pub fn parse_usual<'a>(line: &'a [u8], take: impl FnMut(&'a [u8], &'a [u8])) -> Option<Usual<'a>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let at = rest_of(line)?;
    usual_pairs(&line[at..], take)?;
    Some(Usual { key: &line[..at - 16], timestamp: &line[at - 15..at - 1] })
}

/// Whether no line is less than the one before it; blank lines do not count.
pub fn is_sorted(text: &[u8]) -> bool {
    let mut before: &[u8] = b"";
    let mut at = 0;
    for end in memchr_iter(b'\n', text).chain([text.len()]) {
        let line = &text[at.min(end)..end];
        if !line.is_empty() {
            if line < before {
                return false;
            }
            before = line;
        }
        at = end + 1;
    }
    true
}

fn whole_lines(text: &[u8], is_good: impl Fn(&[u8]) -> bool) -> usize {
    let mut at = 0;
    for end in memchr_iter(b'\n', text) {
        if !is_good(&text[at..end]) {
            break;
        }
        at = end + 1;
    }
    at
}

/// Gives the pairs of `{"a": "b", "c": "d"}`, of printable ASCII without backslashes; None of anything else.
fn usual_pairs<'a>(json: &'a [u8], mut take: impl FnMut(&'a [u8], &'a [u8])) -> Option<()> {
    let mut rest = json.strip_prefix(b"{\"")?.strip_suffix(b"\"}")?;
    // One pass that the compiler turns into wide instructions.
    if rest.iter().fold(false, |odd, &byte| odd | !(0x20..0x80).contains(&byte) | (byte == b'\\')) {
        return None;
    }
    loop {
        let (name, behind) = rest.split_at(memchr(b'"', rest)?);
        let value = behind.strip_prefix(b"\": \"")?;
        let Some(end) = memchr(b'"', value) else {
            take(name, value);
            return Some(());
        };
        take(name, &value[..end]);
        rest = value[end..].strip_prefix(b"\", \"")?;
    }
}

#[cfg(test)]
mod tests {
    use super::{is_sorted, parse_usual, sound, usual};

    const USUAL: &str = "com,a)/ 20240101000000 {\"url\": \"http://a.com/\", \"status\": \"\"}\n";

    #[test]
    fn usual_lines_are_known() {
        let two = format!("{USUAL}{}", USUAL.replace('\n', "\r\n"));
        assert_eq!(usual(two.as_bytes()), two.len());
        assert_eq!(usual(format!("{two}x").as_bytes()), two.len());
        assert_eq!(usual(b"a 20240101000000 {\"\": \"\"}\n"), 26);
        for (from, to) in [
            ("com,a)/ ", ""),
            ("com,a)/ ", " "),
            ("00 {", "0 {"),
            ("00 {", "x0 {"),
            ("00 {", "00  {"),
            ("\"\"}", "\"}"),
            ("\"\"}", "\"\"\"}"),
            (": \"\"}", "}"),
            (": \"\"}", ": \"\", }"),
            (": \"\"}", ": 1}"),
            (": \"\"}", ": \"\\\"\"}"),
            (": \"\"}", ": \"\u{e9}\"}"),
            (": \"\"}", ": \"\t\"}"),
            (", \"", ",\""),
            ("\": \"h", "\":\"h"),
            ("\"status\": \"\"", "\"status\""),
            ("}\n", "}"),
            ("}\n", "} \n"),
            ("http", "a\": \"b"),
        ] {
            let odd = USUAL.replacen(from, to, 1);
            assert_eq!(usual(odd.as_bytes()), 0, "{odd}");
        }
        assert_eq!(usual(b"a 20240101000000 {}\n"), 0);
    }

    #[test]
    fn usual_lines_are_parsed() {
        let parsed = |line: &'static str| {
            let mut pairs = Vec::new();
            let found = parse_usual(line.as_bytes(), |name, value| {
                pairs.push([name, value].map(|text| std::str::from_utf8(text).unwrap()));
            });
            found.map(|found| (found.key, found.timestamp, found.surt_domain(), pairs))
        };
        let (key, time, domain, pairs) =
            parsed("com,a)/ 20240101000000 {\"a\": \"\", \"\": \"b\", \"c\": \"d, e: f\"}\r").unwrap();
        assert_eq!((key, time, domain), (&b"com,a)/"[..], &b"20240101000000"[..], Some(&b"com,a"[..])));
        assert_eq!(pairs, [["a", ""], ["", "b"], ["c", "d, e: f"]]);
        assert_eq!(parsed("x\" 20240101000000 {\"\": \"\"}").unwrap().2, None);
        assert_eq!(parsed("x\" 20240101000000 {\"\": \"\"}").unwrap().3, [["", ""]]);
        for odd in [
            "a 20240101000000 {}",
            "a 20240101000000 {\"a\": 1}",
            "a 2024 {\"a\": \"b\"}",
            "",
            "a 20240101000000 {\"a\"}",
        ] {
            assert!(parsed(odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn sound_lines_are_known() {
        for good in ["a 20240101000000 {}\n", "a 20240101000000 {x} y}\n", "a 20240101000000 x\n", USUAL] {
            assert_eq!(sound(format!("{good}{good}").as_bytes()), 2 * good.len(), "{good}");
        }
        for odd in [
            "",
            "\n",
            "a 20240101000000 \n",
            "a 20240101000000 {\n",
            "a 20240101000000 {}x\n",
            " 20240101000000 {}\n",
            "a 2024 x\n",
            "a 20240101000000 x",
        ] {
            assert_eq!(sound(odd.as_bytes()), 0, "{odd}");
        }
    }

    #[test]
    fn order_is_that_of_bytes() {
        for good in ["", "a", "a\nb\n", "a\na\n\nb", "\n\n", "a\nab\n", "a b\na!b\n"] {
            assert!(is_sorted(good.as_bytes()), "{good}");
        }
        assert!(is_sorted(b"a\n\xff\n"));
        for odd in ["b\na\n", "ab\na\n", "b\n\na", "a\nc\nb"] {
            assert!(!is_sorted(odd.as_bytes()), "{odd}");
        }
    }
}
