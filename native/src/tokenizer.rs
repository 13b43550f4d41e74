//! The start tags in the source of an HTML page: HTML Living Standard, section 13.2.5.
//!
//! The rules, and where they leave the standard, are those of `crawlmill.analysis.html_tokenizer`, which this module
//! has to agree with on every page.

use memchr::{memchr, memchr2};

/// What a tag's name asks of the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Element {
    #[default]
    Other,
    Svg,
    Math,
    Script,
    RawText,
    Plaintext,
}

impl Element {
    /// What a name asks, in whatever case it is.
    pub fn of(name: &[u8]) -> Element {
        const RAW_TEXT: [&[u8]; 7] = [b"style", b"title", b"textarea", b"iframe", b"noembed", b"noframes", b"xmp"];
        let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
        if is(b"svg") {
            Element::Svg
        } else if is(b"math") {
            Element::Math
        } else if is(b"script") {
            Element::Script
        } else if is(b"plaintext") {
            Element::Plaintext
        } else if RAW_TEXT.iter().any(|other| is(other)) {
            Element::RawText
        } else {
            Element::Other
        }
    }
}

/// What start tags are told to.
pub trait Found {
    /// Take in the name of a start tag, as it is spelled in the source, and say what it asks for.
    ///
    /// `first` are the first eight bytes at its beginning if the page has as many.
    fn name(&mut self, name: &[u8], first: Option<u64>) -> Element;

    /// Take in what stands between that name and the ">" of the tag.
    fn attributes(&mut self, _page: &[u8], _start: usize, _end: usize) {}
}

/// Tells `found` of each start tag, in order. Time is linear.
pub fn start_tags(page: &[u8], found: &mut impl Found) {
    let (mut svg, mut math) = (0_usize, 0_usize);
    let mut at = 0;
    while let Some(start) = find(page, at, b'<') {
        at = match page.get(start + 1) {
            Some(byte) if byte.is_ascii_alphabetic() => {
                let rest = &page[start + 1..];
                let Some((length, first)) = tag_name(rest) else {
                    return; // the page ends within this tag
                };
                let name = &rest[..length];
                let Some(tag) = tag_end(page, start + 1 + length) else {
                    return;
                };
                let element = found.name(name, first);
                found.attributes(page, start + 1 + length, tag.end - 1);
                match element {
                    Element::Other => tag.end,
                    Element::Svg => {
                        svg += usize::from(!tag.self_closing);
                        tag.end
                    }
                    Element::Math => {
                        math += usize::from(!tag.self_closing);
                        tag.end
                    }
                    _ if tag.self_closing && svg + math > 0 => tag.end,
                    Element::Plaintext => return,
                    Element::Script => script_end(page, tag.end),
                    Element::RawText => raw_text_end(page, tag.end, name),
                }
            }
            Some(b'/') if page.get(start + 2).is_some_and(u8::is_ascii_alphabetic) => {
                let Some((length, _)) = tag_name(&page[start + 2..]) else {
                    return;
                };
                let Some(tag) = tag_end(page, start + 2 + length) else {
                    return;
                };
                if svg + math > 0 {
                    match Element::of(&page[start + 2..start + 2 + length]) {
                        Element::Svg => svg = svg.saturating_sub(1),
                        Element::Math => math = math.saturating_sub(1),
                        _ => {}
                    }
                }
                tag.end
            }
            Some(b'!') if page[start + 2..].starts_with(b"--") => comment_end(page, start + 4),
            Some(b'!' | b'?' | b'/') => match find(page, start + 2, b'>') {
                Some(end) => end + 1,
                None => return,
            },
            Some(_) => start + 1,
            None => return,
        };
    }
}

