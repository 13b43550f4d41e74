//! What the header and the first bytes of an HTML page say of its encoding: the twin of parts of `crawlmill.formats.payload.charset`.

use memchr::memmem;

use crate::http::Response;
use crate::lines::graphic;

/// Bytes at the beginning of a page in which it may declare its encoding.
const PRESCANNED: usize = 8 << 10;

/// Labels of encodings that keep ASCII, of which servers send these most.
const KEEP_ASCII: [&[u8]; 36] = [
    b"iso-8859-1",
    b"us-ascii",
    b"ascii",
    b"latin1",
    b"windows-1250",
    b"windows-1251",
    b"windows-1252",
    b"windows-1253",
    b"windows-1254",
    b"windows-1255",
    b"windows-1256",
    b"windows-1257",
    b"windows-1258",
    b"iso-8859-2",
    b"iso-8859-3",
    b"iso-8859-4",
    b"iso-8859-5",
    b"iso-8859-6",
    b"iso-8859-7",
    b"iso-8859-8",
    b"iso-8859-9",
    b"iso-8859-13",
    b"iso-8859-15",
    b"iso-8859-16",
    b"gb2312",
    b"gbk",
    b"gb18030",
    b"big5",
    b"euc-jp",
    b"euc-kr",
    b"shift_jis",
    b"koi8-r",
    b"koi8-u",
    b"tis-620",
    b"windows-874",
    b"ibm866",
];

const BIG: Encoding = Encoding::Utf16(u16::from_be_bytes);
const LITTLE: Encoding = Encoding::Utf16(u16::from_le_bytes);

/// What a response is to a counter of tags.
#[derive(Debug)]
pub enum Kind {
    /// No HTML.
    Other,
    /// HTML, whose header states this encoding.
    Stated(Encoding),
    /// HTML, whose header states no encoding.
    Unstated,
}

/// How ASCII stands in a page.
#[derive(Clone, Copy, Debug)]
pub enum Encoding {
    Utf8,
    /// Another one, or one that the page states itself.
    KeepsAscii,
    /// In this order of bytes.
    Utf16(fn([u8; 2]) -> u16),
    Iso2022Jp,
}

/// What the Content-Type says of a response; None if that needs a closer look.
pub fn kind(response: &Response<'_>) -> Option<Kind> {
    let value = graphic(response.values(b"Content-Type").next().unwrap_or_default())?;
    let (media, parameters) = value.split_at(memchr::memchr2(b';', b',', value).unwrap_or(value.len()));
    let media = graphic(media)?;
    if !(media.eq_ignore_ascii_case(b"text/html") || media.eq_ignore_ascii_case(b"application/xhtml+xml")) {
        return Some(Kind::Other);
    }
    let Some(label) = charset(parameters)? else {
        return Some(Kind::Unstated);
    };
    let is = |known: &&[u8]| known.eq_ignore_ascii_case(label);
    let encoding = if is(&&b"utf-8"[..]) || is(&&b"utf8"[..]) {
        Encoding::Utf8
    } else if KEEP_ASCII.iter().any(is) {
        Encoding::KeepsAscii
    } else if is(&&b"utf-16be"[..]) {
        BIG
    } else if is(&&b"utf-16"[..]) || is(&&b"utf-16le"[..]) {
        LITTLE
    } else if is(&&b"iso-2022-jp"[..]) {
        Encoding::Iso2022Jp
    } else {
        return None;
    };
    Some(Kind::Stated(encoding))
}

/// The label that parameters give as `;charset=utf-8` or `; charset="utf-8"`, Some(None) without one; None if they
/// give it otherwise.
fn charset(parameters: &[u8]) -> Option<Option<&[u8]>> {
    const NAME: &[u8] = b"charset";
    let Some(at) = parameters.windows(NAME.len()).position(|found| found.eq_ignore_ascii_case(NAME)) else {
        return Some(None);
    };
    let before = *parameters.get(at.checked_sub(1)?)?;
    let mut value = parameters[at + NAME.len()..].strip_prefix(b"=")?;
    let mut closing: &[u8] = b" ;,";
    if let [quote @ (b'"' | b'\''), rest @ ..] = value {
        closing = std::slice::from_ref(quote);
        value = rest;
    }
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let length = value.iter().position(|byte| !is_label(byte)).unwrap_or(value.len());
    let closed = match value.get(length) {
        Some(behind) => closing.contains(behind),
        None => closing.len() > 1,
    };
    (matches!(before, b';' | b',' | b' ') && length > 0 && closed).then(|| Some(&value[..length]))
}

