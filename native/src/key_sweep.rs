//! Cuts the lines of single keys out of sorted chunks: the twin of `crawlmill.indexes.cluster.key_sweep`.

use memchr::{memchr, memchr_iter, memmem, memrchr};

/// What a key has in a chunk: its number as it was given, and how many lines and bytes of it there are.
pub type Found = (usize, usize, usize);

/// The keys whose lines may still come.
pub struct Sweep {
    keys: Vec<(Vec<u8>, usize)>, // each with the blank behind it
    next: usize,
}

impl Sweep {
    /// A sweep for keys in any order.
    pub fn new<'a>(keys: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut keys: Vec<_> = keys.enumerate().map(|(number, key)| ([key, b" "].concat(), number)).collect();
        keys.sort();
        Self { keys, next: 0 }
    }

    /// The lines of the keys in the next chunk, those of a key together; None for a chunk with blank lines.
    ///
    /// A key that was given twice has its lines twice.
    pub fn cut(&mut self, chunk: &[u8]) -> Option<(Vec<u8>, Vec<Found>)> {
        if chunk.starts_with(b"\n") || memmem::find(chunk, b"\n\n").is_some() {
            return None;
        }
        let body = chunk.strip_suffix(b"\n").unwrap_or(chunk);
        let last = &body[memrchr(b'\n', body).map_or(0, |end| end + 1)..];
        let (mut lines, mut found) = (Vec::new(), Vec::new());
        let mut at = 0;
        for (key, number) in &self.keys[self.next..] {
            if last < key.as_slice() {
                break;
            }
            at = find_line(chunk, at, key);
            let end = end_of(chunk, at, key);
            if at < end {
                let these = &chunk[at..end];
                found.push((*number, memchr_iter(b'\n', these).count(), these.len()));
                lines.extend_from_slice(these);
            }
        }
        // A key stays for as long as no greater one has come: more of its lines may be in the next chunk.
        let passed = |key: &[u8]| key < last && !last.starts_with(key);
        self.next += self.keys[self.next..].iter().take_while(|(key, _)| passed(key)).count();
        Some((lines, found))
    }
}

/// Where the first line is, from a line on, that is not less than a text.
fn find_line(chunk: &[u8], from: usize, target: &[u8]) -> usize {
    let (mut low, mut high) = (from, chunk.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = memrchr(b'\n', &chunk[low..middle]).map_or(low, |end| low + end + 1);
        let end = memchr(b'\n', &chunk[middle..]).map_or(chunk.len(), |end| middle + end);
        if &chunk[start..end] < target {
            low = (end + 1).min(chunk.len());
        } else {
            high = start;
        }
    }
    low
}

/// Where the lines end, from a line on, that begin with a key.
fn end_of(chunk: &[u8], from: usize, key: &[u8]) -> usize {
    let mut at = from;
    while chunk[at..].starts_with(key) {
        at = memchr(b'\n', &chunk[at..]).map_or(chunk.len(), |end| at + end + 1);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::Sweep;

    fn sweep(keys: &[&str]) -> Sweep {
        Sweep::new(keys.iter().map(|key| key.as_bytes()))
    }

    #[test]
    fn keys_have_their_lines_and_no_others() {
        let mut sweep = sweep(&["b", "a", "bb", "a", "zz"]);
        let (lines, found) = sweep.cut(b"a 1\na 2\na! 1\nb 1\nba 1\nbb 1\n").unwrap();
        assert_eq!(lines, b"a 1\na 2\na 1\na 2\nb 1\nbb 1\n");
        assert_eq!(found, [(1, 2, 8), (3, 2, 8), (0, 1, 4), (2, 1, 5)]);
        assert_eq!(sweep.cut(b"bb 2\nc 1\n").unwrap(), (b"bb 2\n".to_vec(), vec![(2, 1, 5)]));
        assert_eq!(sweep.cut(b"zzz 1\n").unwrap(), (vec![], vec![]));
        assert_eq!(sweep.next, 5);
    }

    #[test]
    fn blank_lines_are_left_to_python() {
        let mut sweep = sweep(&["a"]);
        for chunk in ["\na 1\n", "a 1\n\na 2\n"] {
            assert_eq!(sweep.cut(chunk.as_bytes()), None);
        }
        assert_eq!(sweep.cut(b"a 1\n").unwrap().0, b"a 1\n");
    }
}
