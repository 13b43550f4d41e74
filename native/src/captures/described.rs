//! What an index says of records as nearly all are: the twin of `crawlmill.indexes.cdx.fields` and `formats.exchange`.

use crate::http::Response;
use crate::json::push_text;
use crate::lines::{graphic, Lines};
use crate::surt::urlkey;

/// Languages of a page that an index names.
const MAX_LANGUAGES: usize = 3;

/// The beginning of a line: all that the record itself says.
pub struct Start<'a> {
    /// None if it needs a closer look.
    pub key: Option<Vec<u8>>,
    pub timestamp: [u8; 14],
    /// The JSON up to the digest.
    pub front: Vec<u8>,
    /// The JSON from `truncated` on, without the closing brace.
    pub back: Vec<u8>,
    pub url: &'a [u8],
    /// The record's own id, and that of the record that it is concurrent to.
    pub id: Option<&'a [u8]>,
    pub concurrent: Option<&'a [u8]>,
}

/// The fields that a line has on request, in this order behind all others.
#[derive(Clone, Copy, Default)]
pub struct Extra {
    pub id: bool,
    pub last_modified: bool,
}

/// What a metadata record of the crawler says.
pub struct Detected<'a> {
    pub charset: Option<&'a [u8]>,
    pub languages: Vec<&'a [u8]>,
    pub references: Vec<&'a [u8]>,
    pub url: Option<&'a [u8]>,
}

/// The fields of a header that have one of these names, each of which may be there once.
pub fn fields<'a, const N: usize>(header: &'a [u8], names: [&str; N]) -> Option<[Option<&'a [u8]>; N]> {
    let mut found = [None; N];
    let mut lines = Lines::new(header, 10);
    while let Some(line) = lines.next()? {
        let (name, value) = line.split_at(memchr::memchr(b':', line)?);
        if !name.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return None;
        }
        if let Some(at) = names.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(name)) {
            if found[at].replace(graphic(&value[1..])?).is_some() {
                return None;
            }
        } else if !value.is_ascii() {
            return None;
        }
    }
    Some(found)
}

pub fn target(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"<").and_then(|rest| rest.strip_suffix(b">")).unwrap_or(value)
}

/// The beginning of the line of a response or revisit by its header and the first bytes of its block.
pub fn start<'a>(header: &'a [u8], block: &[u8], revisit: bool, extra: Extra) -> Option<Start<'a>> {
    let [url, date, content_type, digest, identified, truncated, id, concurrent] = fields(
        header,
        [
            "WARC-Target-URI",
            "WARC-Date",
            "Content-Type",
            "WARC-Payload-Digest",
            "WARC-Identified-Payload-Type",
            "WARC-Truncated",
            "WARC-Record-ID",
            "WARC-Concurrent-To",
        ],
    )?;
    let url = target(url?);
    let digest = digest?.strip_prefix(b"sha1:").filter(|value| !matches!(value, [] | [b' ' | b'\t', ..]))?;
    let http = content_type?.get(..16).is_some_and(|start| start.eq_ignore_ascii_case(b"application/http"));
    if url.is_empty() || !http {
        return None;
    }
    let timestamp = timestamp(date?)?;
    let response = Response::of(block)?;
    let status = status(block)?;
    let mut front = Vec::with_capacity(url.len() + 160);
    front.extend_from_slice(b"{\"url\": \"");
    push_text(url, &mut front);
    front.extend_from_slice(b"\", \"mime\": \"");
    if revisit {
        front.extend_from_slice(b"warc/revisit");
    } else {
        let said = response.values(b"Content-Type").next().map_or(Some(&b""[..]), graphic)?;
        let end = said.iter().position(|byte| matches!(byte, b';' | b' ' | b'\t')).unwrap_or(said.len());
        push_text(if end == 0 { b"unk" } else { &said[..end] }, &mut front);
        if let Some(identified) = identified.filter(|value| !value.is_empty()) {
            front.extend_from_slice(b"\", \"mime-detected\": \"");
            push_text(identified, &mut front);
        }
    }
    front.extend_from_slice(b"\", \"status\": \"");
    front.extend_from_slice(&status);
    front.extend_from_slice(b"\", \"digest\": \"");
    push_text(digest, &mut front);
    front.push(b'"');
    let mut back = Vec::new();
    if let Some(truncated) = truncated.filter(|value| !value.is_empty()) {
        back.extend_from_slice(b", \"truncated\": \"");
        push_text(truncated, &mut back);
        back.push(b'"');
    }
    if status[0] == b'3' && &status != b"304" {
        if let Some(location) = response.values(b"Location").next().filter(|value| !value.is_empty()) {
            let location = graphic(location)?;
            if !is_absolute(location) || location.iter().any(|byte| matches!(byte, b'[' | b']')) {
                return None;
            }
            back.extend_from_slice(b", \"redirect\": \"");
            push_text(location, &mut back);
            back.push(b'"');
        }
    }
    if let Some(id) = id.filter(|id| extra.id && !id.is_empty()) {
        back.extend_from_slice(b", \"recordid\": \"");
        push_text(bare_id(id), &mut back);
        back.push(b'"');
    }
    if extra.last_modified {
        if let Some(moment) = response.values(b"Last-Modified").next().filter(|value| !value.is_empty()) {
            back.extend_from_slice(b", \"last-modified\": \"");
            back.extend_from_slice(&http_date(moment)?);
            back.push(b'"');
        }
    }
    Some(Start { key: urlkey(url), timestamp, front, back, url, id, concurrent })
}