/// The encoding of a page of this kind; None if it may declare to be UTF-16 or ISO-2022-JP.
pub fn encoding(page: &[u8], kind: &Kind) -> Option<Encoding> {
    if page.starts_with(b"\xef\xbb\xbf") {
        return Some(Encoding::Utf8);
    }
    if page.starts_with(b"\xfe\xff") {
        return Some(BIG);
    }
    if page.starts_with(b"\xff\xfe") {
        return Some(LITTLE);
    }
    if let Kind::Stated(encoding) = kind {
        return Some(*encoding);
    }
    let head = &page[..page.len().min(PRESCANNED)];
    let declares = |at: usize| {
        let before = head[..at].strip_suffix(b"-").unwrap_or(&head[..at]);
        before.len() >= 3 && before[before.len() - 3..].eq_ignore_ascii_case(b"iso")
    };
    let may =
        memmem::find(&head[..head.len().min(8)], b"\0?\0").is_some() || memmem::find_iter(head, b"2022").any(declares);
    (!may).then_some(Encoding::KeepsAscii)
}

#[cfg(test)]
mod tests {
    use super::{encoding, kind, Encoding, Kind, BIG};
    use crate::http::Response;

    fn of(content_type: &str) -> Option<String> {
        let block = format!("HTTP/1.1 200 OK\r\n{content_type}\r\n\r\n");
        let kind = kind(&Response::of(block.as_bytes()).unwrap())?;
        Some(match kind {
            Kind::Other => "other".into(),
            Kind::Unstated => "unstated".into(),
            Kind::Stated(encoding) => encoding_name(encoding, b"\0a"),
        })
    }

    fn encoding_name(encoding: Encoding, page: &[u8]) -> String {
        match encoding {
            Encoding::Utf8 => "utf-8".into(),
            Encoding::KeepsAscii => "ascii".into(),
            Encoding::Utf16(unit) => format!("utf-16 {}", unit([page[0], page[1]])),
            Encoding::Iso2022Jp => "jp".into(),
        }
    }

    #[test]
    fn usual_content_types_are_read() {
        for value in ["", "Content-Type:", "Content-Type: image/png", "Content-Type: text/plain; charset=utf-16"] {
            assert_eq!(of(&format!("X: y\r\n{value}")).unwrap(), "other", "{value}");
        }
        for value in ["text/html", "TEXT/HTML ; x=y", "application/xhtml+xml, a", "text/html;char=utf-8"] {
            assert_eq!(of(&format!("content-type:{value}")).unwrap(), "unstated", "{value}");
        }
        for (value, expected) in [
            ("UTF-8", "utf-8"),
            ("\"utf8\"", "utf-8"),
            ("'Shift_JIS'; x=y", "ascii"),
            ("big5 ", "ascii"),
            ("gbk,text/html", "ascii"),
            ("UTF-16", "utf-16 24832"),
            ("utf-16le", "utf-16 24832"),
            ("utf-16BE", "utf-16 97"),
            ("ISO-2022-jp", "jp"),
        ] {
            assert_eq!(of(&format!("Content-Type: text/html; charset={value}")).unwrap(), expected, "{value}");
        }
    }

    #[test]
    fn unusual_content_types_are_left_to_python() {
        for value in [
            "text/html; charset=unicode",
            "text/html; charset=strange",
            "text/html; charset=",
            "text/html; charset = utf-8",
            "text/html; xcharset=utf-8",
            "text/html; charset=\"utf-8",
            "text/html; charset=utf-8\"",
            "text/html; charset=\" utf-8\"",
            "text/html; charset=utf-8/x",
            "text/h\u{e9}",
            "text/html\x0b",
        ] {
            assert_eq!(of(&format!("Content-Type: {value}")), None, "{value}");
        }
    }

    #[test]
    fn encoding_is_what_mark_and_header_say() {
        let name = |page: &[u8], kind: &Kind| encoding(page, kind).map(|found| encoding_name(found, b"\0a"));
        assert_eq!(name(b"\xef\xbb\xbf<p>", &Kind::Unstated).unwrap(), "utf-8");
        for page in [&b""[..], b"<p>", b"<p>2022 iso-2021 is-2022", b"<title>\0?\0"] {
            assert_eq!(name(page, &Kind::Unstated).unwrap(), "ascii", "{page:?}");
        }
        for page in [&b"<meta charset=ISO-2022-jp>"[..], b"csiso2022jp", b"<\0?\0x\0", b"\0<\0?\0x"] {
            assert_eq!(name(page, &Kind::Unstated), None, "{page:?}");
            assert_eq!(name(page, &Kind::Stated(Encoding::Iso2022Jp)).unwrap(), "jp", "{page:?}");
        }
        assert_eq!(name(b"\xff\xfe<\0", &Kind::Stated(BIG)).unwrap(), "utf-16 24832");
        assert_eq!(name(b"\xfe\xff\0<", &Kind::Unstated).unwrap(), "utf-16 97");
        assert_eq!(name(b"\xef\xbb\xbf", &Kind::Stated(BIG)).unwrap(), "utf-8");
    }
}
