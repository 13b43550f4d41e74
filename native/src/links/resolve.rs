//! References as the URL standard resolves them, where base and reference are usual: the twin of parts of
//! `crawlmill.urls.standard`. Usual are http and https URLs with a name for a host, and opaque URLs such as
//! `mailto:a@b`.

/// What a reference means.
#[derive(Debug, PartialEq)]
pub enum Link {
    /// The URL that was written.
    Url,
    /// No URL.
    None,
}

/// A URL to resolve against: without its fragment.
pub struct Base {
    /// Where the authority begins, where the path begins and ends, in `text`.
    authority: usize,
    path: usize,
    query: usize,
    text: Vec<u8>,
}

impl Base {
    /// The base that an absolute URL is; None if it is unusual.
    pub fn of(url: &[u8]) -> Option<Base> {
        let url = cleaned(url)?;
        let (https, rest) = web(url)?;
        let mut text = Vec::with_capacity(url.len() + 8);
        write_scheme(https, &mut text);
        match write_authority(https, rest, &mut text)? {
            (Link::Url, rest) => Some(Base::from(https, rest, text)?),
            _ => None,
        }
    }

    fn from(https: bool, rest: &[u8], mut text: Vec<u8>) -> Option<Base> {
        let authority = if https { 8 } else { 7 };
        let path = text.len();
        let (before, _) = cut(rest, b'#');
        let (segments, query) = cut(before, b'?');
        write_path(path, segments, &mut text)?;
        let end = text.len();
        write_query(query, &mut text);
        Some(Base { authority, path, query: end, text })
    }

    /// The base that a base element makes of this one; None if it is unusual.
    pub fn rebased(&self, reference: &[u8]) -> Option<Base> {
        let mut target = Vec::new();
        match self.resolve(reference, &mut target)? {
            Link::Url => Base::of(&target),
            Link::None => None,
        }
    }

    /// Writes the URL that a reference means; None if it is unusual.
    pub fn resolve(&self, reference: &[u8], target: &mut Vec<u8>) -> Option<Link> {
        let reference = cleaned(reference)?;
        if let Some((https, rest)) = web(reference) {
            write_scheme(https, target);
            return absolute(https, rest, target);
        }
        if let Some(rest) = reference.strip_prefix(b"//") {
            if rest.starts_with(b"/") {
                return None;
            }
            target.extend_from_slice(&self.text[..self.authority]);
            return absolute(self.authority == 8, rest, target);
        }
        if let Some(length) = scheme_length(reference) {
            return opaque(reference, length, target);
        }
        let (before, fragment) = cut(reference, b'#');
        let (path, query) = cut(before, b'?');
        if path.is_empty() {
            let kept = if query.is_some() { self.query } else { self.text.len() };
            target.extend_from_slice(&self.text[..kept]);
        } else if path[0] == b'/' {
            target.extend_from_slice(&self.text[..self.path]);
            write_path(self.path, path, target)?;
        } else {
            let directory = memchr::memrchr(b'/', &self.text[self.path..self.query])?;
            target.extend_from_slice(&self.text[..self.path + directory]);
            write_segments(self.path, path, target)?;
        }
        write_query(query, target);
        write_fragment(fragment, target);
        Some(Link::Url)
    }
}

/// The text without blanks around it; None if it has what the standard drops or turns around, or controls.
fn cleaned(mut text: &[u8]) -> Option<&[u8]> {
    while let [first, rest @ ..] = text {
        if *first > b' ' {
            break;
        }
        text = rest;
    }
    while let [rest @ .., last] = text {
        if *last > b' ' {
            break;
        }
        text = rest;
    }
    (!text.iter().any(|&byte| byte < b' ' || byte == b'\\' || byte == 0x7f)).then_some(text)
}

/// What follows `http://` or `https://` (then true), in any case.
fn web(url: &[u8]) -> Option<(bool, &[u8])> {
    let starts = |scheme: &[u8]| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if starts(b"http://") {
        Some((false, &url[7..]))
    } else if starts(b"https://") {
        Some((true, &url[8..]))
    } else {
        None
    }
}