/// `2026-01-05T10:00:09Z` as 14 digits.
pub fn timestamp(date: &[u8]) -> Option<[u8; 14]> {
    if date.len() != 20 || date[10] != b'T' || date[19] != b'Z' {
        return None;
    }
    let mut digits = [0; 14];
    for (digit, at) in digits.iter_mut().zip([0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]) {
        *digit = Some(date[at]).filter(u8::is_ascii_digit)?;
    }
    Some(digits)
}

/// An id as an index has it: `<urn:uuid:…>` without what all of them have.
fn bare_id(mut id: &[u8]) -> &[u8] {
    while let [b'<' | b'>', rest @ ..] = id {
        id = rest;
    }
    while let [rest @ .., b'<' | b'>'] = id {
        id = rest;
    }
    id.strip_prefix(b"urn:uuid:").unwrap_or(id)
}

/// `Fri, 02 Jan 2026 03:04:05 GMT` as 14 digits; None if it is written otherwise.
fn http_date(value: &[u8]) -> Option<[u8; 14]> {
    const MONTHS: [(&[u8], u32); 12] = [
        (b"Jan", 31),
        (b"Feb", 28),
        (b"Mar", 31),
        (b"Apr", 30),
        (b"May", 31),
        (b"Jun", 30),
        (b"Jul", 31),
        (b"Aug", 31),
        (b"Sep", 30),
        (b"Oct", 31),
        (b"Nov", 30),
        (b"Dec", 31),
    ];
    let form = |at: usize| match at {
        0 | 8 => value[at].is_ascii_uppercase(),
        1 | 2 | 9 | 10 => value[at].is_ascii_lowercase(),
        3 => value[at] == b',',
        4 | 7 | 11 | 16 | 25 => value[at] == b' ',
        19 | 22 => value[at] == b':',
        26.. => value[26..] == *b"GMT",
        _ => value[at].is_ascii_digit(),
    };
    if value.len() != 29 || !(0..29).all(form) || value[12] == b'0' {
        return None;
    }
    let number =
        |from: usize, to: usize| value[from..to].iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    let (month, days) = MONTHS
        .iter()
        .zip(1_u8..)
        .find_map(|(&(name, days), month)| (value[8..11] == *name).then_some((month, days)))?;
    let (year, day): (u32, u32) = (number(12, 16), number(5, 7));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let in_range = (1..=days + u32::from(month == 2 && is_leap)).contains(&day)
        && number(17, 19) < 24
        && number(20, 22) < 60
        && number(23, 25) < 60;
    let mut digits = [0; 14];
    for (digit, at) in digits.iter_mut().zip([12, 13, 14, 15, 0, 0, 5, 6, 17, 18, 20, 21, 23, 24]) {
        *digit = value[at];
    }
    digits[4..6].copy_from_slice(&[b'0' + month / 10, b'0' + month % 10]);
    in_range.then_some(digits)
}

/// The three digits of a status line.
pub fn status(block: &[u8]) -> Option<[u8; 3]> {
    let blank = memchr::memchr(b' ', block)?;
    let rest = &block[blank..];
    let at = rest.iter().position(|&byte| byte != b' ' && byte != b'\t')?;
    let digits: [u8; 3] = rest.get(at..at + 3)?.try_into().ok()?;
    (digits.iter().all(u8::is_ascii_digit) && !rest.get(at + 3).is_some_and(u8::is_ascii_digit)).then_some(digits)
}