struct Tag {
    end: usize,
    self_closing: bool,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

fn ends_name(byte: u8) -> bool {
    is_space(byte) || byte == b'/' || byte == b'>'
}

/// Where the byte stands next, from `at` on. Most are near, where a call of `memchr` costs more than it saves.
fn find(page: &[u8], at: usize, byte: u8) -> Option<usize> {
    let rest = page.get(at..)?;
    let mut near = 0;
    while let Some(eight) = rest.get(near..).and_then(<[u8]>::first_chunk) {
        let found = equal(u64::from_le_bytes(*eight), byte);
        if found != 0 {
            return Some(at + near + (found.trailing_zeros() / 8) as usize);
        }
        near += 8;
        if near == NEAR {
            break;
        }
    }
    memchr(byte, &rest[near..]).map(|found| at + near + found)
}

const NEAR: usize = 16;
const ONES: u64 = u64::MAX / 0xff;
const HIGH: u64 = ONES << 7;

/// The highest bit of each byte that is this one; of those behind the first also where it is not.
fn equal(eight: u64, byte: u8) -> u64 {
    let difference = eight ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference & HIGH
}

/// How many bytes stand before the first that is a blank, a control, "/", ">" or `also`, if one of these eight is.
fn before_stop(eight: u64, also: u8) -> usize {
    let controls = eight.wrapping_sub(ONES * 0x21) & !eight & HIGH; // as in `equal`
    let stops = controls | equal(eight, b'/') | equal(eight, b'>') | equal(eight, also);
    (stops.trailing_zeros() / 8) as usize
}

/// The length of the name that begins here, and the first eight bytes from here; None if the page ends first.
fn tag_name(rest: &[u8]) -> Option<(usize, Option<u64>)> {
    let first = rest.first_chunk().map(|eight| u64::from_le_bytes(*eight));
    let length = first.map_or(0, |eight| before_stop(eight, b'>'));
    if length < 8 && rest.get(length).is_some_and(|&byte| ends_name(byte)) {
        return Some((length, first));
    }
    Some((length + rest[length..].iter().position(|&byte| ends_name(byte))?, first))
}

/// Where the attribute's name ends that begins before this place.
fn attribute_name_end(page: &[u8], mut at: usize) -> Option<usize> {
    while let Some(eight) = page.get(at..).and_then(<[u8]>::first_chunk) {
        let length = before_stop(u64::from_le_bytes(*eight), b'=');
        at += length;
        if length < 8 {
            if page[at] == b'=' {
                return Some(at);
            }
            break;
        }
    }
    Some(at + page[at..].iter().position(|&byte| ends_name(byte) || byte == b'=')?)
}

/// Where the tag ends whose name ends here.
#[inline]
fn tag_end(page: &[u8], at: usize) -> Option<Tag> {
    if page.get(at) == Some(&b'>') {
        return Some(Tag { end: at + 1, self_closing: false });
    }
    attributes_end(page, at)
}

/// Where the tag ends whose attributes begin here.
fn attributes_end(page: &[u8], mut at: usize) -> Option<Tag> {
    loop {
        let byte = *page.get(at)?;
        if byte == b'>' {
            let self_closing = page[at - 1] == b'/'; // bare values, which may end with one, end below
            return Some(Tag { end: at + 1, self_closing });
        }
        at += 1;
        if is_space(byte) || byte == b'/' {
            continue;
        }
        at = attribute_name_end(page, at)?;
        if let Some(&[b'=', quote @ (b'"' | b'\'')]) = page.get(at..at + 2) {
            at = find(page, at + 2, quote)? + 1;
            continue;
        }
        at += page[at..].iter().position(|&byte| !is_space(byte))?;
        if page[at] != b'=' {
            continue;
        }
        at += 1;
        at += page[at..].iter().position(|&byte| !is_space(byte))?;
        let quote = page[at];
        if quote == b'"' || quote == b'\'' {
            at = find(page, at + 1, quote)? + 1;
            continue;
        }
        at += page[at..].iter().position(|&byte| is_space(byte) || byte == b'>')?;
        if page[at] == b'>' {
            return Some(Tag { end: at + 1, self_closing: false });
        }
    }
}

/// Where the comment ends whose `<!--` ends here.
fn comment_end(page: &[u8], start: usize) -> usize {
    if page[start..].starts_with(b">") {
        return start + 1;
    }
    if page[start..].starts_with(b"->") {
        return start + 2;
    }
    let mut at = start;
    // The ">" is looked for, since texts have more dashes.
    while let Some(end) = find(page, at, b'>') {
        let text = &page[start..end];
        if text.ends_with(b"--") || text.ends_with(b"--!") {
            return end + 1;
        }
        at = end + 1;
    }
    page.len()
}

/// Whether `</name` or `<name`, as `tag` says it, stands here, and the name ends there.
fn has_tag(page: &[u8], at: usize, tag: &[u8]) -> bool {
    page.get(at..at + tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag))
        && page.get(at + tag.len()).is_some_and(|&byte| ends_name(byte))
}

