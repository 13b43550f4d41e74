//! Urlkeys of URLs as nearly all are: the twin of `crawlmill.urls.surt`, which takes the others.

use crate::lines::trim;

/// The key of a URL; None if it needs a closer look.
///
/// Usual: http or https, a host of names in ASCII or four decimal numbers, perhaps a port, no session ids, no stray
/// white space.
pub fn urlkey(url: &[u8]) -> Option<Vec<u8>> {
    if url.iter().any(|byte| matches!(byte, b'\t'..=b'\r')) || trim(url).len() != url.len() {
        return None;
    }
    let colon = memchr::memchr(b':', &url[..url.len().min(6)])?;
    let default: &[u8] = match &url[..colon] {
        scheme if scheme.eq_ignore_ascii_case(b"http") => b"80",
        scheme if scheme.eq_ignore_ascii_case(b"https") => b"443",
        _ => return None,
    };
    let rest = url[colon + 1..].strip_prefix(b"//")?;
    let rest = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let question = memchr::memchr(b'?', rest).unwrap_or(rest.len());
    let (path, query) = rest.split_at(question);
    let mut key = Vec::with_capacity(url.len() + 8);
    push_authority(authority, default, &mut key)?;
    let start = key.len();
    push_path(path, &mut key);
    if memchr::memchr(b'(', &key[start..]).is_some() && memchr::memmem::find(&key[start..], b".aspx").is_some() {
        return None;
    }
    if key.len() > start + 1 && key.ends_with(b"/") {
        key.pop();
    }
    if query.len() > 1 {
        push_query(&query[1..], &mut key)?;
    }
    Some(key)
}

/// Appends the labels of a host, the last one first, its port, and a parenthesis.
fn push_authority(authority: &[u8], default: &[u8], key: &mut Vec<u8>) -> Option<()> {
    let (host, port) = match memchr::memchr(b':', authority) {
        None => (authority, &b""[..]),
        Some(colon) => {
            let port = &authority[colon + 1..];
            let usual = (1..6).contains(&port.len()) && port.iter().all(u8::is_ascii_digit);
            let number = std::str::from_utf8(port).ok()?.parse::<u32>().ok()?;
            if !usual || number > 0xffff {
                return None;
            }
            let zeros = port.iter().take_while(|&&digit| digit == b'0').count();
            (&authority[..colon], &port[zeros..])
        }
    };
    let host = without_www(host);
    let is_address = is_address(host);
    for (at, label) in host.rsplit(|&byte| byte == b'.').enumerate() {
        // A last label that begins with a letter is of no address.
        let usual = label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if !usual || label.is_empty() || (at == 0 && !is_address && !label[0].is_ascii_alphabetic()) {
            return None;
        }
        if at > 0 {
            key.push(b',');
        }
        key.extend(label.iter().map(u8::to_ascii_lowercase));
    }
    if !port.is_empty() && port != default {
        key.push(b':');
        key.extend_from_slice(port);
    }
    key.push(b')');
    Some(())
}

/// Whether a host is an address as it is written in keys: four numbers below 256, without zeros in front.
pub fn is_address(host: &[u8]) -> bool {
    let is_number = |label: &[u8]| {
        (1..4).contains(&label.len())
            && label.iter().all(u8::is_ascii_digit)
            && (label[0] != b'0' || label.len() == 1)
            && label.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')) < 256
    };
    host.iter().filter(|&&byte| byte == b'.').count() == 3
        && host[0] != b'0'
        && host.split(|&byte| byte == b'.').all(is_number)
}

fn without_www(host: &[u8]) -> &[u8] {
    if host.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(b"www")) {
        let digits = host[3..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if let Some(b'.') = host.get(3 + digits) {
            return &host[4 + digits..];
        }
    }
    host
}

/// Appends a path without empty segments, `.`, and `..` that have something to take back.
fn push_path(path: &[u8], key: &mut Vec<u8>) {
    let path = unescape(path);
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    key.push(b'/');
    let last = kept.pop().unwrap_or_default();
    for segment in kept.into_iter().filter(|segment| !segment.is_empty()) {
        push_escaped(segment, key);
        key.push(b'/');
    }
    push_escaped(last, key);
}

