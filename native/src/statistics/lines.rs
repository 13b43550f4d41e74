//! Captures as lines for the shuffle: the twin of `crawlmill.analysis.statistics.page`, for lines as nearly all are.
//!
//! Hosts are known by what Python says of them, once for each that is met; no list of suffixes is read here.

use hashbrown::HashMap;
use libdeflater::crc32;
use sha1::{Digest, Sha1};

use crate::index_lines::{parse_usual, Usual};
use crate::sort::sums::write_number;
use crate::statistics::counted::Counted;

/// Into so many the domains are dealt out, as in Python.
pub const PARTITIONS: u32 = 997;

/// Hosts that are kept.
const MAX_HOSTS: usize = 1 << 15;

/// What is known of hosts, by their text as URLs have it.
pub struct Hosts<T> {
    known: HashMap<Box<[u8]>, T>,
}

impl<T> Default for Hosts<T> {
    fn default() -> Hosts<T> {
        Hosts { known: HashMap::new() }
    }
}

impl<T> Hosts<T> {
    /// What `ask` says of a host, unless it was asked before.
    pub fn get<E>(&mut self, host: &[u8], ask: impl FnOnce(&[u8]) -> Result<T, E>) -> Result<&T, E> {
        if !self.known.contains_key(host) {
            if self.known.len() >= MAX_HOSTS {
                self.known.clear();
            }
            self.known.insert(host.into(), ask(host)?);
        }
        Ok(&self.known[host])
    }
}

/// What Python says of a host: the host, its domain and its suffix, as texts of JSON.
pub struct HostParts {
    /// Domain NUL host NUL.
    place: Vec<u8>,
    tld: Vec<u8>,
    /// None if there is no domain, so that the URL decides.
    partition: Option<u32>,
}

impl HostParts {
    pub fn new(host: &[u8], domain: &[u8], tld: &[u8]) -> HostParts {
        let place = [domain, b"\0", host, b"\0"].concat();
        let partition = (!domain.is_empty()).then(|| crc32(domain) % PARTITIONS);
        HostParts { place, tld: tld.to_vec(), partition }
    }
}

/// A URL as nearly all are: its scheme and its host, without a port.
pub struct UsualUrl<'a> {
    pub scheme: &'static [u8],
    pub host: &'a [u8],
    /// From the path on.
    pub rest: &'a [u8],
}

/// The parts of a URL of http or https whose host is letters, digits, `.`, `-` and `_`; None of any other.
pub fn usual_url(url: &[u8]) -> Option<UsualUrl<'_>> {
    let colon = memchr::memchr(b':', &url[..url.len().min(6)])?;
    let scheme: &[u8] = match &url[..colon] {
        scheme if scheme.eq_ignore_ascii_case(b"http") => b"http",
        scheme if scheme.eq_ignore_ascii_case(b"https") => b"https",
        _ => return None,
    };
    let rest = url[colon + 1..].strip_prefix(b"//")?;
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (host, port) = match memchr::memchr(b':', authority) {
        None => (authority, &b""[..]),
        Some(at) => (&authority[..at], &authority[at + 1..]),
    };
    let usual = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (host.iter().all(usual) && port.iter().all(u8::is_ascii_digit)).then_some(UsualUrl { scheme, host, rest })
}

/// The fields that statistics of crawls ask for; None is one that is missing, empty or `-`.
#[derive(Default)]
struct Fields<'a> {
    url: Option<&'a [u8]>,
    mime: Option<&'a [u8]>,
    detected: Option<&'a [u8]>,
    status: Option<&'a [u8]>,
    digest: Option<&'a [u8]>,
    filename: &'a [u8],
    charset: Option<&'a [u8]>,
    languages: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    /// The fields of a line. None if it is not usual, or has fields under the names that CDX APIs give them.
    fn of(line: &'a [u8]) -> Option<(Usual<'a>, Fields<'a>)> {
        let mut fields = Fields::default();
        let usual = parse_disk_line(line, |name, value| {
            let said = said(value);
            match name {
                b"url" => fields.url = said,
                b"mime" => fields.mime = said,
                b"mime-detected" => fields.detected = said,
                b"status" => fields.status = said,
                b"digest" => fields.digest = said,
                b"filename" => fields.filename = value,
                b"charset" => fields.charset = said,
                b"languages" => fields.languages = said,
                _ => {}
            }
        })?;
        Some((usual, fields))
    }
}

/// Takes the fields of a line apart. None if it is not usual, or has fields under the names that CDX APIs give them.
pub fn parse_disk_line<'a>(line: &'a [u8], mut take: impl FnMut(&'a [u8], &'a [u8])) -> Option<Usual<'a>> {
    let mut is_of_api = false;
    let usual = parse_usual(line, |name, value| {
        is_of_api |= matches!(name, b"original" | b"mimetype" | b"statuscode" | b"encoding");
        take(name, value);
    })?;
    (!is_of_api).then_some(usual)
}

/// A field's text; None if it says nothing.
pub fn said(value: &[u8]) -> Option<&[u8]> {
    (!value.is_empty() && value != b"-").then_some(value)
}

