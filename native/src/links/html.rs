//! The references of an HTML page, as they are written: the twin of `crawlmill.analysis.links.html`.

use crate::tokenizer::{start_tags, Element, Found};

type Wanted = &'static [(&'static [u8], &'static str)];

const BASE: Wanted = &[(b"href", "")];

/// References to parts of a page; holds the buffer for them.
#[derive(Default)]
pub struct References {
    /// The value of the first base element that has one, by where it begins and ends.
    pub base: Option<(usize, usize)>,
    /// The kind of each, and where its value begins and ends.
    pub found: Vec<(&'static str, usize, usize)>,
    wanted: Wanted,
}

impl References {
    /// Finds those of a page, in place of those that it has.
    pub fn read(&mut self, page: &[u8]) {
        self.found.clear();
        self.base = None;
        start_tags(page, self);
    }
}

impl Found for References {
    fn name(&mut self, name: &[u8], _: Option<u64>) -> Element {
        let mut lowered = [0; 10];
        self.wanted = &[];
        let Some(place) = lowered.get_mut(..name.len()) else {
            return Element::Other; // no name that matters is as long
        };
        place.copy_from_slice(name);
        place.make_ascii_lowercase();
        let (wanted, element): (Wanted, Element) = match &*place {
            b"a" => (&[(b"href", "A@/href")], Element::Other),
            b"img" => (&[(b"src", "IMG@/src")], Element::Other),
            b"script" => (&[(b"src", "SCRIPT@/src")], Element::Script),
            b"link" => (&[(b"href", "LINK@/href")], Element::Other),
            b"area" => (&[(b"href", "AREA@/href")], Element::Other),
            b"iframe" => (&[(b"src", "IFRAME@/src")], Element::RawText),
            b"frame" => (&[(b"src", "FRAME@/src")], Element::Other),
            b"embed" => (&[(b"src", "EMBED@/src")], Element::Other),
            b"video" => (&[(b"src", "VIDEO@/src"), (b"poster", "VIDEO@/poster")], Element::Other),
            b"audio" => (&[(b"src", "AUDIO@/src")], Element::Other),
            b"source" => (&[(b"src", "SOURCE@/src")], Element::Other),
            b"track" => (&[(b"src", "TRACK@/src")], Element::Other),
            b"form" => (&[(b"action", "FORM@/action")], Element::Other),
            b"input" => (&[(b"src", "INPUT@/src"), (b"formaction", "INPUT@/formaction")], Element::Other),
            b"button" => (&[(b"formaction", "BUTTON@/formaction")], Element::Other),
            b"object" => (&[(b"data", "OBJECT@/data")], Element::Other),
            b"q" => (&[(b"cite", "Q@/cite")], Element::Other),
            b"blockquote" => (&[(b"cite", "BLOCKQUOTE@/cite")], Element::Other),
            b"del" => (&[(b"cite", "DEL@/cite")], Element::Other),
            b"ins" => (&[(b"cite", "INS@/cite")], Element::Other),
            b"base" if self.base.is_none() => (BASE, Element::Other),
            _ => (&[], Element::of(name)),
        };
        self.wanted = wanted;
        element
    }