fn write_scheme(https: bool, target: &mut Vec<u8>) {
    target.extend_from_slice(if https { b"https://" } else { b"http://" });
}

/// Writes what follows the scheme and its slashes.
fn absolute(https: bool, rest: &[u8], target: &mut Vec<u8>) -> Option<Link> {
    let (link, rest) = write_authority(https, rest, target)?;
    if link == Link::None {
        return Some(link);
    }
    let (before, fragment) = cut(rest, b'#');
    let (path, query) = cut(before, b'?');
    write_path(target.len(), path, target)?;
    write_query(query, target);
    write_fragment(fragment, target);
    Some(Link::Url)
}

/// Writes a host that is a name, and a port that is not the usual one; what follows is given back.
fn write_authority<'a>(https: bool, rest: &'a [u8], target: &mut Vec<u8>) -> Option<(Link, &'a [u8])> {
    if rest.is_empty() {
        return Some((Link::None, rest));
    }
    let length = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(length);
    let (host, port) = cut(authority, b':');
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let name = host.strip_suffix(b".").unwrap_or(host);
    let last = name.rsplit(|&byte| byte == b'.').next()?;
    if !(host.iter().all(in_name) && last.first()?.is_ascii_alphabetic() || is_address(host)) {
        return None;
    }
    target.extend(host.iter().map(u8::to_ascii_lowercase));
    if let Some(digits) = port {
        if digits.len() > 5 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        if !digits.is_empty() {
            let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
            if number > 0xffff {
                return Some((Link::None, rest));
            }
            if number != if https { 443 } else { 80 } {
                target.extend_from_slice(format!(":{number}").as_bytes());
            }
        }
    }
    Some((Link::Url, rest))
}

/// Whether this is an IPv4 address as it is written out.
fn is_address(host: &[u8]) -> bool {
    let is_number = |part: &[u8]| {
        let digits = (1..4).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
        digits && (part.len() == 1 || part[0] != b'0') && (part.len() < 3 || part <= b"255".as_slice())
    };
    host.split(|&byte| byte == b'.').filter(|part| is_number(part)).count() == 4
        && host.iter().filter(|&&byte| byte == b'.').count() == 3
}

/// Writes a path that begins with "/", or is empty; `start` is where the path begins in `target`.
fn write_path(start: usize, path: &[u8], target: &mut Vec<u8>) -> Option<()> {
    if path.is_empty() {
        target.push(b'/');
        return Some(());
    }
    write_segments(start, &path[1..], target)
}

/// Appends segments to a path, without those of dots.
fn write_segments(start: usize, path: &[u8], target: &mut Vec<u8>) -> Option<()> {
    let mut segments = path.split(|&byte| byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let dots = match segment {
            b"." => true,
            b".." => {
                let kept = memchr::memrchr(b'/', &target[start..]).unwrap_or(0);
                target.truncate(start + kept);
                true
            }
            _ => false,
        };
        if !dots {
            let odd = segment.get(..3).is_some_and(|first| first.eq_ignore_ascii_case(b"%2e"));
            if odd || (segment.starts_with(b".") && segment.len() == 4) {
                return None; // it may be dots that are written otherwise
            }
            target.push(b'/');
            encode(segment, |byte| matches!(byte, b' ' | b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'}'), target);
        } else if segments.peek().is_none() {
            target.push(b'/');
        }
    }
    Some(())
}

fn write_query(query: Option<&[u8]>, target: &mut Vec<u8>) {
    if let Some(query) = query {
        target.push(b'?');
        encode(query, |byte| matches!(byte, b' ' | b'"' | b'<' | b'>' | b'\''), target);
    }
}

fn write_fragment(fragment: Option<&[u8]>, target: &mut Vec<u8>) {
    if let Some(fragment) = fragment {
        target.push(b'#');
        encode(fragment, |byte| matches!(byte, b' ' | b'"' | b'<' | b'>' | b'`'), target);
    }
}

fn encode(text: &[u8], odd: impl Fn(u8) -> bool, target: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in text {
        if byte >= 0x80 || odd(byte) {
            target.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        } else {
            target.push(byte);
        }
    }
}

