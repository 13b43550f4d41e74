//! Bodies without their codings, and pages in an encoding that keeps ASCII: the twin of parts of
//! `crawlmill.formats.payload.codings` and `crawlmill.formats.payload.charset`, for codings and pages without a fault.

use crate::http::Response;
use crate::member::{Member, Members};
use crate::page::{encoding, Encoding, Kind};

/// Bytes of a buffer that is kept for the next body.
const MAX_KEPT: usize = 1 << 20;

/// Decodes bodies; holds the buffers for that.
#[derive(Default)]
pub struct Bodies {
    members: Option<Box<Members>>,
    joined: Vec<u8>,
    inflated: Vec<u8>,
    page: Vec<u8>,
}

impl Bodies {
    /// The bytes of an HTML page, of which `most` may come out of its codings, in which ASCII means ASCII.
    ///
    /// None if that needs a closer look.
    pub fn page<'a>(&'a mut self, response: &Response<'a>, kind: &Kind, most: usize) -> Option<&'a [u8]> {
        self.encoded_page(response, kind, most).map(|(page, _)| page)
    }

    /// The same, and the encoding of these bytes: UTF-8, or the one that the page had before.
    pub fn encoded_page<'a>(
        &'a mut self,
        response: &Response<'a>,
        kind: &Kind,
        most: usize,
    ) -> Option<(&'a [u8], Encoding)> {
        for buffer in [&mut self.joined, &mut self.inflated, &mut self.page] {
            buffer.truncate(MAX_KEPT);
            buffer.shrink_to(MAX_KEPT);
        }
        let mut body = response.body;
        // What does not begin like its coding was decoded before it was stored.
        let may_be_chunked = matches!(body.first(), Some(b' ' | b'\t' | b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F'));
        if has_coding(response, b"Transfer-Encoding", &[b"chunked"])? && may_be_chunked {
            self.joined.clear();
            join_chunks(body, &mut self.joined)?;
            body = &self.joined;
        }
        if has_coding(response, b"Content-Encoding", &[b"gzip", b"x-gzip"])? && body.starts_with(b"\x1f\x8b\x08") {
            let member = Member::of(body).filter(|member| member.size() <= most)?;
            let members = self.members.get_or_insert_with(|| Box::new(Members::new()));
            body = members.inflate(member, &mut self.inflated)?;
        }
        self.page.clear();
        let mut encoding = encoding(body, kind)?;
        match encoding {
            Encoding::Utf8 | Encoding::KeepsAscii => return Some((body, encoding)),
            Encoding::Utf16(unit) => {
                utf16_to_utf8(body, unit, &mut self.page)?;
                encoding = Encoding::Utf8;
            }
            Encoding::Iso2022Jp => iso_2022_jp_to_euc(body, &mut self.page)?,
        }
        Some((&self.page, encoding))
    }
}

/// Whether the header names this coding and no other; None if it names others, or several.
fn has_coding<'a>(response: &Response<'a>, header: &'a [u8], names: &[&[u8]]) -> Option<bool> {
    let mut values = response.values(header);
    let Some(value) = values.next() else {
        return Some(false);
    };
    (values.next().is_none() && names.iter().any(|name| name.eq_ignore_ascii_case(value))).then_some(true)
}

/// Appends the data of chunks. None unless all of them are there, and the body is empty only if it is so by its first.
fn join_chunks(mut body: &[u8], joined: &mut Vec<u8>) -> Option<()> {
    loop {
        let digits = body.iter().take(16).position(|byte| !byte.is_ascii_hexdigit()).filter(|&digits| digits > 0)?;
        let size = usize::from_str_radix(std::str::from_utf8(&body[..digits]).ok()?, 16).ok()?;
        body = &body[digits..];
        if body.starts_with(b";") {
            let end = memchr::memchr(b'\n', body)?; // of an extension
            body = &body[end - 1..];
        }
        body = body.strip_prefix(b"\r\n")?;
        if size == 0 {
            return (!joined.is_empty()).then_some(());
        }
        joined.extend_from_slice(body.get(..size)?);
        body = body[size..].strip_prefix(b"\r\n")?;
    }
}