    fn attributes(&mut self, page: &[u8], start: usize, end: usize) {
        let wanted = self.wanted;
        if wanted.is_empty() {
            return;
        }
        let mut seen = [false; 2];
        each_attribute(&page[start..end], |name, from, to| {
            let Some(at) = wanted.iter().position(|(known, _)| known.eq_ignore_ascii_case(name)) else {
                return true;
            };
            if !std::mem::replace(&mut seen[at], true) {
                if wanted == BASE {
                    self.base = Some((start + from, start + to));
                } else {
                    self.found.push((wanted[at].1, start + from, start + to));
                }
            }
            !seen[..wanted.len()].iter().all(|&seen| seen)
        });
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

/// Tells of the name of each attribute and where its value begins and ends, until told that it is enough.
///
/// `tag` is what stands between the name of a tag and its ">".
fn each_attribute(tag: &[u8], mut each: impl FnMut(&[u8], usize, usize) -> bool) {
    let skip = |at: usize, passed: fn(u8) -> bool| {
        at + tag[at..].iter().position(|&byte| !passed(byte)).unwrap_or(tag.len() - at)
    };
    let mut at = 0;
    loop {
        at = skip(at, |byte| is_space(byte) || byte == b'/');
        if at >= tag.len() {
            return;
        }
        let name = at; // which may begin with "="
        at = skip(at + 1, |byte| !(is_space(byte) || matches!(byte, b'/' | b'>' | b'=')));
        let name = &tag[name..at];
        let (mut from, mut to) = (at, at);
        let equals = skip(at, is_space);
        if tag.get(equals) == Some(&b'=') {
            at = skip(equals + 1, is_space);
            (from, to) = (at, at);
            match tag.get(at) {
                Some(&quote @ (b'"' | b'\'')) => {
                    if let Some(length) = memchr::memchr(quote, &tag[at + 1..]) {
                        (from, to) = (at + 1, at + 1 + length);
                        at = to + 1;
                    }
                }
                _ => {
                    at = skip(at, |byte| !is_space(byte));
                    to = at;
                }
            }
        }
        if !each(name, from, to) {
            return;
        }
    }
}

/// Whether a page that its header says nothing of is in UTF-8; false if that needs a closer look.
///
/// It is if it is valid as such, and all that may be a declaration at its beginning declares this.
pub fn is_utf8(page: &[u8]) -> bool {
    const PRESCANNED: usize = 8 << 10;
    let head = &page[..page.len().min(PRESCANNED)];
    let xml = if head.starts_with(b"<?xml") { &head[..memchr::memchr(b'>', head).unwrap_or(head.len())] } else { b"" };
    declared(head, b"charset") && declared(xml, b"encoding") && simdutf8::basic::from_utf8(page).is_ok()
}

/// Whether after this word, wherever it stands, there is `=utf-8`.
fn declared(text: &[u8], word: &[u8]) -> bool {
    const LABEL: &[u8] = b"utf-8";
    text.windows(word.len()).enumerate().filter(|(_, found)| found.eq_ignore_ascii_case(word)).all(|(at, _)| {
        let Some(value) = text[at + word.len()..].strip_prefix(b"=") else {
            return false;
        };
        let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
        value.get(..LABEL.len()).is_some_and(|label| label.eq_ignore_ascii_case(LABEL))
            && matches!(value.get(LABEL.len()), Some(b'"' | b'\'' | b' ' | b'/' | b'>' | b';'))
    })
}

/// Appends the value of an attribute without its character references; None if it has any but the most common.
pub fn unescape(value: &[u8], text: &mut Vec<u8>) -> Option<()> {
    let mut rest = value;
    while let Some(at) = memchr::memchr(b'&', rest) {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (name, after) = (&rest[..length], rest.get(length));
        if name.first().is_some_and(u8::is_ascii_alphabetic) && after != Some(&b'=') {
            if after != Some(&b';') {
                return None; // some names need no semicolon
            }
            text.push(match name {
                b"amp" => b'&',
                b"quot" => b'"',
                b"apos" => b'\'',
                b"lt" => b'<',
                b"gt" => b'>',
                _ => return None,
            });
            rest = &rest[length + 1..];
        } else if let Some(digits) = rest.strip_prefix(b"#") {
            let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
            if !(1..4).contains(&end) || digits.get(end) != Some(&b';') {
                return None;
            }
            let number = digits[..end].iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
            text.push(u8::try_from(number).ok().filter(|byte| (b' '..0x7f).contains(byte))?);
            rest = &digits[end + 1..];
        } else {
            text.push(b'&');
        }
    }
    text.extend_from_slice(rest);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{is_utf8, unescape, References};

    fn found(page: &str) -> (Vec<String>, Option<String>) {
        let mut references = References::default();
        references.read(page.as_bytes());
        let all = references.found.iter().map(|&(kind, from, to)| format!("{kind} {}", &page[from..to]));
        (all.collect(), references.base.map(|(from, to)| page[from..to].to_owned()))
    }

    #[test]
    fn attributes_are_found_as_they_are_written() {
        for (page, expected) in [
            ("<a href=x HREF=y><A\nHref = 'a>b'>", &["A@/href x", "A@/href a>b"][..]),
            ("<video poster=p src='s' src=t>", &["VIDEO@/poster p", "VIDEO@/src s"]),
            ("<input src><input src=/ formaction=\"\">", &["INPUT@/src ", "INPUT@/src /", "INPUT@/formaction "]),
            ("<a =href=x href/=y><a href==z/><a/href=x/>", &["A@/href ", "A@/href =z/", "A@/href x/"]),
            (
                "<script src=s><a href=no></script><!--<a href=no>--><iframe src=i><a href=no>",
                &["SCRIPT@/src s", "IFRAME@/src i"],
            ),
            ("<svg><script src=s /><a href=x></svg></a href=no><a href=\"cut", &["SCRIPT@/src s", "A@/href x"]),
            ("<abcdefghijk href=x><ab href=y><a x href ><blockquote cite=c>", &["A@/href ", "BLOCKQUOTE@/cite c"]),
        ] {
            assert_eq!(found(page).0, expected, "{page}");
        }
        assert_eq!(found("<base target=x><BASE href='/b'><base href=c>").1.unwrap(), "/b");
        assert_eq!(found("<a href=x>").1, None);
    }

    #[test]
    fn common_references_are_read() {
        let read = |value: &str| {
            let mut text = Vec::new();
            unescape(value.as_bytes(), &mut text).map(|()| String::from_utf8(text).unwrap())
        };
        let value = "?a=1&amp;b=2&copy=3&&#38;x& &quot;&lt;&gt;&apos;&#32;&1&";
        assert_eq!(read(value).unwrap(), "?a=1&b=2&copy=3&&x& \"<>' &1&");
        for other in ["&copy;", "&amp", "&ampx", "&#x41;", "&#65", "&#;", "&#", "&#10;", "&#233;", "&#9999;", "&amplt;"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn pages_are_in_utf_8_if_all_says_so() {
        for page in
            ["é", "<meta charset=utf-8>é", "<META Charset='UTF-8'/><?xml encoding=x>", "<?xml encoding=\"utf-8\"?>"]
        {
            assert!(is_utf8(page.as_bytes()), "{page}");
        }
        for page in [
            "<meta charset=latin1>",
            "charset",
            "charset =utf-8 ",
            "charset=utf-8",
            "charset=utf-80 ",
            "<?xml encoding='x'?>",
        ] {
            assert!(!is_utf8(page.as_bytes()), "{page}");
        }
        assert!(!is_utf8(b"\xff"));
    }
}