/// Appends a question mark and a query, its arguments in order of name and value.
fn push_query(query: &[u8], key: &mut Vec<u8>) -> Option<()> {
    let mut escaped = Vec::with_capacity(query.len() + 8);
    push_escaped(&unescape(query), &mut escaped);
    if may_hold_session(&escaped) {
        return None;
    }
    key.push(b'?');
    if memchr::memchr(b'&', &escaped).is_none() {
        key.extend_from_slice(&escaped);
        return Some(());
    }
    let mut arguments: Vec<(&[u8], Option<&[u8]>)> = escaped
        .split(|&byte| byte == b'&')
        .map(|argument| match memchr::memchr(b'=', argument) {
            None => (argument, None),
            Some(at) => (&argument[..at], Some(&argument[at + 1..])),
        })
        .collect();
    arguments.sort_unstable();
    for (at, (name, value)) in arguments.into_iter().enumerate() {
        if at > 0 {
            key.push(b'&');
        }
        key.extend_from_slice(name);
        if let Some(value) = value {
            key.push(b'=');
            key.extend_from_slice(value);
        }
    }
    Some(())
}

/// Whether there may be a session id: 32 letters and digits, or what ASP and ColdFusion wrote.
fn may_hold_session(query: &[u8]) -> bool {
    let id = |at: usize| {
        // What tells 32 bytes from more: to look for the end of the value would take quadratic time for "id=id=id=".
        let value = &query[at + 3..query.len().min(at + 3 + 33)];
        let value = value.split(|&byte| byte == b'&').next().unwrap_or_default();
        value.len() == 32 && value.iter().all(u8::is_ascii_alphanumeric)
    };
    memchr::memmem::find_iter(query, b"id=").any(id)
        || [&b"aspsessionid"[..], b"&cftoken="].iter().any(|what| memchr::memmem::find(query, what).is_some())
}

/// A text with its escapes undone, and those that appear when they are.
fn unescape(text: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'%', text) else {
        return text.into();
    };
    let mut done = text[..first].to_vec();
    for &byte in &text[first..] {
        done.push(byte);
        while let [.., b'%', high, low] = done[..] {
            let (Some(high), Some(low)) = (digit(high), digit(low)) else {
                break;
            };
            done.truncate(done.len() - 3);
            done.push(high << 4 | low);
        }
    }
    done.into()
}

fn digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Appends a text in lower case, with all but printable ASCII, `%` and `#` as escapes.
fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        if byte.is_ascii_graphic() && byte != b'%' && byte != b'#' {
            out.push(byte.to_ascii_lowercase());
        } else {
            out.push(b'%');
            out.extend([byte >> 4, byte & 15].map(|half| b"0123456789abcdef"[usize::from(half)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::urlkey;

    #[test]
    fn usual_urls_have_keys() {
        for (url, key) in [
            ("http://www.Example.com:80/A/../b/?y=2&x=1#top", "com,example)/b?x=1&y=2"),
            ("HTTPS://e.org:0443", "org,e)/"),
            ("http://e.org:0/?", "org,e)/"),
            ("http://www.com/%2541%c3%a9%E9//c/", "com)/a%c3%a9%e9/c"),
            ("http://a.b.c?b&a=2&a=1&a", "c,b,a)/?a&a=1&a=2&b"),
            ("http://203.0.113.9:81/", "9,113,0,203:81)/"),
            (
                "http://e.org/?sid=1&id=0123456789abcdef0123456789abcdefX",
                "org,e)/?id=0123456789abcdef0123456789abcdefx&sid=1",
            ),
        ] {
            assert_eq!(urlkey(url.as_bytes()).as_deref(), Some(key.as_bytes()), "{url}");
        }
    }

    #[test]
    fn odd_urls_are_left_to_python() {
        for url in [
            "",
            "ftp://e.org/",
            "http:/e.org/",
            "http://u@e.org/",
            "http://e.org./",
            "http://[::1]/",
            "http://e.org:/",
            "http://e.org:99999/",
            "http://\u{e9}.org/",
            "http://e.org/ ",
            "http://e.org/a\tb",
            "http://e.org/?sid=0123456789abcdef0123456789abcdef",
            "http://e.org/?PHPSESSID=0123456789ABCDEF0123456789ABCDEF&a",
            "http://e.org/?a&CFTOKEN=1",
            "http://1.2.3/",
            "http://1.2.3.04/",
            "http://1.2.3.256/",
            "http://0.2.3.4/",
            "http://e.org/(x)/a.aspx",
        ] {
            assert_eq!(urlkey(url.as_bytes()), None, "{url}");
        }
    }
}
