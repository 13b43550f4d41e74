//! Which formats of structured data a page may hold: the twin of `crawlmill.analysis.structured.markup`.

use memchr::memchr_iter;

use crate::body::Bodies;
use crate::http::Response;
use crate::page::{kind, Kind};
use crate::records::{Counter, Record, Taken};
use crate::warc::RESPONSE;

pub const MICRODATA: u8 = 1;
pub const RDFA: u8 = 2;
pub const JSON_LD: u8 = 4;
pub const MICROFORMATS: u8 = 8;

/// Classes that begin an item, besides those that begin with `h-`.
const ROOTS: [&[u8]; 11] = [
    b"adr",
    b"geo",
    b"vcard",
    b"hentry",
    b"hfeed",
    b"vevent",
    b"hproduct",
    b"hrecipe",
    b"hresume",
    b"hreview",
    b"hreview-aggregate",
];

/// The formats that a page, in an encoding that keeps ASCII, may hold.
pub fn formats(page: &[u8]) -> u8 {
    let mut found = 0;
    for at in memchr_iter(b'=', page) {
        let mut end = at;
        while end > 0 && is_blank(page[end - 1]) {
            end -= 1;
        }
        let Some(&last) = page[..end].last() else {
            continue;
        };
        let named = |name: &[u8]| is_named(&page[..end], name);
        match last | 0x20 {
            b'p' if named(b"itemprop") => found |= MICRODATA,
            b'y' if named(b"property") => found |= RDFA,
            b'f' if named(b"typeof") => found |= RDFA,
            b'b' if named(b"vocab") => found |= RDFA,
            b'e' if named(b"itemtype") => found |= MICRODATA,
            b'e' if found & JSON_LD == 0 && named(b"type") => {
                let value = value(&page[at + 1..]);
                if value.contains(&b'&') || contains(value, b"ld+json") {
                    found |= JSON_LD;
                }
            }
            b'l' | b'v' if found & RDFA == 0 && (named(b"rel") || named(b"rev")) && relates(value(&page[at + 1..])) => {
                found |= RDFA;
            }
            b's' if found & MICROFORMATS == 0 && named(b"class") && begins_item(value(&page[at + 1..])) => {
                found |= MICROFORMATS;
            }
            _ => {}
        }
    }
    found
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

/// Whether these bytes end with an attribute's name, of that spelling in lower case, and what stands before one.
fn is_named(bytes: &[u8], name: &[u8]) -> bool {
    let Some(start) = bytes.len().checked_sub(name.len() + 1) else {
        return false;
    };
    (is_blank(bytes[start]) || matches!(bytes[start], b'/' | b'"' | b'\''))
        && bytes[start + 1..].eq_ignore_ascii_case(name)
}

/// The value of an attribute, from what follows its `=`.
fn value(rest: &[u8]) -> &[u8] {
    let start = rest.iter().position(|&byte| !is_blank(byte)).unwrap_or(rest.len());
    let rest = &rest[start..];
    match rest.first() {
        Some(&quote @ (b'"' | b'\'')) => &rest[1..memchr::memchr(quote, &rest[1..]).map_or(rest.len(), |end| end + 1)],
        _ => &rest[..rest.iter().position(|&byte| is_blank(byte) || byte == b'>').unwrap_or(rest.len())],
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

/// Whether a `rel` may mean something in RDFa without a vocabulary.
fn relates(value: &[u8]) -> bool {
    value.iter().any(|byte| matches!(byte, b':' | b'&'))
        || [&b"license"[..], b"describedby", b"role"].iter().any(|word| contains(value, word))
}

/// Whether one of the classes begins an item, or may do so by a character reference.
fn begins_item(value: &[u8]) -> bool {
    value.split(|&byte| is_blank(byte)).any(|name| match name {
        [b'h' | b'H', b'-', first, ..] => first.is_ascii_alphanumeric(),
        [first, ..] if matches!(first | 0x20, b'a' | b'g' | b'h' | b'v') => {
            ROOTS.iter().any(|root| root.eq_ignore_ascii_case(name))
        }
        _ => false,
    }) || memchr::memmem::find(value, b"&#").is_some()
}

/// Takes the pages that hold none of the wanted formats, and responses that are no pages.
pub struct PageFilter {
    pub wanted: u8,
    bodies: Bodies,
}

impl PageFilter {
    pub fn new(wanted: u8) -> PageFilter {
        PageFilter { wanted, bodies: Bodies::default() }
    }

    /// Whether a response is to be given; None if that needs a closer look.
    fn is_wanted(&mut self, record: &Record<'_>) -> Option<bool> {
        if record.head.kind != RESPONSE {
            return None;
        }
        if !record.holds_http()? {
            return Some(false);
        }
        let response = Response::of(record.held())?;
        let kind = kind(&response)?;
        if matches!(kind, Kind::Other) {
            return Some(false);
        }
        record.block()?;
        let page = self.bodies.page(&response, &kind, record.most)?;
        Some(formats(page) & self.wanted != 0)
    }
}

impl Counter for PageFilter {
    fn take(&mut self, record: &Record<'_>) -> Taken {
        match self.is_wanted(record) {
            Some(false) => Taken::Counted,
            _ => Taken::Unusual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{formats, JSON_LD, MICRODATA, MICROFORMATS, RDFA};

    #[test]
    fn attributes_say_what_a_page_may_hold() {
        for (page, expected) in [
            (&b"<p>itemprop rel=nofollow <a rel='stylesheet' class='high-5 geology' type=text/css>"[..], 0),
            (b"typeof x==1; a.property=2; data-vocab=3; .property=; =class=h-card", 0),
            (b"<p ItemProp = x>", MICRODATA),
            (b"<p a=\"\"itemtype=x>", MICRODATA),
            (b"<p\nTypeOf\t=x>", RDFA),
            (b"<a rel='nofollow License'>", RDFA),
            (b"<a rev=x:y>", RDFA),
            (b"<a rel=\"&#108;icense", RDFA),
            (b"<script type='application/LD+JSON'>", JSON_LD),
            (b"<script type=application/ld&plus;json>", JSON_LD),
            (b"<p class='a\nh-1'>", MICROFORMATS),
            (b"<p class=\"x'y>z VCARD\">", MICROFORMATS),
            (b"<p class=h&#45;card itemprop=x>", MICROFORMATS | MICRODATA),
            (b"<p class=h- rel=", 0),
            (b"=", 0),
        ] {
            assert_eq!(formats(page), expected, "{}", String::from_utf8_lossy(page));
        }
    }
}
