//! Lines of a CDX API's responses as the lines of clusters: the twin of `crawlmill.indexes.cdx_api.lines`.

use memchr::{memchr, memchr_iter};

use crate::index_lines::parse_usual;

/// The fields of a line after its key and its time, in the order of Common Crawl's lines.
const FIELDS: [&[u8]; 12] = [
    b"url",
    b"mime",
    b"mime-detected",
    b"status",
    b"digest",
    b"length",
    b"offset",
    b"filename",
    b"charset",
    b"languages",
    b"truncated",
    b"redirect",
];
const URL: usize = 0;
const CHARSET: usize = 8;
const NO_VALUE: &[u8] = b"-";
const DELETE: u8 = 0x7f;

/// The pairs of a line: known ones by their place in `FIELDS`, then the others as they come.
#[derive(Default)]
struct Pairs<'a> {
    known: [Option<&'a [u8]>; FIELDS.len()],
    others: Vec<(&'a [u8], &'a [u8])>,
    odd: bool,
    /// The place after that of the last known pair.
    next: usize,
    /// Where the next pair begins, counted from the first one.
    at: usize,
    /// Where the last known pair ends, while all are in order, have values, and only the server's own come after them.
    plain_to: Option<usize>,
    is_over: bool,
}

impl<'a> Pairs<'a> {
    fn take(&mut self, name: &'a [u8], value: &'a [u8]) {
        let end = self.at + name.len() + 4 + value.len();
        self.at = end + 4;
        let is_next = FIELDS.get(self.next).is_some_and(|&field| field == name);
        let place = match name {
            _ if is_next => Some(self.next),
            b"source" | b"source-coll" => {
                self.is_over = true;
                return;
            }
            // A line of its own form, or one that the server guessed: they are read in Python.
            b"urlkey" | b"timestamp" | b"is_fuzzy" | b"original" | b"mimetype" | b"statuscode" => {
                self.odd = true;
                return;
            }
            b"encoding" => Some(CHARSET),
            _ => FIELDS.iter().position(|&field| field == name),
        };
        match place {
            Some(place) => {
                self.odd |= self.known[place].replace(value).is_some();
                let is_plain = place >= self.next && FIELDS[place] == name && value != NO_VALUE && !self.is_over;
                self.plain_to = self.plain_to.filter(|_| is_plain).map(|_| end);
                self.next = place + 1;
            }
            None => {
                self.plain_to = None;
                self.odd |= self.others.iter().any(|&(other, _)| other == name);
                self.others.push((name, value));
            }
        }
    }

    fn write(&self, line: &mut Vec<u8>) {
        let known = FIELDS.iter().zip(self.known).filter_map(|(&name, value)| Some((name, value?)));
        let mut begins: &[u8] = b"{\"";
        for (name, value) in known.chain(self.others.iter().copied()).filter(|&(_, value)| value != NO_VALUE) {
            for part in [begins, name, b"\": \"", value] {
                line.extend_from_slice(part);
            }
            begins = b"\", \"";
        }
        line.extend_from_slice(b"\"}\n");
    }
}

/// Writes whole lines as CDXJ. None if any of them is not as servers write nearly all lines.
pub fn canonical(text: &[u8], found: &mut Vec<u8>) -> Option<()> {
    found.clear();
    found.reserve(text.len());
    let mut at = 0;
    for end in memchr_iter(b'\n', text) {
        let mut pairs = Pairs { plain_to: Some(0), ..Pairs::default() };
        let line = &text[at..end];
        let usual = parse_usual(line, |name, value| pairs.take(name, value))?;
        let has_url = pairs.known[URL].is_some_and(|url| url != NO_VALUE);
        let escaped = memchr(DELETE, line).is_some(); // by Python's JSON, though it may stand as it is
        if pairs.odd || escaped || !has_url || !usual.key.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        let json = usual.key.len() + usual.timestamp.len() + 2;
        if let Some(plain_to) = pairs.plain_to {
            found.extend_from_slice(&line[..json + 2 + plain_to]);
            found.extend_from_slice(b"\"}\n");
        } else {
            found.extend_from_slice(&line[..json]);
            pairs.write(found);
        }
        at = end + 1;
    }
    (at == text.len()).then_some(())
}

#[cfg(test)]
mod tests {
    fn canonical(text: &[u8]) -> Option<Vec<u8>> {
        let mut found = b"before".to_vec();
        super::canonical(text, &mut found).map(|()| found)
    }

    #[test]
    fn pairs_are_renamed_put_in_order_and_dropped() {
        let text = b"a)/ 20240101000000 {\"mime\": \"-\", \"url\": \"http://a/\", \"x\": \"1\", \"source\": \"c\", \
            \"languages\": \"eng\", \"encoding\": \"UTF-8\", \"length\": \"-1\"}\r\n";
        let line = b"a)/ 20240101000000 {\"url\": \"http://a/\", \"length\": \"-1\", \"charset\": \"UTF-8\", \
            \"languages\": \"eng\", \"x\": \"1\"}\n";
        assert_eq!(canonical(text).unwrap(), line);
        assert_eq!(canonical(line).unwrap(), line);
        assert_eq!(canonical(b"").unwrap(), b"");
    }

    #[test]
    fn pairs_in_order_are_taken_as_they_stand() {
        let of = |pairs: &str| canonical(format!("a)/ 20240101000000 {{{pairs}}}\r\n").as_bytes()).unwrap();
        let (url, status) = ("\"url\": \"http://a/\"", "\"status\": \"200\"");
        let line = format!("a)/ 20240101000000 {{{url}, {status}}}\n").into_bytes();
        for more in ["", ", \"source\": \"c\"", ", \"source\": \"c\", \"source-coll\": \"c\"", ", \"charset\": \"-\""] {
            assert_eq!(of(&format!("{url}, {status}{more}")), line, "{more}");
        }
        for pairs in [
            format!("{status}, {url}"),
            format!("\"source\": \"c\", {url}, {status}"),
            format!("{url}, \"source\": \"c\", {status}"),
            format!("{url}, \"mime\": \"-\", {status}"),
        ] {
            assert_eq!(of(&pairs), line, "{pairs}");
        }
        let charset = format!("a)/ 20240101000000 {{{url}, \"charset\": \"x\"}}\n").into_bytes();
        assert_eq!(of(&format!("{url}, \"encoding\": \"x\"")), charset);
        let other = format!("a)/ 20240101000000 {{{url}, {status}, \"x\": \"y\"}}\n").into_bytes();
        assert_eq!(of(&format!("{url}, \"x\": \"y\", {status}")), other);
    }

    #[test]
    fn other_lines_are_for_python() {
        for pairs in [
            "\"url\": \"-\"",
            "\"mime\": \"a\"",
            "\"url\": \"a\", \"url\": \"b\"",
            "\"url\": \"a\", \"x\": \"b\", \"x\": \"c\"",
            "\"url\": \"a\", \"charset\": \"b\", \"encoding\": \"c\"",
            "\"url\": \"a\", \"is_fuzzy\": \"1\"",
            "\"url\": \"a\", \"status\": 200",
        ] {
            assert_eq!(canonical(format!("a)/ 20240101000000 {{{pairs}}}\n").as_bytes()), None, "{pairs}");
        }
        for text in ["\n", "a)/ 20240101000000 {\"url\": \"a\"}", "a\u{e9})/ 20240101000000 {\"url\": \"a\"}\n"] {
            assert_eq!(canonical(text.as_bytes()), None, "{text}");
        }
    }
}