/// Appends a text without faults, in UTF-8 and without its byte order mark.
fn utf16_to_utf8(page: &[u8], unit: fn([u8; 2]) -> u16, text: &mut Vec<u8>) -> Option<()> {
    let pairs = page.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let units = pairs.map(|pair| unit([pair[0], pair[1]])).enumerate();
    let units = units.filter(|&(at, unit)| at > 0 || unit != 0xfeff).map(|(_, unit)| unit);
    for character in char::decode_utf16(units) {
        let character = character.ok()?;
        if character.is_ascii() {
            text.push(character as u8);
        } else {
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Some(())
}

/// Appends a page in EUC-JP, if all of it is ASCII and whole segments of JIS X 0208.
fn iso_2022_jp_to_euc(page: &[u8], text: &mut Vec<u8>) -> Option<()> {
    if !page.is_ascii() || memchr::memchr2(0x0e, 0x0f, page).is_some() {
        return None;
    }
    let mut rest = page;
    while let Some(at) = memchr::memchr(0x1b, rest) {
        text.extend_from_slice(&rest[..at]);
        rest = rest[at..].strip_prefix(b"\x1b$").filter(|rest| matches!(rest.first(), Some(b'@' | b'B')))?;
        let end = memchr::memchr(0x1b, rest)?;
        let pairs = &rest[1..end];
        if pairs.len() % 2 == 1 || !pairs.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        text.extend(pairs.iter().map(|byte| byte | 0x80));
        rest = rest[end..].strip_prefix(b"\x1b(B")?;
    }
    text.extend_from_slice(rest);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{iso_2022_jp_to_euc, join_chunks, utf16_to_utf8};

    #[test]
    fn chunks_are_joined() {
        let joined = |body: &[u8]| {
            let mut joined = Vec::new();
            join_chunks(body, &mut joined).map(|()| joined)
        };
        assert_eq!(
            joined(b"3\r\nabc\r\n00000000000000a\r\n0123456789\r\n0\r\nX: y\r\n\r\nz").unwrap(),
            b"abc0123456789"
        );
        for odd in [
            &b""[..],
            b"0\r\n\r\n",
            b"3\r\nabc\r\n",
            b"3\r\nabc\r\n0",
            b"3\nabc\r\n0\r\n",
            b"3 \r\nabc\r\n0\r\n",
            b"3;\nabc\r\n0\r\n",
            b"3;\r\r",
            b"3\r\nabcd\r\n0\r\n",
            b"4\r\nabc",
            b"ffffffffffffffff\r\n",
            b"fffffffffffffff\r\n",
            b"-1\r\n",
            b"\r\n",
        ] {
            assert_eq!(joined(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn utf_16_is_turned_into_utf_8() {
        let turned = |page: &[u8]| {
            let mut text = Vec::new();
            utf16_to_utf8(page, u16::from_be_bytes, &mut text).map(|()| text)
        };
        assert_eq!(turned(b"\0<\0\xe4\xd8\x3d\xde\x00").unwrap(), "<ä\u{1f600}".as_bytes());
        assert_eq!(turned(b"\xfe\xff\xfe\xff\0a").unwrap(), "\u{feff}a".as_bytes());
        assert_eq!(turned(b"\0<\0"), None);
        assert_eq!(turned(b"\xd8\x3d\0<"), None);
    }

    #[test]
    fn iso_2022_jp_is_turned_into_euc() {
        let turned = |page: &[u8]| {
            let mut text = Vec::new();
            iso_2022_jp_to_euc(page, &mut text).map(|()| text)
        };
        assert_eq!(turned(b"<p>\x1b$B!\"~!\x1b(B</p>\x1b$@\x1b(B").unwrap(), b"<p>\xa1\xa2\xfe\xa1</p>");
        for odd in [
            &b"\x1b$B!\x1b(B"[..],
            b"\x1b$B! \x1b(B",
            b"\x1b$B!!",
            b"\x1b(J",
            b"\x1b",
            b"\x1b$",
            b"\x1b$C!!\x1b(B",
            b"\xe9",
            b"\x0e",
        ] {
            assert_eq!(turned(odd), None, "{odd:?}");
        }
    }
}
