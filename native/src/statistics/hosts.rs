//! Captures grouped by host, domain, suffix or path: the twin of `crawlmill.analysis.statistics.groups`.

use std::collections::BTreeMap;

use libdeflater::crc32;
use sha1::{Digest, Sha1};

use crate::sort::sums::write_number;
use crate::statistics::lines::{each_line, parse_disk_line, said, usual_url, write_base64, Hosts, Left, PARTITIONS};

/// Makes the lines of captures for the shuffle.
pub struct GroupLines {
    /// By host, the JSON of its key, or of the host where segments of the path belong to it.
    keys: Hosts<Vec<u8>>,
    /// How many segments of paths belong to keys.
    segments: Option<usize>,
}

#[derive(Default)]
struct Fields<'a> {
    url: Option<&'a [u8]>,
    status: Option<&'a [u8]>,
    mime: Option<&'a [u8]>,
    digest: Option<&'a [u8]>,
    length: Option<&'a [u8]>,
    compressed_size: Option<&'a [u8]>,
}

impl GroupLines {
    pub fn new(segments: Option<usize>) -> GroupLines {
        GroupLines { keys: Hosts::default(), segments }
    }

    /// The lines of whole lines of an index, and those that are left; `ask` is asked for the keys of hosts.
    pub fn add<E>(
        &mut self,
        text: &[u8],
        mut ask: impl FnMut(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<(Vec<u8>, Vec<Left>), E> {
        each_line(text, |line, out| self.line(line, out, &mut ask))
    }

    /// Take one line; false if it is not usual, and nothing was done.
    fn line<E>(
        &mut self,
        line: &[u8],
        out: &mut Vec<u8>,
        ask: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<bool, E> {
        let mut fields = Fields::default();
        let found = parse_disk_line(line, |name, value| {
            let said = said(value);
            match name {
                b"url" => fields.url = said,
                b"status" => fields.status = said,
                b"mime" => fields.mime = said,
                b"digest" => fields.digest = said,
                b"length" => fields.length = said,
                b"compressedSize" => fields.compressed_size = said,
                _ => {}
            }
        });
        let (Some(usual), Some(url)) = (found, fields.url) else {
            return Ok(false);
        };
        let Some(parts) = usual_url(url) else {
            return Ok(false);
        };
        let key = self.keys.get(parts.host, ask)?;
        let start = out.len();
        match self.segments.filter(|_| key.ends_with(b"\"")) {
            None => write_start(key, out),
            Some(segments) => {
                let path = parts.rest.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
                let kept = path.split(|&byte| byte == b'/').filter(|segment| !segment.is_empty()).take(segments);
                let mut whole = key[..key.len() - 1].to_vec();
                whole.push(b'/');
                for (at, segment) in kept.enumerate() {
                    if at > 0 {
                        whole.push(b'/');
                    }
                    whole.extend_from_slice(segment);
                }
                whole.push(b'"');
                write_start(&whole, out);
            }
        }
        let end = out.len();
        out.push(b'c');
        write_base64(&Sha1::digest(url).into(), out);
        let size = fields.length.or(fields.compressed_size).unwrap_or_default();
        let is_number = (1..19).contains(&size.len()) && size.iter().all(u8::is_ascii_digit);
        let size = if is_number { size } else { b"0" };
        for text in [&usual.timestamp[..8], fields.status.unwrap_or(b"-"), fields.mime.unwrap_or(b"unk"), size] {
            out.push(0);
            out.extend_from_slice(text);
        }
        out.push(b'\n');
        if let Some(digest) = fields.digest {
            out.extend_from_within(start..end);
            out.push(b'd');
            out.extend_from_slice(digest.strip_prefix(b"sha1:").unwrap_or(digest));
            out.push(b'\n');
        }
        Ok(true)
    }
}

/// Partition and key.
fn write_start(key: &[u8], out: &mut Vec<u8>) {
    write_number((crc32(key) % PARTITIONS).into(), out);
    out.push(b'\t');
    out.extend_from_slice(key);
    out.push(0);
}

/// What is known of the captures of one key.
#[derive(Default)]
struct Group {
    captures: u64,
    urls: u64,
    digests: u64,
    bytes: i128,
    first: Vec<u8>,
    last: Vec<u8>,
    status: BTreeMap<Vec<u8>, u64>,
    mime: BTreeMap<Vec<u8>, u64>,
    before: Vec<u8>,
}

impl Group {
    fn take(&mut self, text: &[u8]) -> Option<()> {
        if let [b'd', ..] = text {
            self.digests += u64::from(self.before != text);
            replace(&mut self.before, text);
            return Some(());
        }
        let mut fields = text.split(|&byte| byte == 0);
        let (url, day) = (fields.next()?, fields.next()?);
        let (status, mime, size) = (fields.next()?, fields.next()?, fields.next()?);
        self.captures += 1;
        self.urls += u64::from(self.before != url);
        replace(&mut self.before, url);
        if self.captures == 1 || day < self.first.as_slice() {
            replace(&mut self.first, day);
        }
        if day > self.last.as_slice() {
            replace(&mut self.last, day);
        }
        count(&mut self.status, status);
        count(&mut self.mime, mime);
        self.bytes += std::str::from_utf8(size).ok()?.parse::<i128>().ok()?;
        fields.next().is_none().then_some(())
    }

    fn write(&self, out: &mut Vec<u8>) {
        for (name, number) in
            [(&b"{\"captures\":"[..], self.captures), (b",\"urls\":", self.urls), (b",\"digests\":", self.digests)]
        {
            out.extend_from_slice(name);
            write_number(number.into(), out);
        }
        for (name, day) in [(&b",\"first\":\""[..], &self.first), (b",\"last\":\"", &self.last)] {
            out.extend_from_slice(name);
            let (year, rest) = day.split_at(day.len().min(4));
            let (month, rest) = rest.split_at(rest.len().min(2));
            out.extend_from_slice(&[year, month, rest].join(&b'-'));
            out.push(b'"');
        }
        for (name, counts) in [(&b",\"status\":{"[..], &self.status), (b",\"mime\":{", &self.mime)] {
            out.extend_from_slice(name);
            for (at, (name, &number)) in counts.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b",\"" } else { b"\"" });
                out.extend_from_slice(name);
                out.extend_from_slice(b"\":");
                write_number(number.into(), out);
            }
            out.push(b'}');
        }
        out.extend_from_slice(b",\"bytes\":");
        write_number(self.bytes, out);
        out.push(b'}');
    }
}

