//! Which formats of structured data a page may hold: the twin of `crawlmill.analysis.structured.markup`.

use crate::body::Bodies;
use crate::http::Response;
use crate::page::{kind, Kind};
use crate::places::{find, STEP};
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

/// The last two letters of the names that are looked for.
const ENDS: [[u8; 2]; 8] = [*b"ss", *b"op", *b"ty", *b"of", *b"ab", *b"pe", *b"el", *b"ev"];
const BLANKS: [u8; 5] = *b"\t\n\x0c\r ";
const BLANK: u16 = 1 << ENDS.len();

/// For the last byte before a `=` and for the one before that, the names they may belong to: both have to agree.
static LAST: [u16; 256] = ends(1);
static LAST_BUT_ONE: [u16; 256] = ends(0);

const fn ends(place: usize) -> [u16; 256] {
    let mut names = [if place == 0 { BLANK } else { 0 }; 256];
    let mut number = 0;
    while number < ENDS.len() {
        let letter = ENDS[number][place];
        names[letter as usize] |= 1 << number;
        names[letter.to_ascii_uppercase() as usize] |= 1 << number;
        number += 1;
    }
    let mut number = 0;
    while place == 1 && number < BLANKS.len() {
        names[BLANKS[number] as usize] = BLANK;
        number += 1;
    }
    names
}

/// The formats that a page, in an encoding that keeps ASCII, may hold.
pub fn formats(page: &[u8]) -> u8 {
    let mut found = 0;
    let mut places = [0; STEP];
    for (number, step) in page.chunks(STEP).enumerate() {
        let start = number * STEP;
        let mut count = 0;
        for each in 0..find(step, b'=', &mut places) {
            let place = places[each];
            places[count] = place;
            count += usize::from(names(&page[..start + usize::from(place)]) != 0);
        }
        for &place in &places[..count] {
            let (before, rest) = page.split_at(start + usize::from(place));
            let rest = &rest[1..];
            if !is_class(before) {
                found |= said(before, rest, found);
            } else if found & MICROFORMATS == 0 && may_begin_item(rest) && begins_item(value(rest)) {
                found |= MICROFORMATS;
            }
        }
    }
    found
}

/// The names, by their places in `ENDS`, that bytes before a `=` may end with, or `BLANK`.
fn names(before: &[u8]) -> u16 {
    let Some(&[last_but_one, last]) = before.last_chunk() else {
        return 0;
    };
    LAST[usize::from(last)] & LAST_BUT_ONE[usize::from(last_but_one)]
}

/// The formats that an attribute speaks for, of those not found yet, by what stands before its `=` and behind.
fn said(before: &[u8], rest: &[u8], found: u8) -> u8 {
    let end = before.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |last| last + 1);
    let before = &before[..end];
    let named = |name: &[u8]| is_named(before, name);
    match before.last().map_or(0, |last| last | 0x20) {
        b'p' if named(b"itemprop") => MICRODATA,
        b'y' if named(b"property") => RDFA,
        b'f' if named(b"typeof") => RDFA,
        b'b' if named(b"vocab") => RDFA,
        b'e' if named(b"itemtype") => MICRODATA,
        b'e' if found & JSON_LD == 0 && named(b"type") => {
            let value = value(rest);
            if value.contains(&b'&') || contains(value, b"ld+json") {
                JSON_LD
            } else {
                0
            }
        }
        b'l' | b'v' if found & RDFA == 0 && (named(b"rel") || named(b"rev")) && relates(value(rest)) => RDFA,
        b's' if found & MICROFORMATS == 0 && named(b"class") && begins_item(value(rest)) => MICROFORMATS,
        _ => 0,
    }
}

fn is_blank(byte: u8) -> bool {
    BLANKS.contains(&byte)
}

/// Whether a byte may stand before an attribute's name.
fn parts(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'/' | b'"' | b'\'')
}

/// Whether these bytes end with an attribute's name, of that spelling in lower case, and what stands before one.
fn is_named(bytes: &[u8], name: &[u8]) -> bool {
    let Some(start) = bytes.len().checked_sub(name.len() + 1) else {
        return false;
    };
    parts(bytes[start]) && bytes[start + 1..].eq_ignore_ascii_case(name)
}

/// The same of `class`, without a look at each byte.
fn is_class(bytes: &[u8]) -> bool {
    let Some(&eight) = bytes.last_chunk() else {
        return is_named(bytes, b"class");
    };
    let eight = u64::from_be_bytes(eight) | 0x20_2020_2020; // in lower case
    eight << 24 == u64::from_be_bytes(*b"class\0\0\0") && parts((eight >> 40) as u8)
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

/// What a byte of classes may be: the first of one that begins an item, a blank, or of a character reference.
static IN_CLASSES: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut number = 0;
    while number < FIRST.len() {
        kinds[FIRST[number] as usize] = STARTS;
        number += 1;
    }
    let mut number = 0;
    while number < BLANKS.len() {
        kinds[BLANKS[number] as usize] = PARTS;
        number += 1;
    }
    kinds[b'&' as usize] = REFERS;
    kinds
};
const FIRST: [u8; 8] = *b"aghvAGHV";
const STARTS: u8 = 1;
const PARTS: u8 = 2;
const REFERS: u8 = 4;

/// Whether one of the classes may begin an item, by the bytes behind a `=`: what rules nearly all of them out.
fn may_begin_item(rest: &[u8]) -> bool {
    let Some((quote @ (b'"' | b'\''), value)) = rest.split_first() else {
        return true;
    };
    let (mut before, mut may) = (PARTS, 0);
    for &byte in value {
        if byte == *quote {
            break;
        }
        let kind = IN_CLASSES[usize::from(byte)];
        may |= kind & (before >> 1 | REFERS);
        before = kind;
    }
    may != 0
}

/// Whether one of the classes begins an item, or may do so by a character reference.
fn begins_item(value: &[u8]) -> bool {
    value.split(|&byte| is_blank(byte)).any(|name| match name {
        [b'h' | b'H', b'-', first, ..] => first.is_ascii_alphanumeric(),
        [first, ..] if FIRST.contains(first) => ROOTS.iter().any(|root| root.eq_ignore_ascii_case(name)),
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
