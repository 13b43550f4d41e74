//! A WAT record about a page: the twin of `crawlmill.analysis.links.wat`.

use std::borrow::Cow;

use memchr::memmem;

use super::json::{unescape, Reader};
use crate::wat::trim;

/// As `crawlmill.analysis.links.kinds` has them.
const KINDS: [&str; 22] = [
    "A@/href",
    "AREA@/href",
    "LINK@/href",
    "IMG@/src",
    "IFRAME@/src",
    "FRAME@/src",
    "SCRIPT@/src",
    "EMBED@/src",
    "VIDEO@/src",
    "VIDEO@/poster",
    "AUDIO@/src",
    "SOURCE@/src",
    "TRACK@/src",
    "FORM@/action",
    "INPUT@/src",
    "INPUT@/formaction",
    "BUTTON@/formaction",
    "OBJECT@/data",
    "Q@/cite",
    "BLOCKQUOTE@/cite",
    "DEL@/cite",
    "INS@/cite",
];

/// A page: its URL, its base as it is written, and the arrays that hold its references.
pub struct Page<'a> {
    pub url: Cow<'a, str>,
    pub base: Option<Cow<'a, str>>,
    arrays: [Option<&'a [u8]>; 3],
}

impl Page<'_> {
    /// Tells of the kind and the value of each reference. None if one is unusual, or `each` says so.
    pub fn each(&self, mut each: impl FnMut(&'static str, &str) -> Option<()>) -> Option<()> {
        for array in self.arrays.iter().flatten() {
            Reader::new(array).array(|reader| {
                let (mut path, mut url) = (None, None);
                reader.object(|key, reader| {
                    let place = match key {
                        b"path" => &mut path,
                        b"url" => &mut url,
                        _ => return reader.skip().map(|_| ()),
                    };
                    place.replace(reader.string()?).is_none().then_some(())
                })?;
                let (Some(path), Some(url)) = (path, url) else {
                    return Some(());
                };
                if path.contains(&b'\\') {
                    return None;
                }
                match KINDS.iter().find(|kind| kind.as_bytes() == path) {
                    Some(kind) => each(kind, &unescape(url)?),
                    None => Some(()),
                }
            })?;
        }
        Some(())
    }
}

/// The page that a record describes, Some(None) if it describes none; None if that needs a closer look.
pub fn page_of(envelope: &[u8]) -> Option<Option<Page<'_>>> {
    let text = trim(envelope);
    if !(text.starts_with(b"{") && text.ends_with(b"}")) {
        return None;
    }
    if memmem::find(text, b"\"HTML-Metadata\"").is_none() {
        let count = |byte| memchr::memchr_iter(byte, text).count();
        return (count(b'{') == count(b'}')).then_some(None);
    }
    if simdutf8::basic::from_utf8(text).is_err() {
        return None;
    }
    let (mut header, mut response) = (None, None);
    let mut reader = Reader::new(text);
    once(&mut reader, b"Envelope", |reader| {
        let (mut payload, mut warc) = (None, None);
        reader.object(|key, reader| match key {
            b"Payload-Metadata" => set(&mut payload, reader),
            b"WARC-Header-Metadata" => set(&mut warc, reader),
            _ => reader.skip().map(|_| ()),
        })?;
        (response, header) = (payload, warc);
        Some(())
    })?;
    if !reader.is_over() {
        return None;
    }
    let (url, kind) = header_of(header?)?;
    let mut html = None;
    once(&mut Reader::new(response?), b"HTTP-Response-Metadata", |reader| {
        once(reader, b"HTML-Metadata", |reader| reader.skip().map(|text| html = Some(text)))
    })?;
    if kind != "response" {
        return Some(None);
    }
    let [mut head, mut links, mut link, mut scripts, mut base] = [None; 5];
    Reader::new(html?).object(|key, reader| match key {
        b"Head" => set(&mut head, reader),
        b"Links" => set(&mut links, reader),
        _ => reader.skip().map(|_| ()),
    })?;
    if let Some(head) = head {
        Reader::new(head).object(|key, reader| match key {
            b"Link" => set(&mut link, reader),
            b"Scripts" => set(&mut scripts, reader),
            b"Base" => base.replace(reader.string()?).is_none().then_some(()),
            _ => reader.skip().map(|_| ()),
        })?;
    }
    let base = base.map(unescape).map_or(Some(None), |base| base.map(Some))?;
    Some(Some(Page { url, base, arrays: [link, scripts, links] }))
}

/// Reads an object, whose value of this key must be there once.
fn once<'a>(reader: &mut Reader<'a>, wanted: &[u8], mut read: impl FnMut(&mut Reader<'a>) -> Option<()>) -> Option<()> {
    let mut found = false;
    reader.object(|key, reader| {
        if key != wanted {
            return reader.skip().map(|_| ());
        }
        if std::mem::replace(&mut found, true) {
            return None;
        }
        read(reader)
    })?;
    found.then_some(())
}

fn set<'a>(place: &mut Option<&'a [u8]>, reader: &mut Reader<'a>) -> Option<()> {
    place.replace(reader.skip()?).is_none().then_some(())
}

fn header_of(header: &[u8]) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    let (mut url, mut kind) = (None, None);
    Reader::new(header).object(|key, reader| {
        let place = match key {
            b"WARC-Target-URI" => &mut url,
            b"WARC-Type" => &mut kind,
            _ => return reader.skip().map(|_| ()),
        };
        place.replace(reader.string()?).is_none().then_some(())
    })?;
    Some((unescape(url?)?, unescape(kind?)?))
}
