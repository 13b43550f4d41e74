//! The Server headers of usual WAT records: the twin of `crawlmill.analysis.servers.wat_servers`, which says why keys
//! may be sought for in the text. What is not usual here is for that to judge.

use memchr::memmem::{find, rfind};

const RESPONSE: &[u8] = b"\"HTTP-Response-Metadata\":{";
const HEADERS: &[u8] = b"\"Headers\":{";
const WARC: &[u8] = b"\"WARC-Header-Metadata\":{";

/// What a record counts under.
#[derive(Debug, PartialEq)]
pub enum Servers<'a> {
    /// It does not describe a response.
    NoResponse,
    /// These, each once; nothing if there are none.
    Named(Vec<&'a str>),
    Unusual,
}

/// The servers of a WAT record.
pub fn servers(envelope: &[u8]) -> Servers<'_> {
    let text = trim(envelope);
    if !(text.starts_with(b"{") && text.ends_with(b"}")) {
        return Servers::Unusual;
    }
    let Some(response) = find(text, &RESPONSE[..RESPONSE.len() - 2]) else {
        let count = |byte| memchr::memchr_iter(byte, text).count();
        return if count(b'{') == count(b'}') { Servers::NoResponse } else { Servers::Unusual };
    };
    let usual = || {
        object_behind(text, response, RESPONSE)?;
        let headers = object_behind(text, response + find(&text[response..], HEADERS)?, HEADERS)?;
        let warc = object_behind(text, rfind(text, WARC)?, WARC)?;
        let named = server_values(headers)?; // headers that are no usual object may be damage, whatever the type
        Some(if warc_type(warc)? == "response" { Servers::Named(named) } else { Servers::NoResponse })
    };
    usual().unwrap_or(Servers::Unusual)
}

/// The text from the "{" on that ends this key, if it is one of an object.
fn object_behind<'a>(text: &'a [u8], at: usize, key: &[u8]) -> Option<&'a [u8]> {
    let before = *text.get(at.checked_sub(1)?)?;
    let is_key = matches!(before, b'{' | b',') && text[at..].starts_with(key);
    is_key.then(|| &text[at + key.len() - 1..])
}

fn warc_type(object: &[u8]) -> Option<&str> {
    let mut found = None;
    read_object(object, |key, value| {
        if key != b"WARC-Type" {
            return Some(());
        }
        match value {
            Value::Text(text) if found.is_none() => found = Some(plain(text)?),
            _ => return None,
        }
        Some(())
    })?;
    Some(found.unwrap_or("response"))
}

fn server_values(object: &[u8]) -> Option<Vec<&str>> {
    let mut names: Vec<&[u8]> = Vec::new();
    let mut servers = Vec::new();
    read_object(object, |key, value| {
        if !trim(key).eq_ignore_ascii_case(b"server") {
            return Some(());
        }
        if names.contains(&key) {
            return None; // the last one of a name holds
        }
        names.push(key);
        let values = match value {
            Value::Text(text) => vec![text],
            Value::List(texts) => texts,
        };
        for text in values {
            let server = std::str::from_utf8(trim(plain(text)?.as_bytes())).ok()?;
            if !(server.is_empty() || servers.contains(&server)) {
                servers.push(server);
            }
        }
        Some(())
    })?;
    Some(servers)
}

enum Value<'a> {
    Text(&'a [u8]),
    List(Vec<&'a [u8]>),
}

/// Reads an object, without a blank between its tokens, whose values are strings and lists of strings; strings are
/// given as they stand. None if it is anything else, or `each` says so.
fn read_object<'a>(object: &'a [u8], mut each: impl FnMut(&'a [u8], Value<'a>) -> Option<()>) -> Option<()> {
    let mut rest = object.strip_prefix(b"{")?;
    if rest.starts_with(b"}") {
        return Some(());
    }
    loop {
        let (key, behind) = read_string(rest)?;
        plain(key)?;
        let value;
        (value, rest) = read_value(behind.strip_prefix(b":")?)?;
        each(key, value)?;
        match rest.first()? {
            b',' => rest = &rest[1..],
            b'}' => return Some(()),
            _ => return None,
        }
    }
}

fn read_value(text: &[u8]) -> Option<(Value<'_>, &[u8])> {
    let Some(mut rest) = text.strip_prefix(b"[") else {
        let (string, rest) = read_string(text)?;
        return Some((Value::Text(string), rest));
    };
    let mut strings = Vec::new();
    loop {
        let string;
        (string, rest) = read_string(rest)?;
        strings.push(string);
        match rest.first()? {
            b',' => rest = &rest[1..],
            b']' => return Some((Value::List(strings), &rest[1..])),
            _ => return None,
        }
    }
}

/// The string that begins here, as it stands, and what follows it.
fn read_string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            break;
        }
        if !matches!(text.get(at + 1)?, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') {
            return None;
        }
        at += 2;
    }
    let string = &text[..at];
    let valid = string.iter().all(|&byte| byte >= 0x20) && std::str::from_utf8(string).is_ok();
    valid.then(|| (string, &text[at + 1..]))
}

/// What a string says that has no escapes.
fn plain(string: &[u8]) -> Option<&str> {
    if string.contains(&b'\\') {
        return None;
    }
    std::str::from_utf8(string).ok()
}

/// A text without the blanks around it, line ends among them.
pub fn trim(mut text: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c);
    while text.first().is_some_and(blank) {
        text = &text[1..];
    }
    while text.last().is_some_and(blank) {
        text = &text[..text.len() - 1];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{servers, Servers};

    fn envelope(kind: &str, headers: &str) -> String {
        format!(
            r#"{{"Envelope":{{"Payload-Metadata":{{"HTTP-Response-Metadata":{{"Headers":{headers}}}}},"WARC-Header-Metadata":{{"WARC-Type":"{kind}"}}}}}}"#
        )
    }

    fn named(headers: &str) -> Option<Vec<String>> {
        match servers(envelope("response", headers).as_bytes()) {
            Servers::Named(found) => Some(found.into_iter().map(str::to_owned).collect()),
            _ => None,
        }
    }

    #[test]
    fn usual_headers_are_read() {
        assert_eq!(named("{}").unwrap(), [""; 0]);
        assert_eq!(named(r#"{"Date":"x","Server":" nginx "}"#).unwrap(), ["nginx"]);
        assert_eq!(named(r#"{"server":["a","b","a"," "],"SERVER ":"ü","Nel":"{\"a\":1}"}"#).unwrap(), ["a", "b", "ü"]);
        assert_eq!(servers(envelope("revisit", "{}").as_bytes()), Servers::NoResponse);
        assert_eq!(servers(b" {\"Envelope\":{}}\n"), Servers::NoResponse);
    }

    #[test]
    fn unusual_headers_are_left_to_python() {
        for headers in [
            r#"{"Server":"a\"b"}"#,
            r#"{"Server":1}"#,
            r#"{"Server":null}"#,
            r#"{"Server":[]}"#,
            r#"{"Server":["a",1]}"#,
            r#"{"Server":{}}"#,
            r#"{"Server":"a","Server":"b"}"#,
            r#"{"Server": "a"}"#,
            r#"{"X":"\u0041"}"#,
            r#"{"\u0053erver":"a"}"#,
            r#"{"Server":"a",}"#,
            "{\"Server\":\"\u{1}\"}",
        ] {
            assert_eq!(named(headers), None, "{headers}");
        }
        for text in ["", "{", "[]", "{\"HTTP-Response-Metadata\":{}}", "{\"a\":\"{\"}", "x{}"] {
            assert_eq!(servers(text.as_bytes()), Servers::Unusual, "{text}");
        }
    }
}
