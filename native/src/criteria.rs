//! What users ask of pages, as far as it can be decided here: the twin of `crawlmill.formats.selectors.criteria`.

use crate::captures::described::{fields, status, target, timestamp, Detected};
use crate::http::Response;
use crate::lines::graphic;
use crate::sha1::sha1_start;
use crate::surt::is_address;
use crate::warc::{RESPONSE, REVISIT};

/// What is asked; what is empty or None asks nothing. All texts are in lower case.
#[derive(Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
#[cfg_attr(feature = "python", pyo3(from_item_all))]
pub struct Criteria {
    pub hosts: Vec<Vec<u8>>,
    pub domains: Vec<Vec<u8>>,
    pub tlds: Vec<Vec<u8>>,
    /// From, and below.
    pub statuses: Vec<(u16, u16)>,
    pub mimes: Vec<Vec<u8>>,
    pub detected_mimes: Vec<Vec<u8>>,
    #[cfg_attr(feature = "python", pyo3(default))]
    pub languages: Vec<Vec<u8>>,
    #[cfg_attr(feature = "python", pyo3(default))]
    pub charsets: Vec<Vec<u8>>,
    pub start: Vec<u8>,
    pub end: Vec<u8>,
    pub truncated: Option<bool>,
    pub sample: Option<u128>,
    /// What says of a URL whether one of the expressions is found in it: only Python knows.
    pub search: Option<Search>,
}

/// A function of Python.
#[cfg(feature = "python")]
pub type Search = pyo3::Py<pyo3::PyAny>;
#[cfg(not(feature = "python"))]
pub type Search = ();

/// What becomes of a record.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    Taken,
    LeftOut,
    /// It is taken if an expression is found in its URL, see `url_of`.
    Asks,
    /// It needs a closer look.
    Unsure,
}

impl Criteria {
    /// What becomes of a record of this type, with this header, of whose block this is held.
    pub fn verdict(&self, kind: usize, header: &[u8], held: &[u8]) -> Verdict {
        match self.meets(kind, header, held) {
            Some(false) => Verdict::LeftOut,
            Some(true) if self.search.is_none() => Verdict::Taken,
            Some(true) => Verdict::Asks,
            None => Verdict::Unsure,
        }
    }

    /// Whether the metadata record behind a page must answer some of it.
    pub fn awaits_metadata(&self) -> bool {
        !self.languages.is_empty() || !self.charsets.is_empty()
    }

    /// Whether a response is left out for what itself and the metadata record behind it say; None if that needs a
    /// closer look, or if that record is about another one.
    pub fn leaves_out(&self, header: &[u8], held: &[u8], found: &Detected<'_>) -> Option<bool> {
        let [url, id, concurrent] = fields(header, ["WARC-Target-URI", "WARC-Record-ID", "WARC-Concurrent-To"])?;
        let is_meant = if found.references.is_empty() {
            url.is_some() && url.map(target) == found.url
        } else {
            id.into_iter().chain(concurrent).any(|id| found.references.contains(&id))
        };
        if !is_meant {
            return None;
        }
        if !self.meets_detected(found) {
            return Some(true);
        }
        self.meets(RESPONSE, header, held).map(|meets| !meets)
    }

    fn meets_detected(&self, found: &Detected<'_>) -> bool {
        let is_one_of = |value: &[u8], wanted: &[Vec<u8>]| wanted.iter().any(|each| each.eq_ignore_ascii_case(value));
        (self.languages.is_empty() || found.languages.iter().any(|code| is_one_of(code, &self.languages)))
            && (self.charsets.is_empty() || found.charset.is_some_and(|charset| is_one_of(charset, &self.charsets)))
    }

    /// Whether a response or revisit that is written as nearly all are meets what is asked; None of any other.
    fn meets(&self, kind: usize, header: &[u8], held: &[u8]) -> Option<bool> {
        if !matches!(kind, RESPONSE | REVISIT) {
            return None;
        }
        let names = ["WARC-Target-URI", "WARC-Date", "Content-Type", "WARC-Identified-Payload-Type", "WARC-Truncated"];
        let [url, date, content_type, identified, truncated] = fields(header, names)?;
        let url = target(url?);
        let http = content_type?.get(..16).is_some_and(|start| start.eq_ignore_ascii_case(b"application/http"));
        if !http {
            return None;
        }
        if !(self.start.is_empty() && self.end.is_empty()) {
            let time = timestamp(date?)?;
            if time[..self.start.len()] < self.start[..] || time[..self.end.len()] > self.end[..] {
                return Some(false);
            }
        }
        if self.truncated.is_some_and(|wanted| wanted != truncated.is_some_and(|value| !value.is_empty())) {
            return Some(false);
        }
        let any_host = self.hosts.is_empty() && self.domains.is_empty() && self.tlds.is_empty();
        if !any_host && !self.is_of_host(url)? {
            return Some(false);
        }
        if !self.detected_mimes.is_empty() && !is_one_of(identified.unwrap_or_default(), &self.detected_mimes) {
            return Some(false);
        }
        if self.sample.is_some_and(|most| u128::from(sha1_start(url)) >= most) {
            return Some(false);
        }
        if self.statuses.is_empty() && self.mimes.is_empty() {
            return Some(true);
        }
        let response = Response::of(held)?;
        if !self.statuses.is_empty() {
            let digits = status(held)?;
            let found = digits.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
            if !self.statuses.iter().any(|&(from, below)| (from..below).contains(&found)) {
                return Some(false);
            }
        }
        if !self.mimes.is_empty() {
            let value = response.values(b"Content-Type").next().map_or(Some(&b""[..]), graphic)?;
            if !is_one_of(value, &self.mimes) {
                return Some(false);
            }
        }
        Some(true)
    }