fn is_absolute(url: &[u8]) -> bool {
    let colon = memchr::memchr(b':', url).unwrap_or(0);
    let scheme = &url[..colon];
    scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
}

/// What a metadata record says of a page, by its header and block; None if it needs a closer look.
pub fn detected<'a>(header: &'a [u8], block: &'a [u8]) -> Option<Detected<'a>> {
    let [url, content_type, refers, concurrent] =
        fields(header, ["WARC-Target-URI", "Content-Type", "WARC-Refers-To", "WARC-Concurrent-To"])?;
    if content_type? != b"application/warc-fields" {
        return None;
    }
    let (mut charset, mut languages) = (None, Vec::new());
    for line in block.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        graphic(line)?;
        if let Some(value) = line.strip_prefix(b"charset-detected:") {
            charset = Some(graphic(value)?).filter(|value| !value.is_empty());
        } else if let Some(value) = line.strip_prefix(b"languages-cld2:") {
            languages = codes(graphic(value)?)?;
        }
    }
    let references = refers.into_iter().chain(concurrent).collect();
    Some(Detected { charset, languages, references, url: url.map(target) })
}

/// The codes of the first three languages in the JSON that the crawler writes, as far as they have one; None if it is
/// written otherwise.
fn codes(json: &[u8]) -> Option<Vec<&[u8]>> {
    let mut at = Json(json);
    at.take(b"{\"reliable\":")?;
    at.take(b"true").or_else(|| at.take(b"false"))?;
    at.take(b",\"text-bytes\":")?;
    at.number()?;
    let mut found = Vec::new();
    if at.take(b",\"languages\":[").is_some() {
        for number in 0.. {
            at.take(b"{\"code\":")?;
            at.string()?;
            at.take(b",\"code-iso-639-3\":")?;
            let code = at.string()?;
            if number < MAX_LANGUAGES && !code.is_empty() {
                found.push(code);
            }
            at.take(b",\"text-covered\":")?;
            at.number()?;
            at.take(b",\"score\":")?;
            at.number()?;
            at.take(b",\"name\":")?;
            at.string()?;
            at.take(b"}")?;
            if at.take(b",").is_none() {
                break;
            }
        }
        at.take(b"]")?;
    }
    at.take(b"}")?;
    at.0.is_empty().then_some(found)
}

struct Json<'a>(&'a [u8]);

impl<'a> Json<'a> {
    fn take(&mut self, what: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(what)?;
        Some(())
    }

    /// A number as nearly all are: digits, perhaps a point and digits.
    fn number(&mut self) -> Option<()> {
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = digits(self.0);
        if !(1..16).contains(&end) || (end > 1 && self.0[0] == b'0') {
            return None;
        }
        if self.0.get(end) == Some(&b'.') {
            let more = digits(&self.0[end + 1..]);
            if more == 0 {
                return None;
            }
            end += 1 + more;
        }
        self.0 = &self.0[end..];
        Some(())
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        self.take(b"\"")?;
        let end = memchr::memchr3(b'"', b'\\', b'\t', self.0).filter(|&end| self.0[end] == b'"')?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }
}
#[cfg(test)]
mod tests {
    use super::{codes, detected, http_date, start, Extra};

    const NO: Extra = Extra { id: false, last_modified: false };

    const HEADER: &[u8] = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-05T10:00:09Z\r\n\
        WARC-Record-ID: <urn:a>\r\nWARC-Target-URI: http://e.org/\"\r\nContent-Type: application/http; msgtype=response\r\n\
        WARC-Payload-Digest: sha1:ABC\r\nWARC-Truncated: length\r\n\r\n";