/// The number that a status is; -1 if it is none.
fn status_number(status: Option<&[u8]>) -> i64 {
    match status {
        Some(text) if text.len() < 10 && text.iter().all(u8::is_ascii_digit) => {
            text.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
        }
        _ => -1,
    }
}

/// The id of a crawl in the name of a file, the last one: `CC-MAIN-2024-10`.
fn crawl_in(name: &[u8]) -> Option<&[u8]> {
    let digits = |at: usize| name[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut found, mut at) = (None, 0);
    while let Some(start) = memchr::memmem::find(&name[at..], b"CC-").map(|start| at + start) {
        at = start + 1;
        let letters = name[start + 3..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let year = start + 3 + letters + 1;
        if letters == 0 || name.get(year - 1) != Some(&b'-') || digits(year) != 4 {
            continue;
        }
        at = year + 4;
        if name.get(at) == Some(&b'-') {
            let more = digits(at + 1);
            at += if (2..=4).contains(&more) { 1 + more } else { 0 };
        }
        found = Some(&name[start..at]);
    }
    found
}

/// Where a line is that Python has to take: its number, and its bytes.
pub type Left = (usize, usize, usize);

/// What `take` appends for each line of a text, and those for which it gives false.
pub fn each_line<E>(
    text: &[u8],
    mut take: impl FnMut(&[u8], &mut Vec<u8>) -> Result<bool, E>,
) -> Result<(Vec<u8>, Vec<Left>), E> {
    let (mut out, mut left, mut start) = (Vec::with_capacity(text.len() / 2), Vec::new(), 0);
    for (number, end) in memchr::memchr_iter(b'\n', text).enumerate() {
        if !take(&text[start..end], &mut out)? {
            left.push((number, start, end));
        }
        start = end + 1;
    }
    Ok((out, left))
}

/// Makes the lines of the captures of many indexes, and counts what needs no shuffle.
pub struct StatisticsLines {
    hosts: Hosts<HostParts>,
    /// Whether lines of digests are made too.
    exact: bool,
    pub counted: Counted,
}

impl StatisticsLines {
    pub fn new(exact: bool) -> StatisticsLines {
        StatisticsLines { hosts: Hosts::default(), exact, counted: Counted::default() }
    }

    /// The lines of whole lines of an index, and those that are left; `ask` is asked for the parts of hosts.
    pub fn add<E>(
        &mut self,
        text: &[u8],
        crawl: Option<&[u8]>,
        mut ask: impl FnMut(&[u8]) -> Result<HostParts, E>,
    ) -> Result<(Vec<u8>, Vec<Left>), E> {
        each_line(text, |line, out| self.line(line, crawl, out, &mut ask))
    }

    /// Take one line; false if it is not usual, and nothing was done.
    fn line<E>(
        &mut self,
        line: &[u8],
        crawl: Option<&[u8]>,
        out: &mut Vec<u8>,
        ask: impl FnOnce(&[u8]) -> Result<HostParts, E>,
    ) -> Result<bool, E> {
        let Some((usual, fields)) = Fields::of(line) else {
            return Ok(false);
        };
        let (Some(url), Some(surt)) = (fields.url, usual.surt_domain()) else {
            return Ok(false);
        };
        let Some(parts) = usual_url(url) else {
            return Ok(false);
        };
        let host = self.hosts.get(parts.host, ask)?;
        let crawl = crawl.or_else(|| crawl_in(fields.filename)).unwrap_or(b"unknown");
        let status = status_number(fields.status);
        let counts = self.counted.of(crawl);
        let is_robots = memchr::memmem::find(fields.filename, b"/robotstxt/").is_some();
        *counts.seen.entry((status, is_robots)).or_default() += 1;
        if is_robots {
            write_start(b'r', host, &Sha1::digest(url).into(), crawl, out);
            write_number(status.into(), out);
            out.push(b'\n');
            return Ok(true);
        }
        if status != 200 {
            return Ok(true);
        }
        let sha1: [u8; 20] = Sha1::digest(url).into();
        counts.url.get_or_insert_default().add(first_eight(&sha1));
        write_start(b'p', host, &sha1, crawl, out);
        let none = &b""[..];
        for (at, text) in [
            surt,
            &host.tld,
            parts.scheme,
            fields.mime.unwrap_or(b"unk"),
            fields.detected.unwrap_or(none),
            fields.charset.unwrap_or(none),
            fields.languages.unwrap_or(none),
        ]
        .into_iter()
        .enumerate()
        {
            if at > 0 {
                out.push(0);
            }
            out.extend_from_slice(text);
        }
        out.push(b'\n');
        if let Some(digest) = fields.digest {
            let digest = digest.strip_prefix(b"sha1:").unwrap_or(digest);
            counts.digest.get_or_insert_default().add(crate::sha1::sha1_start(digest));
            if self.exact {
                write_number((crc32(digest) % PARTITIONS).into(), out);
                out.extend_from_slice(b"\td");
                out.extend_from_slice(digest);
                out.push(0);
                out.extend_from_slice(crawl);
                out.push(b'\n');
            }
        }
        Ok(true)
    }
}

/// Partition, kind, domain, host, URL and crawl, and what ends the last of them.
fn write_start(kind: u8, host: &HostParts, sha1: &[u8; 20], crawl: &[u8], out: &mut Vec<u8>) {
    let partition = host.partition.unwrap_or_else(|| crc32(sha1) % PARTITIONS);
    write_number(partition.into(), out);
    out.extend([b'\t', kind]);
    out.extend_from_slice(&host.place);
    write_base64(sha1, out);
    out.push(0);
    out.extend_from_slice(crawl);
    out.push(0);
}

fn first_eight(sha1: &[u8; 20]) -> u64 {
    sha1[..8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Appends 20 bytes in base 64 (RFC 4648, section 4), with its padding.
pub fn write_base64(bytes: &[u8; 20], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for three in bytes.chunks(3) {
        let number = three.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)) << (8 * (3 - three.len()));
        out.extend((0..=three.len()).map(|at| DIGITS[number >> (18 - 6 * at) & 63]));
    }
    out.push(b'=');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(lines: &mut StatisticsLines, text: &str, crawl: Option<&[u8]>) -> (String, Vec<Left>) {
        let ask = |host: &[u8]| Ok::<_, ()>(HostParts::new(host, b"e.org", b"org"));
        let (out, left) = lines.add(text.as_bytes(), crawl, ask).unwrap();
        (String::from_utf8(out).unwrap(), left)
    }

    #[test]
    fn pages_and_digests_have_lines() {
        let mut lines = StatisticsLines::new(true);
        let text =
            "org,e)/ 20240101000000 {\"url\": \"http://www.e.org:80/\", \"status\": \"200\", \"digest\": \"sha1:A\", \
                    \"filename\": \"x/CC-MAIN-2024-10/a/CC-MAIN-20240101-1.warc.gz\"}\n";
        let (out, left) = added(&mut lines, text, None);
        // CRC-32 of "e.org" and "A", and the SHA-1 of the URL, by Python's zlib, hashlib and base64.
        let page =
            "850\tpe.org\0www.e.org\0eN3t28yRp5EBVSPZkifgbCd/AQU=\0CC-MAIN-2024-10\0org,e\0org\0http\0unk\0\0\0\n";
        assert_eq!(out, format!("{page}322\tdA\0CC-MAIN-2024-10\n"));
        assert_eq!(left, []);
        let counts = lines.counted.of(b"CC-MAIN-2024-10");
        assert_eq!((counts.seen.len(), counts.seen[&(200, false)]), (1, 1));
    }

    #[test]
    fn lines_that_are_not_usual_are_left() {
        let mut lines = StatisticsLines::new(false);
        let good = "org,e)/ 20240101000000 {\"url\": \"http://e.org/\", \"status\": \"200\"}\n";
        for (from, to) in [
            ("http://e", "http://u@e"),
            ("http://e", "ftp://e"),
            ("e.org", "[::1]"),
            ("e.org", "e%41.org"),
            ("e.org", "e.org:8a"),
            ("http://", "http:/"),
            ("\"status\"", "\"statuscode\""),
            ("\"url\"", "\"original\""),
            ("http://e.org/", "-"),
            ("http://e.org/", ""),
            ("org,e)", "\u{e9})"),
            ("org,e)", "\"e)"),
            ("\"200\"", "200"),
        ] {
            let odd = good.replacen(from, to, 1);
            assert_eq!(added(&mut lines, &odd, None), (String::new(), vec![(0, 0, odd.len() - 1)]), "{odd}");
        }
        assert_eq!(added(&mut lines, &format!("x\n{good}"), Some(b"C")).1, [(0, 0, 1)]);
        assert_eq!(lines.counted.of(b"C").seen[&(200, false)], 1);
    }

    #[test]
    fn crawls_are_known_by_their_files() {
        for (name, crawl) in [
            ("crawl-data/CC-MAIN-2024-10/segments/1/warc/CC-MAIN-20240220-20240221-0.warc.gz", Some("CC-MAIN-2024-10")),
            ("CC-NEWS-2016/x", Some("CC-NEWS-2016")),
            ("CC-MAIN-2008-2009", Some("CC-MAIN-2008-2009")),
            ("CC-MAIN-2008-20091", Some("CC-MAIN-2008")),
            ("CC-MAIN-2008-1", Some("CC-MAIN-2008")),
            ("CC-CC-MAIN-2013-20", Some("CC-MAIN-2013-20")),
            ("CC-A-2013-20CC-B-2014-10", Some("CC-B-2014-10")),
            ("CC--2013-20", None),
            ("CC-main-2013-20", None),
            ("CC-MAIN-20240", None),
            ("CC-MAIN", None),
            ("CC-", None),
        ] {
            assert_eq!(crawl_in(name.as_bytes()), crawl.map(str::as_bytes), "{name}");
        }
    }

    #[test]
    fn statuses_are_numbers() {
        for (text, number) in
            [("200", 200), ("007", 7), ("-1", -1), ("2x", -1), ("1234567890", -1), ("123456789", 123_456_789)]
        {
            assert_eq!(status_number(Some(text.as_bytes())), number);
        }
        assert_eq!(status_number(None), -1);
    }
}
