//! The links of pages, as lines: `"source" TAB ["target","kind"]`. The twin of `crawlmill.mr.job.links` for what is
//! usual; an unusual page is left to Python as a whole, an unusual reference of a usual page alone.

mod entries;
mod html;
mod json;
#[cfg(feature = "python")]
pub mod python;
mod resolve;

use std::sync::Arc;

use crate::body::Bodies;
use crate::captures::described::{fields, target};
use crate::http::Response;
use crate::page::{kind, Encoding, Kind};
use crate::pairs::write_text;
use crate::records::{Counter, Record, Taken};
use crate::warc::{content_type, METADATA, RESPONSE};

use entries::page_of;
use html::{is_utf8, unescape, References};
use resolve::{Base, Link};

/// The lines of links, and the references that are left for others to resolve.
#[derive(Default)]
pub struct LinkLines {
    lines: Vec<u8>,
    gaps: Vec<Gap>,
    bodies: Bodies,
    references: References,
}

/// A reference that is unusual.
pub struct Gap {
    /// Where in the lines its line belongs.
    at: usize,
    page: Arc<Place>,
    kind: &'static str,
    reference: String,
    /// Whether it may hold character references.
    is_html: bool,
}

/// A page's URL, and its base as it is written.
struct Place {
    url: String,
    base: Option<String>,
}

/// Writes the lines of one page.
struct Writer<'a> {
    lines: &'a mut Vec<u8>,
    gaps: &'a mut Vec<Gap>,
    base: Base,
    source: Vec<u8>,
    target: Vec<u8>,
    page: Arc<Place>,
}

impl<'a> Writer<'a> {
    /// `base` is the value of a base element. None if that or the URL is unusual.
    fn new(lines: &'a mut Vec<u8>, gaps: &'a mut Vec<Gap>, url: &str, base: Option<&str>) -> Option<Writer<'a>> {
        let mut found = Base::of(url.as_bytes())?;
        if let Some(reference) = base {
            found = found.rebased(reference.as_bytes())?;
        }
        let mut source = Vec::with_capacity(url.len() + 2);
        write_text(url.as_bytes(), &mut source);
        let page = Arc::new(Place { url: url.to_owned(), base: base.map(str::to_owned) });
        Some(Writer { lines, gaps, base: found, source, target: Vec::new(), page })
    }

    fn write(&mut self, kind: &'static str, reference: &str) {
        self.target.clear();
        match self.base.resolve(reference.as_bytes(), &mut self.target) {
            Some(Link::Url) => {}
            Some(Link::None) => return,
            None => return self.leave(kind, reference, false),
        }
        let lines = &mut *self.lines;
        lines.extend_from_slice(&self.source);
        lines.extend_from_slice(b"\t[");
        write_text(&self.target, lines);
        lines.extend_from_slice(b",\"");
        lines.extend_from_slice(kind.as_bytes());
        lines.extend_from_slice(b"\"]\n");
    }

    fn leave(&mut self, kind: &'static str, reference: &str, is_html: bool) {
        let (at, page, reference) = (self.lines.len(), self.page.clone(), reference.to_owned());
        self.gaps.push(Gap { at, page, kind, reference, is_html });
    }
}

impl LinkLines {
    /// What was written, and what belongs in between; nothing is left.
    pub fn take(&mut self) -> (Vec<u8>, Vec<Gap>) {
        (std::mem::take(&mut self.lines), std::mem::take(&mut self.gaps))
    }

    /// Writes the lines of a page as `write` says it; if that is None, nothing is written.
    fn add(&mut self, write: impl FnOnce(&mut LinkLines) -> Option<()>) -> Option<()> {
        let (lines, gaps) = (self.lines.len(), self.gaps.len());
        let written = write(self);
        if written.is_none() {
            self.lines.truncate(lines);
            self.gaps.truncate(gaps);
        }
        written
    }

    /// Those of the page that a WAT record describes; None if it is unusual.
    fn add_wat(&mut self, envelope: &[u8]) -> Option<()> {
        let Some(page) = page_of(envelope)? else {
            return Some(());
        };
        self.add(|this| {
            let mut writer = Writer::new(&mut this.lines, &mut this.gaps, &page.url, page.base.as_deref())?;
            page.each(|kind, reference| {
                writer.write(kind, reference);
                Some(())
            })
        })
    }

    /// Those of a response, if it is an HTML page; None if it is unusual.
    fn add_response(&mut self, record: &Record<'_>) -> Option<()> {
        if !record.holds_http()? {
            return Some(());
        }
        let response = Response::of(record.held())?;
        let kind = kind(&response)?;
        if matches!(kind, Kind::Other) {
            return Some(()); // what is not HTML has no links
        }
        record.block()?;
        if has_empty_line(&response) {
            return None;
        }
        let [url, _] = fields(record.header, ["WARC-Target-URI", "Content-Type"])?;
        let url = std::str::from_utf8(target(url?)).ok()?;
        let mut bodies = std::mem::take(&mut self.bodies);
        let page = bodies.encoded_page(&response, &kind, record.most);
        let added = page.and_then(|(page, encoding)| {
            self.add(|this| this.add_html(url, page, encoding, matches!(kind, Kind::Unstated)))
        });
        self.bodies = bodies;
        added
    }