/// Where the text ends that follows the start tag of this name.
fn raw_text_end(page: &[u8], mut at: usize, name: &[u8]) -> usize {
    let end_tag = [b"</", name].concat();
    while let Some(start) = find(page, at, b'<') {
        if has_tag(page, start, &end_tag) {
            return start;
        }
        at = start + 1;
    }
    page.len()
}

/// Where script data ends that begins here.
fn script_end(page: &[u8], mut at: usize) -> usize {
    while let Some(start) = find(page, at, b'<') {
        at = start + 1;
        if page.get(at) == Some(&b'/') {
            if has_tag(page, start, b"</script") {
                return start;
            }
        } else if page[start..].starts_with(b"<!--") {
            let text = &page[start + 4..];
            if text.starts_with(b">") || text.starts_with(b"->") {
                continue; // escaped by nothing
            }
            match escaped_end(page, start + 4) {
                Escape::EndTag(end) => return end,
                Escape::Over(end) => at = end,
            }
        }
    }
    page.len()
}

enum Escape {
    /// The script ends here.
    EndTag(usize),
    /// Plain script data goes on here.
    Over(usize),
}

/// Where the escaped text of a script ends that begins here.
fn escaped_end(page: &[u8], mut at: usize) -> Escape {
    let mut double = false;
    while let Some(found) = page.get(at..).and_then(|rest| memchr2(b'<', b'-', rest)) {
        let start = at + found;
        at = start + 1;
        if page[start] == b'-' {
            if page[start..].starts_with(b"-->") {
                return Escape::Over(start + 3);
            }
        } else if has_tag(page, start, b"</script") {
            if !double {
                return Escape::EndTag(start);
            }
            double = false;
        } else if has_tag(page, start, b"<script") {
            double = true;
        }
    }
    Escape::Over(page.len())
}

#[cfg(test)]
mod tests {
    use super::{start_tags, Element, Found};

    impl Found for Vec<String> {
        fn name(&mut self, name: &[u8], _: Option<u64>) -> Element {
            self.push(String::from_utf8_lossy(name).into_owned());
            Element::of(name)
        }
    }

    fn names(page: &str) -> String {
        let mut names = Vec::new();
        start_tags(page.as_bytes(), &mut names);
        names.join(" ")
    }

    #[test]
    fn usual_and_odd_tags_are_found() {
        assert_eq!(names("<P>a<p title='<b>'>b<!-- <i> --><my-x/><a<b><3>"), "P p my-x a<b");
        assert_eq!(names("<a ='><i title='><u>'><b c=d/><b c"), "a i b");
    }

    #[test]
    fn raw_text_hides_markup() {
        assert_eq!(names("<title><b></titlex></TITLE ><i>"), "title i");
        assert_eq!(names("<script><!-- <script> </script> <b> --></script><i>"), "script i");
        assert_eq!(names("<script><!-- <script> --> </script><i>"), "script i");
        assert_eq!(names("<script><!--><script></script><i>"), "script i");
        assert_eq!(names("<svg><title/><b></svg><title/><i></title><plaintext><u>"), "svg title b title plaintext");
    }

    #[test]
    fn pages_that_end_anywhere_do_no_harm() {
        let page = "<a b=\"c\" d='e' f=g h><!-- i --!><script><!--<script></script>--></script><svg/></b><?x><!y>";
        for end in 0..=page.len() {
            let part = names(&page[..end]);
            assert!(names(page).starts_with(&part));
        }
    }
}
