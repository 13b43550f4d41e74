//! The start tags in the source of an HTML page: HTML Living Standard, section 13.2.5.
//!
//! The rules, and where they leave the standard, are those of `crawlmill.analysis.html_tokenizer`, which this module
//! has to agree with on every page.

use memchr::{memchr, memchr2};

/// Calls `found` with the name of each start tag, in order, as it is spelled in the source. Time is linear.
pub fn start_tags(page: &[u8], mut found: impl FnMut(&[u8])) {
    let (mut svg, mut math) = (0_usize, 0_usize);
    let mut at = 0;
    while let Some(start) = find(page, at, b'<') {
        at = match page.get(start + 1) {
            Some(byte) if byte.is_ascii_alphabetic() => {
                let Some((name, tag)) = read_tag(page, start + 1) else {
                    return; // the page ends within this tag
                };
                found(name);
                match Element::of(name) {
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
                let Some((name, tag)) = read_tag(page, start + 2) else {
                    return;
                };
                match Element::of(name) {
                    Element::Svg => svg = svg.saturating_sub(1),
                    Element::Math => math = math.saturating_sub(1),
                    _ => {}
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

/// What a tag's name asks of the reader.
enum Element {
    Other,
    Svg,
    Math,
    Script,
    RawText,
    Plaintext,
}

impl Element {
    fn of(name: &[u8]) -> Element {
        const RAW_TEXT: [&[u8]; 7] = [b"style", b"title", b"textarea", b"iframe", b"noembed", b"noframes", b"xmp"];
        // Of the frequent names few begin with one of these letters.
        if !matches!(name[0] | 0x20, b's' | b't' | b'm' | b'i' | b'n' | b'x' | b'p') || name.len() < 3 {
            return Element::Other;
        }
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

fn find(page: &[u8], at: usize, byte: u8) -> Option<usize> {
    memchr(byte, page.get(at..)?).map(|found| at + found)
}

/// The tag whose name begins here, and its name; None if the page ends first.
fn read_tag(page: &[u8], start: usize) -> Option<(&[u8], Tag)> {
    let length = page[start..].iter().position(|&byte| ends_name(byte))?;
    let name = &page[start..start + length];
    Some((name, tag_end(page, start + length)?))
}

/// Where the tag ends whose attributes begin here.
fn tag_end(page: &[u8], mut at: usize) -> Option<Tag> {
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
        at += page[at..].iter().position(|&byte| ends_name(byte) || byte == b'=')?;
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
        if has_tag(page, start, b"</script") {
            return start;
        }
        at = start + 1;
        if page[start..].starts_with(b"<!--") {
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
    use super::start_tags;

    fn names(page: &str) -> String {
        let mut names = Vec::new();
        start_tags(page.as_bytes(), |name| names.push(String::from_utf8_lossy(name).into_owned()));
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
