//! The inside of JSON strings.

use std::io::Write;

use memchr::memchr2;

/// Appends a text, UTF-8 or ASCII, as Python's JSON writes it without `ensure_ascii`.
pub fn push_text(text: &[u8], out: &mut Vec<u8>) {
    if text.iter().fold(false, |found, &byte| found | (byte < b' ')) {
        text.iter().for_each(|&byte| push_byte(byte, out));
        return;
    }
    let mut rest = text;
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend([b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn push_byte(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend([b'\\', byte]),
        b'\n' => out.extend(b"\\n"),
        b'\r' => out.extend(b"\\r"),
        b'\t' => out.extend(b"\\t"),
        0x08 => out.extend(b"\\b"),
        0x0c => out.extend(b"\\f"),
        ..0x20 => {
            // Writing to a vector never fails.
            let _ = write!(out, "\\u{byte:04x}");
        }
        _ => out.push(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::push_text;

    fn text(text: &str) -> String {
        let mut out = Vec::new();
        push_text(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_json_needs_is_escaped() {
        assert_eq!(text(""), "");
        assert_eq!(text("\"a\"\\\u{7f}\u{e9}"), "\\\"a\\\"\\\\\u{7f}\u{e9}");
        assert_eq!(text("\"\0\u{1f}\\\t\r\n\u{8}\u{c}\u{e9}"), "\\\"\\u0000\\u001f\\\\\\t\\r\\n\\b\\f\u{e9}");
    }
}