    #[test]
    fn usual_response_begins_a_line() {
        let found =
            start(HEADER, b"HTTP/1.1 301 X\r\nContent-type: a/b;c\r\nLocation: http://f.org/\r\n\r\n", false, NO)
                .unwrap();
        assert_eq!(found.key.unwrap(), b"org,e)/\"");
        assert_eq!(&found.timestamp, b"20260105100009");
        assert_eq!(
            String::from_utf8(found.front).unwrap(),
            r#"{"url": "http://e.org/\"", "mime": "a/b", "status": "301", "digest": "ABC""#
        );
        assert_eq!(String::from_utf8(found.back).unwrap(), r#", "truncated": "length", "redirect": "http://f.org/""#);
    }

    #[test]
    fn odd_responses_are_left_to_python() {
        let page = b"HTTP/1.1 200 OK\r\n\r\n";
        assert!(start(HEADER, page, true, NO).is_some());
        for (from, to) in [
            ("sha1:ABC", "md5:ABC"),
            ("sha1:ABC", "sha1:"),
            ("sha1:ABC", "sha1:\tABC"),
            ("09Z", "09+"),
            ("application/http", "text/plain"),
            ("WARC-Record-ID", "WARC-Date"),
            ("<urn:a>", "\u{e9}"),
        ] {
            let header = String::from_utf8(HEADER.to_vec()).unwrap().replace(from, to);
            assert!(start(header.as_bytes(), page, false, NO).is_none(), "{to}");
        }
        for block in
            [&b"HTTP/1.1 2000 OK\r\n\r\n"[..], b"HTTP/1.1 OK\r\n\r\n", b"HTTP/1.1 301 X\r\nLocation: /a\r\n\r\n"]
        {
            assert!(start(HEADER, block, false, NO).is_none());
        }
    }

    #[test]
    fn metadata_of_the_crawler_is_read() {
        let header = b"WARC/1.0\r\nContent-Type: application/warc-fields\r\nWARC-Concurrent-To: <urn:a>\r\n\r\n";
        let block = b"fetchTimeMs: 2\r\ncharset-detected: UTF-8\r\n\r\n";
        let found = detected(header, block).unwrap();
        assert_eq!((found.charset, found.references, found.url), (Some(&b"UTF-8"[..]), vec![&b"<urn:a>"[..]], None));
        let one = r#"{"code":"no","code-iso-639-3":"nor","text-covered":0.5,"score":9.0,"name":"N"}"#;
        let four = format!(r#"{{"reliable":true,"text-bytes":9,"languages":[{one},{one},{one},{one}]}}"#);
        assert_eq!(codes(four.as_bytes()).unwrap(), vec![b"nor"; 3]);
        let empty = four.replacen("nor", "", 1).replacen("nor", "eng", 1);
        assert_eq!(codes(empty.as_bytes()).unwrap(), [b"eng", b"nor"]);
        assert!(codes(br#"{"reliable":false,"text-bytes":0}"#).unwrap().is_empty());
        for odd in ["{}", r#"{"reliable":false,"text-bytes":00}"#, r#"{"reliable":false,"text-bytes":1.}"#] {
            assert!(codes(odd.as_bytes()).is_none());
        }
        assert!(codes(four.replace("nor", "n\\u").as_bytes()).is_none());
    }

    #[test]
    fn extra_fields_stand_behind_all_others() {
        let of = |moment: &str| {
            let block = format!("HTTP/1.1 200 X\r\nLast-Modified: {moment}\r\n\r\n");
            let found = start(HEADER, block.as_bytes(), false, Extra { id: true, last_modified: true })?;
            String::from_utf8(found.back).ok()
        };
        let bare = r#", "truncated": "length", "recordid": "urn:a""#;
        assert_eq!(of("").unwrap(), bare);
        let moment = of("Fri, 02 Jan 2026 03:04:05 GMT").unwrap();
        assert_eq!(moment, format!(r#"{bare}, "last-modified": "20260102030405""#));
        assert_eq!(of("2026-01-02"), None);
    }

    #[test]
    fn usual_dates_are_read() {
        for (value, digits) in [
            ("Thu, 29 Feb 2024 23:59:59 GMT", b"20240229235959"),
            ("Tue, 29 Feb 2000 00:00:00 GMT", b"20000229000000"),
            ("Xxx, 31 Dec 1999 10:20:30 GMT", b"19991231102030"),
        ] {
            assert_eq!(http_date(value.as_bytes()).unwrap(), *digits, "{value}");
        }
        for odd in [
            "Thu, 29 Feb 2023 23:59:59 GMT",
            "Thu, 29 Feb 1900 23:59:59 GMT",
            "Thu, 00 Feb 2024 23:59:59 GMT",
            "Thu, 31 Nov 2024 23:59:59 GMT",
            "Thu, 30 Nov 2024 24:59:59 GMT",
            "Thu, 30 Nov 2024 23:60:59 GMT",
            "Thu, 30 Nov 2024 23:59:60 GMT",
            "Thu, 30 Nov 0024 23:59:59 GMT",
            "Thu, 30 Nix 2024 23:59:59 GMT",
            "Thu, 30 nov 2024 23:59:59 GMT",
            "Thu, 30 Nov 2024 23:59:59 UTC",
            "Thu, 3 Nov 2024 23:59:59 GMT ",
            "Thursday, 30-Nov-24 23:59:59 GMT",
            "",
        ] {
            assert_eq!(http_date(odd.as_bytes()), None, "{odd}");
        }
    }
}
