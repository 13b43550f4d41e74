//! The keys of URLs in a prefix tree: the twin of `crawlmill.indexes.prefix_tree.keys`.

use memchr::memchr;

/// The key of a URL without its scheme, and that scheme; None for what is not usual.
///
/// Usual: http or https, no port, no fragment, no empty query, no white space around it.
pub fn bare_key(url: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let colon = memchr(b':', &url[..url.len().min(6)])?;
    let (scheme, rest) = url.split_at(colon);
    let rest = rest.strip_prefix(b"://").filter(|_| matches!(scheme, b"http" | b"https"))?;
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b':')).unwrap_or(rest.len());
    let (host, rest) = rest.split_at(end);
    let usual = !rest.starts_with(b":")
        && memchr(b'#', rest).is_none()
        && memchr(b'?', rest).is_none_or(|at| at + 1 < rest.len())
        && !host.starts_with(b"*")
        && url.last()?.is_ascii_graphic();
    usual.then(|| {
        let mut key = Vec::with_capacity(url.len());
        push_reversed(host, &mut key);
        key.extend_from_slice(rest);
        (key, scheme)
    })
}

/// Appends the labels of a host, the last one first.
pub fn push_reversed(host: &[u8], out: &mut Vec<u8>) {
    for (number, label) in host.rsplit(|&byte| byte == b'.').enumerate() {
        if number > 0 {
            out.push(b'.');
        }
        out.extend_from_slice(label);
    }
}

#[cfg(test)]
mod tests {
    use super::bare_key;

    #[test]
    fn usual_urls_have_keys() {
        for (url, key) in [
            ("http://www.Example.com/Foo?q=1:2", "com.Example.www/Foo?q=1:2"),
            ("http://e.org", "org.e"),
            ("http://", ""),
            ("http://a..b./", ".b..a/"),
            ("http://e.org?a?", "org.e?a?"),
        ] {
            assert_eq!(bare_key(url.as_bytes()), Some((key.into(), &b"http"[..])), "{url}");
        }
        assert_eq!(bare_key(b"https://a.b/c"), Some((b"b.a/c".to_vec(), &b"https"[..])));
    }

    #[test]
    fn odd_urls_are_left_to_python() {
        for url in [
            "",
            "http",
            "http:/e.org",
            "e.org/",
            "HTTP://e.org/",
            "ftp://e.org/",
            "http://e.org:80/",
            "http://e.org/#",
            "http://e.org/?",
            "http://*.e.org/",
            "http://e.org/ ",
            "http://e.org/\u{a0}",
        ] {
            assert_eq!(bare_key(url.as_bytes()), None, "{url}");
        }
    }
}