/// The text before the first such byte, and what follows it, if there is one.
fn cut(text: &[u8], byte: u8) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(byte, text) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// The length of the scheme that a reference begins with.
fn scheme_length(reference: &[u8]) -> Option<usize> {
    let length =
        reference.iter().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')))?;
    (reference[length] == b':' && reference[0].is_ascii_alphabetic()).then_some(length)
}

/// Writes an opaque URL, such as `mailto:a@b`.
fn opaque(reference: &[u8], length: usize, target: &mut Vec<u8>) -> Option<Link> {
    const SPECIAL: [&[u8]; 6] = [b"http", b"https", b"ws", b"wss", b"ftp", b"file"];
    let (scheme, rest) = reference.split_at(length);
    let is_special = SPECIAL.iter().any(|special| special.eq_ignore_ascii_case(scheme));
    if is_special || rest.starts_with(b":/") || !rest.is_ascii() || memchr::memchr2(b'?', b'#', rest).is_some() {
        return None;
    }
    target.extend(scheme.iter().map(u8::to_ascii_lowercase));
    target.extend_from_slice(rest);
    Some(Link::Url)
}

#[cfg(test)]
mod tests {
    use super::{Base, Link};

    fn resolved(base: &str, reference: &str) -> Option<Option<String>> {
        let mut target = Vec::new();
        let link = Base::of(base.as_bytes())?.resolve(reference.as_bytes(), &mut target)?;
        Some((link == Link::Url).then(|| String::from_utf8(target).unwrap()))
    }

    #[test]
    fn usual_references_are_resolved() {
        let base = "HTTP://A.Example:080/b/c;d?e#f";
        for (reference, expected) in [
            ("", "http://a.example/b/c;d?e"),
            ("#é g", "http://a.example/b/c;d?e#%C3%A9%20g"),
            ("?x'", "http://a.example/b/c;d?x%27"),
            (" g\u{0} ", "http://a.example/b/g"),
            ("./g/", "http://a.example/b/g/"),
            ("../../../g", "http://a.example/g"),
            ("..", "http://a.example/"),
            (".", "http://a.example/b/"),
            ("g//../h", "http://a.example/b/g/h"),
            ("/g/./h/../{i}", "http://a.example/g/%7Bi%7D"),
            ("//B.example", "http://b.example/"),
            ("https://b.example:8443?x", "https://b.example:8443/?x"),
            ("https://b.example.:443/", "https://b.example./"),
            ("http://192.0.2.255:80", "http://192.0.2.255/"),
            ("Mailto:A b@c", "mailto:A b@c"),
            ("javascript:a(\"b\")", "javascript:a(\"b\")"),
            ("g:h", "g:h"),
            ("%20/..g/...", "http://a.example/b/%20/..g/..."),
        ] {
            assert_eq!(resolved(base, reference).unwrap().unwrap(), expected, "{reference}");
        }
        assert_eq!(resolved("http://a.example", "g").unwrap().unwrap(), "http://a.example/g");
        for none in ["http://", "https://a.example:99999/"] {
            assert_eq!(resolved(base, none), Some(None), "{none}");
        }
    }

    #[test]
    fn unusual_references_are_left_to_python() {
        for reference in [
            "a\\b",
            "a\tb",
            "http:a",
            "http:/a",
            "http:///a",
            "///a",
            "ftp://a.example/",
            "http://1.2.3.256/",
            "http://a.0x1/",
            "http://1.2.3/",
            "http://01.2.3.4/",
            "http://1.2.3.4./",
            "http://1.2.3.4.5/",
            "http://1.2.3.4.a1.5/",
            "http://u@a.example/",
            "http://é.example/",
            "http://[::1]/",
            "http://a%41.example/",
            "%2e/a",
            "a/%2E%2e",
            ".%2e",
            "file:a",
            "a:/b",
            "mailto:é",
            "x:a#b",
            "http://a.example:8a/",
            "\u{7f}",
        ] {
            assert_eq!(resolved("http://a.example/b/c", reference), None, "{reference}");
        }
        for base in ["/a", "mailto:a", "http://1.2.3.256/", "http://"] {
            assert!(Base::of(base.as_bytes()).is_none(), "{base}");
        }
    }
}