fn count(counts: &mut BTreeMap<Vec<u8>, u64>, name: &[u8]) {
    if let Some(number) = counts.get_mut(name) {
        *number += 1;
    } else {
        counts.insert(name.to_vec(), 1);
    }
}

fn replace(text: &mut Vec<u8>, by: &[u8]) {
    text.clear();
    text.extend_from_slice(by);
}

/// Takes sorted lines and gives a line for each key.
pub struct SortedGroups {
    /// Groups of fewer captures are left out.
    least: u64,
    /// Whether the groups are to be ranked: `null TAB [captures,key,row]` in place of `key TAB row`.
    ranked: bool,
    key: Vec<u8>,
    group: Group,
    out: Vec<u8>,
}

impl SortedGroups {
    pub fn new(least: u64, ranked: bool) -> SortedGroups {
        SortedGroups { least, ranked, key: Vec::new(), group: Group::default(), out: Vec::new() }
    }

    /// Take more whole lines; gives what is whole. None if one of them is no line of a group.
    pub fn add(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
            let line = text.get(start..end).unwrap_or_default();
            start = end + 1;
            if line.is_empty() {
                continue;
            }
            let line = &line[memchr::memchr(b'\t', line)? + 1..];
            let end = memchr::memchr(0, line)?;
            if line[..end] != self.key {
                self.end_key();
                replace(&mut self.key, &line[..end]);
            }
            self.group.take(&line[end + 1..])?;
        }
        Some(std::mem::take(&mut self.out))
    }

    /// The rest.
    pub fn finish(&mut self) -> Vec<u8> {
        self.end_key();
        std::mem::take(&mut self.out)
    }

    fn end_key(&mut self) {
        let group = std::mem::take(&mut self.group);
        if group.captures == 0 || group.captures < self.least {
            return;
        }
        let out = &mut self.out;
        if self.ranked {
            out.extend_from_slice(b"null\t[");
            write_number(group.captures.into(), out);
            out.push(b',');
            out.extend_from_slice(&self.key);
            out.push(b',');
            group.write(out);
            out.extend_from_slice(b"]\n");
        } else {
            out.extend_from_slice(&self.key);
            out.push(b'\t');
            group.write(out);
            out.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GroupLines, SortedGroups};

    const LINE: &str = "org,e)/ 20240102000000 {\"url\": \"http://E.org/a//b/c?d/#e\", \"status\": \"200\", \
                        \"mime\": \"text/html\", \"digest\": \"sha1:X\", \"length\": \"10\"}\n";

    fn lines(segments: Option<usize>, text: &str) -> (String, usize) {
        let ask = |host: &[u8]| Ok::<_, ()>([b"\"", host, b"\""].concat().to_ascii_lowercase());
        let (out, left) = GroupLines::new(segments).add(text.as_bytes(), ask).unwrap();
        (String::from_utf8(out).unwrap(), left.len())
    }

    #[test]
    fn captures_and_digests_have_lines() {
        // CRC-32 and SHA-1 by Python's zlib and hashlib.
        let host = "809\t\"e.org\"\0";
        let url = "c4FWjnnWTeI9mkw5uoFGZO1EPA8=";
        assert_eq!(lines(None, LINE), (format!("{host}c{url}\x0020240102\x00200\0text/html\x0010\n{host}dX\n"), 0));
        let path = lines(Some(2), LINE).0;
        assert!(path.contains("\t\"e.org/a/b\"\0c"), "{path}");
        assert!(lines(Some(1), &LINE.replace("/a//b/c", "")).0.contains("\t\"e.org/\"\0c"));
    }

    #[test]
    fn what_is_not_said_has_a_name() {
        let bare = "org,e)/ 20240102000000 {\"url\": \"http://e.org/\", \"length\": \"x\"}\n";
        assert!(lines(None, bare).0.ends_with("\x0020240102\0-\0unk\x000\n"));
        let odd = bare.replace("http:", "ftp:");
        assert_eq!(lines(None, &odd), (String::new(), 1));
    }

    #[test]
    fn groups_are_counted_and_left_out_if_they_are_small() {
        let text =
            "1\t\"e\"\0cA\x0020240102\x00200\0t/h\x0010\n1\t\"e\"\0cA\x0020240101\x00404\0t/h\x005\n1\t\"e\"\0dX\n1\t\"e\"\0dX\n\
                    1\t\"f\"\0cB\x0020240102\x00200\0t/h\x000\n";
        let row = "{\"captures\":2,\"urls\":1,\"digests\":1,\"first\":\"2024-01-01\",\"last\":\"2024-01-02\",\
                   \"status\":{\"200\":1,\"404\":1},\"mime\":{\"t/h\":2},\"bytes\":15}";
        let given = |ranked| {
            let mut groups = SortedGroups::new(2, ranked);
            let mut out = groups.add(text.as_bytes()).unwrap();
            out.extend(groups.finish());
            String::from_utf8(out).unwrap()
        };
        assert_eq!(given(false), format!("\"e\"\t{row}\n"));
        assert_eq!(given(true), format!("null\t[2,\"e\",{row}]\n"));
        for odd in ["1\t\"e\"\0cA\n", "1\t\"e\"\n", "x\n", "1\te\0cA\0d\0s\0m\0x\n", "1\te\0cA\0d\0s\0m\x001\x001\n"] {
            assert_eq!(SortedGroups::new(1, false).add(odd.as_bytes()), None, "{odd}");
        }
    }
}