    fn add_html(&mut self, url: &str, page: &[u8], encoding: Encoding, unstated: bool) -> Option<()> {
        self.references.read(page);
        let mut utf8 = matches!(encoding, Encoding::Utf8).then_some(true);
        let mut text = Vec::new();
        let base = match self.references.base {
            Some((from, to)) => {
                let written = text_of(&page[from..to], page, unstated, &mut utf8)?;
                unescape(written.as_bytes(), &mut text)?;
                Some(String::from_utf8(std::mem::take(&mut text)).ok()?)
            }
            None => None,
        };
        let mut writer = Writer::new(&mut self.lines, &mut self.gaps, url, base.as_deref())?;
        for &(kind, from, to) in &self.references.found {
            let written = text_of(&page[from..to], page, unstated, &mut utf8)?;
            if !written.contains('&') {
                writer.write(kind, written);
                continue;
            }
            text.clear();
            match unescape(written.as_bytes(), &mut text) {
                Some(()) => writer.write(kind, std::str::from_utf8(&text).ok()?),
                None => writer.leave(kind, written, true),
            }
        }
        Some(())
    }
}

/// The text of a value; None if it is neither ASCII nor of a page that is known to be in UTF-8.
fn text_of<'a>(value: &'a [u8], page: &[u8], unstated: bool, utf8: &mut Option<bool>) -> Option<&'a str> {
    if memchr::memchr(0, value).is_some() {
        return None;
    }
    let is_ascii = value.is_ascii();
    if !is_ascii && !*utf8.get_or_insert_with(|| unstated && is_utf8(page)) {
        return None;
    }
    std::str::from_utf8(value).ok()
}

/// Whether an empty line follows the header that the body's length does not count, or may not.
fn has_empty_line(response: &Response<'_>) -> bool {
    response.body.starts_with(b"\r\n") && response.values(b"Content-Length").next().is_some()
}

impl Counter for LinkLines {
    const IN_ORDER: bool = true;

    fn take(&mut self, record: &Record<'_>) -> Taken {
        let taken = match record.head.kind {
            RESPONSE => self.add_response(record),
            METADATA => match content_type(record.header) {
                Some(b"application/json") => record.block().and_then(|block| self.add_wat(block)),
                Some(_) => Some(()), // of a WARC
                None => None,
            },
            _ => None,
        };
        taken.map_or(Taken::Unusual, |()| Taken::Counted)
    }
}

#[cfg(test)]
mod tests {
    use super::LinkLines;

    fn lines(html: &str) -> Option<String> {
        let envelope = format!(
            r#" {{"Container":{{}},"Envelope":{{"Payload-Metadata":{{"HTTP-Response-Metadata":{{"HTML-Metadata":{html}}}}},"WARC-Header-Metadata":{{"WARC-Type":"response","WARC-Target-URI":"http://a.example/b/c"}}}}}}"#
        );
        let mut lines = LinkLines::default();
        lines.add_wat(envelope.as_bytes())?;
        let (lines, gaps) = lines.take();
        let gaps = gaps.iter().map(|gap| format!("{} {}\n", gap.kind, gap.reference));
        Some(gaps.collect::<String>() + &String::from_utf8(lines).unwrap())
    }

    #[test]
    fn usual_pages_are_written() {
        let html = r#"{"Links":[{"path":"A@/href","url":"x y\u00e9\"","text":"t"},{"url":"../z","path":"IMG@/src"},{"path":"STYLE/#text","href":"s"}],"Head":{"Title":"t","Base":"/d/","Link":[{"path":"LINK@/href","url":"l"}],"Scripts":[],"Metas":[{"name":["x",1,null,true,{}]}]}}"#;
        let source = "\"http://a.example/b/c\"\t";
        let expected = format!(
            "{source}[\"http://a.example/d/l\",\"LINK@/href\"]\n{source}[\"http://a.example/d/x%20y%C3%A9%22\",\"A@/href\"]\n{source}[\"http://a.example/z\",\"IMG@/src\"]\n"
        );
        assert_eq!(lines(html).unwrap(), expected);
        assert_eq!(lines("{}").unwrap(), "");
        let unusual = r#"{"Links":[{"path":"A@/href","url":"http://1.2.3/"}]}"#;
        assert_eq!(lines(unusual).unwrap(), "A@/href http://1.2.3/\n");
        let mut none = LinkLines::default();
        assert!(none.add_wat(br#"{"Envelope":{}}"#).is_some());
        assert!(none.take().0.is_empty());
    }

    #[test]
    fn unusual_pages_are_left_to_python() {
        for html in [
            r#"[]"#,
            r#"{"Links":{}}"#,
            r#"{"Links":[1]}"#,
            r#"{"Links":[{"path":"A@/href","url":1}]}"#,
            r#"{"Links":[{"path":"A@/href","url":"a","url":"b"}]}"#,
            r#"{"Links":[{"path":"A@/href","url":"\ud800"}]}"#,
            r#"{"Links":[],"Links":[]}"#,
            r#"{"Head":{"Base":1}}"#,
            r#"{"Head":[]}"#,
            r#"{"Head":{},}"#,
            "{\"Head\":{\"Title\":\"\u{1}\"}}",
        ] {
            assert_eq!(lines(html), None, "{html}");
        }
        assert!(LinkLines::default().add_wat(b"[]").is_none());
        assert!(LinkLines::default().add_wat(b"{\"HTML-Metadata\":1}").is_none());
    }
}