    fn is_of_host(&self, url: &[u8]) -> Option<bool> {
        let host = usual_host(url)?;
        let is_below = |names: &[Vec<u8>]| {
            let mut rest = Some(&host[..]);
            while let Some(name) = rest {
                if names.iter().any(|wanted| wanted == name) {
                    return true;
                }
                rest = memchr::memchr(b'.', name).map(|dot| &name[dot + 1..]);
            }
            false
        };
        Some(
            (self.hosts.is_empty() || self.hosts.contains(&host))
                && (self.domains.is_empty() || is_below(&self.domains))
                && (self.tlds.is_empty() || (!is_address(&host) && is_below(&self.tlds))),
        )
    }
}

/// The URL that a header of a usual record names.
pub fn url_of(header: &[u8]) -> Option<&[u8]> {
    let [url] = fields(header, ["WARC-Target-URI"])?;
    url.map(target)
}

/// The media type that begins a value is among those, or of their groups.
fn is_one_of(value: &[u8], wanted: &[Vec<u8>]) -> bool {
    let end = value.iter().position(|byte| matches!(byte, b';' | b' ' | b'\t')).unwrap_or(value.len());
    let mime = value[..end].to_ascii_lowercase();
    let group = mime.split(|&byte| byte == b'/').next().unwrap_or_default();
    let is_meant = |name: &Vec<u8>| *name == mime || name.strip_suffix(b"/*").is_some_and(|wanted| wanted == group);
    !mime.is_empty() && wanted.iter().any(is_meant)
}

