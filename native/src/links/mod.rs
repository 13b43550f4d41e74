//! The links of pages, as lines: `"source" TAB ["target","kind"]`. The twin of `crawlmill.mr.job.links` for what is
//! usual; a page that has anything unusual is left to Python as a whole.

mod entries;
mod json;
#[cfg(feature = "python")]
pub mod python;
mod resolve;

use crate::http::Response;
use crate::page::{kind, Kind};
use crate::pairs::write_text;
use crate::records::{Counter, Record, Taken};
use crate::warc::{content_type, METADATA, RESPONSE};

use entries::{page_of, Page};
use resolve::{Base, Link};

/// The lines of links.
#[derive(Default)]
pub struct LinkLines {
    lines: Vec<u8>,
}

impl LinkLines {
    /// What was written; nothing is left.
    pub fn take_lines(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.lines)
    }

    /// Writes the lines of the page that a WAT record describes; None, and nothing is written, if it is unusual.
    fn add_wat(&mut self, envelope: &[u8]) -> Option<()> {
        let start = self.lines.len();
        let written = match page_of(envelope)? {
            Some(page) => self.add_page(&page),
            None => Some(()),
        };
        if written.is_none() {
            self.lines.truncate(start);
        }
        written
    }

    fn add_page(&mut self, page: &Page<'_>) -> Option<()> {
        let mut base = Base::of(page.url.as_bytes())?;
        if let Some(reference) = &page.base {
            base = base.rebased(reference.as_bytes())?;
        }
        let mut source = Vec::with_capacity(page.url.len() + 2);
        write_text(page.url.as_bytes(), &mut source);
        let mut target = Vec::new();
        page.each(|kind, reference| {
            target.clear();
            if let Link::None = base.resolve(reference.as_bytes(), &mut target)? {
                return Some(());
            }
            let lines = &mut self.lines;
            lines.extend_from_slice(&source);
            lines.extend_from_slice(b"\t[");
            write_text(&target, lines);
            lines.extend_from_slice(b",\"");
            lines.extend_from_slice(kind.as_bytes());
            lines.extend_from_slice(b"\"]\n");
            Some(())
        })
    }
}

impl Counter for LinkLines {
    const IN_ORDER: bool = true;

    fn take(&mut self, record: &Record<'_>) -> Taken {
        let taken = match record.head.kind {
            // What is not HTML has no links.
            RESPONSE => match record.holds_http() {
                Some(false) => Some(()),
                Some(true) => {
                    let other = |response| matches!(kind(&response), Some(Kind::Other));
                    Response::of(record.held()).is_some_and(other).then_some(())
                }
                None => None,
            },
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
        Some(String::from_utf8(lines.take_lines()).unwrap())
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
        let mut none = LinkLines::default();
        assert!(none.add_wat(br#"{"Envelope":{}}"#).is_some());
        assert!(none.take_lines().is_empty());
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
            r#"{"Links":[{"path":"A@/href","url":"http://1.2.3/"}]}"#,
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
