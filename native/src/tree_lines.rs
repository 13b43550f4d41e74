//! The CDXJ lines of items of a prefix tree: the twin of `crawlmill.indexes.prefix_tree.lines`.

use std::io::Write;
use std::str::from_utf8;

use crate::surt::urlkey;
use crate::tree_keys::push_reversed;

const SCHEMES: [&[u8]; 3] = [b"http", b"https", b"ftp"];
const MAX_MS: u64 = 253_402_300_799_999; // the last millisecond of the year 9999

/// Appends the line of an item; None, and nothing appended, for a key that needs a closer look.
///
/// `value` has 28 bytes, or 32 with the length of the record.
pub fn push_line(key: &[u8], value: &[u8], lines: &mut Vec<u8>) -> Option<()> {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if !key.iter().all(plain) {
        return None;
    }
    let url = url_of(key);
    let urlkey = urlkey(&url)?;
    let (url, key) = (from_utf8(&url).ok()?, from_utf8(key).ok()?);
    let long = |at: usize| Some(u64::from_le_bytes(value.get(at..at + 8)?.try_into().ok()?));
    let short = |at: usize| Some(u32::from_le_bytes(value.get(at..at + 4)?.try_into().ok()?));
    let (segment, date_ms, partition, offset) = (long(0)?, long(8)?, short(16)?, long(20)?);
    let length = short(28).map_or(String::new(), |length| format!(r#""length": "{length}", "#));
    lines.extend_from_slice(&urlkey);
    writeln!(
        lines,
        concat!(
            r#" {time} {{"url": "{url}", {length}"offset": "{offset}", "filename": "#,
            r#""common-crawl/parse-output/segment/{segment}/{date_ms}_{partition}.arc.gz", "key": "{key}"}}"#
        ),
        time = timestamp(date_ms),
        url = url,
        length = length,
        offset = offset,
        segment = segment,
        date_ms = date_ms,
        partition = partition,
        key = key,
    )
    .ok()
}

/// The URL of a key, which has its host reversed and may end with a port and a scheme.
fn url_of(key: &[u8]) -> Vec<u8> {
    let end = key.iter().position(|byte| matches!(byte, b'/' | b'?' | b':')).unwrap_or(key.len());
    let (host, tail) = key.split_at(end);
    let is_scheme = |(_, last): &(&[u8], &[u8])| SCHEMES.contains(last);
    let (tail, scheme) = cut_last(tail).filter(is_scheme).unwrap_or((tail, b"http"));
    let is_port = |(_, last): &(&[u8], &[u8])| !last.is_empty() && last.iter().all(u8::is_ascii_digit);
    let (rest, port) = cut_last(tail).filter(is_port).unwrap_or((tail, b""));
    let mut url = [scheme, b"://"].concat();
    push_reversed(host, &mut url);
    if !port.is_empty() {
        url.push(b':');
        url.extend_from_slice(port);
    }
    url.extend_from_slice(rest);
    url
}

/// What is before and behind the last colon.
fn cut_last(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memrchr(b':', text)?;
    Some((&text[..colon], &text[colon + 1..]))
}

/// A time in milliseconds since 1970 as 14 digits; all zeros if it is after the year 9999.
fn timestamp(ms: u64) -> String {
    if ms > MAX_MS {
        return "0".repeat(14);
    }
    let seconds = ms / 1000;
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    loop {
        let in_year = 365 + u64::from(is_leap(year));
        if days < in_year {
            break;
        }
        days -= in_year;
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for in_month in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < in_month {
            break;
        }
        days -= in_month;
        month += 1;
    }
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}{month:02}{:02}{hour:02}{minute:02}{:02}", days + 1, second % 60)
}

fn is_leap(year: u64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

#[cfg(test)]
mod tests {
    use super::{push_line, timestamp, url_of};

    #[test]
    fn keys_have_urls() {
        for (key, url) in [
            ("com.example.www/foo:http", "http://www.example.com/foo"),
            ("com.example/p?q=1:8080:http", "http://example.com:8080/p?q=1"),
            ("com.example:https", "https://example.com"),
            ("com.example/a:b", "http://example.com/a:b"),
            ("com.example/a:http:80", "http://example.com:80/a:http"),
            ("com.example?x:ftp", "ftp://example.com?x"),
            (":http", "http://"),
        ] {
            assert_eq!(String::from_utf8(url_of(key.as_bytes())).unwrap(), url);
        }
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (ms, digits) in [
            (0, "19700101000000"),
            (951_782_400_000, "20000229000000"),
            (1_346_864_005_350, "20120905165325"),
            (4_107_542_399_999, "21000228235959"),
            (253_402_300_799_999, "99991231235959"),
            (253_402_300_800_000, "00000000000000"),
        ] {
            assert_eq!(timestamp(ms), digits);
        }
    }

    #[test]
    fn lines_are_those_of_plain_keys() {
        let value = [&1u64.to_le_bytes()[..], &0u64.to_le_bytes(), &2u32.to_le_bytes(), &3u64.to_le_bytes()].concat();
        let mut lines = Vec::new();
        push_line(b"com.a/b:http", &value, &mut lines).unwrap();
        assert_eq!(
            String::from_utf8(lines.clone()).unwrap(),
            "com,a)/b 19700101000000 {\"url\": \"http://a.com/b\", \"offset\": \"3\", \"filename\": \
             \"common-crawl/parse-output/segment/1/0_2.arc.gz\", \"key\": \"com.a/b:http\"}\n"
        );
        for hard in [&b"com.a/\"b:http"[..], b"com.a/\xc3\xa4:http", b"com.a\x7f"] {
            assert_eq!(push_line(hard, &value, &mut lines), None);
        }
    }
}