/// The host of a URL as nearly all are, in lower case: names of letters, digits, `-` and `_`, or an address.
fn usual_host(url: &[u8]) -> Option<Vec<u8>> {
    let colon = memchr::memchr(b':', &url[..url.len().min(6)])?;
    let scheme = &url[..colon];
    if !(scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https")) {
        return None;
    }
    let rest = url[colon + 1..].strip_prefix(b"//")?;
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\')).unwrap_or(rest.len());
    let authority = &rest[..end];
    let end = memchr::memchr(b':', authority).unwrap_or(authority.len());
    if !authority[end..].iter().skip(1).all(u8::is_ascii_digit) {
        return None;
    }
    let host = authority[..end].to_ascii_lowercase();
    let is_label = |label: &[u8]| {
        (1..64).contains(&label.len())
            && label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let is_name =
        host.len() < 254 && host.split(|&byte| byte == b'.').all(is_label) && !last.iter().all(u8::is_ascii_digit);
    (is_name || (host.first().is_some_and(u8::is_ascii_digit) && is_address(&host))).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::{url_of, usual_host, Criteria, Verdict};
    use crate::captures::described::Detected;
    use crate::warc::{METADATA, RESPONSE};

    const HEADER: &[u8] = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-05T10:00:09Z\r\n\
        WARC-Target-URI: <http://www.E.co.uk:80/a>\r\nContent-Type: application/http; msgtype=response\r\n\
        WARC-Identified-Payload-Type: text/html\r\nWARC-Truncated: length\r\n\r\n";
    const BLOCK: &[u8] = b"HTTP/1.1 404 X\r\nContent-type: Text/HTML;c\r\n\r\n";

    fn verdict(criteria: Criteria) -> Verdict {
        criteria.verdict(RESPONSE, HEADER, BLOCK)
    }

    fn names(name: &str) -> Vec<Vec<u8>> {
        vec![b"x".to_vec(), name.as_bytes().to_vec()]
    }

    #[test]
    fn usual_pages_are_decided_on() {
        let taken = [
            Criteria { hosts: names("www.e.co.uk"), ..Criteria::default() },
            Criteria { domains: names("e.co.uk"), tlds: names("co.uk"), ..Criteria::default() },
            Criteria { statuses: vec![(200, 201), (400, 500)], ..Criteria::default() },
            Criteria { mimes: names("text/html"), ..Criteria::default() },
            Criteria { mimes: names("text/*"), detected_mimes: names("text/html"), ..Criteria::default() },
            Criteria { start: b"202601".to_vec(), end: b"2026".to_vec(), ..Criteria::default() },
            Criteria { truncated: Some(true), sample: Some(1 << 64), ..Criteria::default() },
        ];
        for criteria in taken {
            assert_eq!(verdict(criteria), Verdict::Taken);
        }
        let left_out = [
            Criteria { hosts: names("e.co.uk"), ..Criteria::default() },
            Criteria { domains: names("co.u"), ..Criteria::default() },
            Criteria { tlds: names("o.uk"), ..Criteria::default() },
            Criteria { statuses: vec![(200, 300)], ..Criteria::default() },
            Criteria { mimes: names("text/htm"), ..Criteria::default() },
            Criteria { detected_mimes: names("image/*"), ..Criteria::default() },
            Criteria { start: b"20260106".to_vec(), ..Criteria::default() },
            Criteria { end: b"2025".to_vec(), ..Criteria::default() },
            Criteria { truncated: Some(false), ..Criteria::default() },
            Criteria { sample: Some(1), ..Criteria::default() },
        ];
        for criteria in left_out {
            assert_eq!(verdict(criteria), Verdict::LeftOut);
        }
    }

    #[test]
    #[cfg(not(feature = "python"))] // with it, there would have to be a function of Python
    fn python_is_asked_of_pages_that_meet_all_else() {
        let asked = |truncated| Criteria { search: Some(()), truncated: Some(truncated), ..Criteria::default() };
        assert_eq!(verdict(asked(true)), Verdict::Asks);
        assert_eq!(verdict(asked(false)), Verdict::LeftOut);
        assert_eq!(asked(true).verdict(METADATA, HEADER, BLOCK), Verdict::Unsure);
    }

    #[test]
    fn url_is_that_which_was_recorded() {
        assert_eq!(url_of(HEADER), Some(&b"http://www.E.co.uk:80/a"[..]));
        assert_eq!(url_of(b"WARC/1.0\r\n\r\n"), None);
    }

    #[test]
    fn metadata_behind_a_page_answers_for_it() {
        let header = [&HEADER[..HEADER.len() - 2], b"WARC-Record-ID: <urn:a>\r\n\r\n"].concat();
        let asked = Criteria {
            languages: names("nor"),
            charsets: names("utf-8"),
            statuses: vec![(404, 405)],
            ..Criteria::default()
        };
        let found = |charset, codes: &[&'static [u8]], references: &[&'static [u8]]| Detected {
            charset,
            languages: codes.to_vec(),
            references: references.to_vec(),
            url: Some(b"http://www.E.co.uk:80/a"),
        };
        let (utf8, own): (Option<&[u8]>, &[&[u8]]) = (Some(b"UTF-8"), &[b"<urn:b>", b"<urn:a>"]);
        assert_eq!(asked.leaves_out(&header, BLOCK, &found(utf8, &[b"eng", b"nor"], own)), Some(false));
        assert_eq!(asked.leaves_out(&header, BLOCK, &found(utf8, &[b"Nor"], &[])), Some(false));
        assert_eq!(asked.leaves_out(&header, BLOCK, &found(utf8, &[b"eng"], own)), Some(true));
        assert_eq!(asked.leaves_out(&header, BLOCK, &found(None, &[b"nor"], own)), Some(true));
        assert_eq!(asked.leaves_out(&header, b"HTTP/1.1\r\n\r\n", &found(utf8, &[b"nor"], own)), None);
        assert_eq!(asked.leaves_out(&header, b"HTTP/1.1 200 X\r\n\r\n", &found(utf8, &[b"nor"], own)), Some(true));
        assert_eq!(asked.leaves_out(&header, BLOCK, &found(None, &[], &[b"<urn:c>"])), None);
    }

    #[test]
    fn others_are_left_to_python() {
        assert_eq!(Criteria::default().verdict(METADATA, HEADER, BLOCK), Verdict::Unsure);
        let statuses = vec![(200, 300)];
        let criteria = Criteria { statuses, ..Criteria::default() };
        for odd in [&b"HTTP/1.1 2000 OK\r\n\r\n"[..], b"HTTP/1.1\r\nX: 200 y\r\n\r\n", b"<p 200 "] {
            assert_eq!(criteria.verdict(RESPONSE, HEADER, odd), Verdict::Unsure);
        }
        for url in ["ftp://e.org/", "http:/e.org/", "http://u@e.org/", "http://e.org./", "http://[::1]/", "http://1.2/"]
        {
            assert_eq!(usual_host(url.as_bytes()), None, "{url}");
        }
        for (url, host) in [("HTTP://E.org", "e.org"), ("https://1.2.3.4:8?x", "1.2.3.4"), ("http://a_b.c:/", "a_b.c")]
        {
            assert_eq!(usual_host(url.as_bytes()).unwrap(), host.as_bytes());
        }
    }
}
