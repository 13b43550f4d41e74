//! Lines in memory, and their order.

use std::io;

use crate::sort::merge::Blocks;

/// Bytes that each line costs beside its own.
const LINE_COST: usize = size_of::<Entry>();

/// Lines that are so few are compared with one another; more are told apart eight bytes at a time.
const FEW: usize = 12;

/// Bytes that lines may have in common before they are compared with one another, however many there are.
const DEEP: usize = 512;

/// Where a line stands, and eight of its bytes.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Big-endian, so that numbers have the order of the bytes; behind the end of the line there are zeros.
    key: u64,
    start: u32,
    /// Without the line end.
    length: u32,
}

impl Entry {
    pub fn line<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..][..self.length as usize]
    }

    /// The bytes of the line with its line end.
    fn whole<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..][..self.length as usize + 1]
    }
}

/// Lines in the order in which they came.
#[derive(Default)]
pub struct LineBuffer {
    /// The lines, a line end behind each, and what has come of the next one.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Where the line begins that has no end yet.
    open: usize,
}

impl LineBuffer {
    /// Take more of the text, wherever it is cut. Error: a line is too long for any buffer.
    pub fn push(&mut self, data: &[u8]) -> io::Result<()> {
        let mut from = self.bytes.len();
        if data.len() >= u32::MAX as usize - from {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a line of more than 4 GiB"));
        }
        self.bytes.extend_from_slice(data);
        for length in memchr::memchr_iter(b'\n', data) {
            let end = self.bytes.len() - data.len() + length;
            let start = self.open;
            self.entries.push(Entry { key: 0, start: start as u32, length: (end - start) as u32 });
            self.open = end + 1;
            from = self.open;
        }
        debug_assert!(from <= self.bytes.len());
        Ok(())
    }

    /// End the last line if it has no end.
    pub fn end(&mut self) -> io::Result<()> {
        if self.open < self.bytes.len() {
            self.push(b"\n")?;
        }
        Ok(())
    }

    /// Bytes of memory.
    pub fn cost(&self) -> usize {
        self.bytes.len() + self.entries.len() * LINE_COST
    }

    /// Whether there is a whole line.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forget the lines, and keep the room for others.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.open = 0;
    }

    /// What has come of a line that has no end yet.
    pub fn unfinished(&self) -> &[u8] {
        &self.bytes[self.open..]
    }

    /// The lines in their order.
    pub fn sort(&mut self) {
        sort_from(&self.bytes, &mut self.entries, 0);
    }

    /// The lines as they stand.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().map(|entry| entry.whole(&self.bytes))
    }

    /// The lines of each part, sorted; `part` says which of the `parts` a line is in.
    pub fn sorted_parts(&self, parts: usize, part: impl Fn(&[u8]) -> usize) -> Vec<Vec<Entry>> {
        let mut found = vec![Vec::new(); parts];
        for entry in &self.entries {
            found[part(entry.line(&self.bytes))].push(*entry);
        }
        for entries in &mut found {
            sort_from(&self.bytes, entries, 0);
        }
        found
    }

    /// A line of `sorted_parts`, with its line end.
    pub fn line_of(&self, entry: &Entry) -> &[u8] {
        entry.whole(&self.bytes)
    }
}

/// Sort lines that are equal in their first `depth` bytes.
fn sort_from(bytes: &[u8], entries: &mut [Entry], depth: usize) {
    if entries.len() <= FEW || depth >= DEEP {
        entries.sort_unstable_by(|a, b| a.line(bytes)[depth..].cmp(&b.line(bytes)[depth..]));
        return;
    }
    for entry in &mut *entries {
        entry.key = eight(entry.line(bytes), depth);
    }
    entries.sort_unstable_by_key(|entry| entry.key);
    let mut rest = entries;
    while let Some(first) = rest.first() {
        let key = first.key;
        let alike = rest.iter().take_while(|entry| entry.key == key).count();
        let (group, others) = rest.split_at_mut(alike);
        if alike > 1 {
            sort_alike(bytes, group, depth + 8);
        }
        rest = others;
    }
}

/// Sort lines that are equal in their first `depth` bytes but for zeros at their ends.
fn sort_alike(bytes: &[u8], entries: &mut [Entry], depth: usize) {
    let mut ended = 0;
    if entries.iter().any(|entry| entry.length as usize <= depth) {
        // Of lines that end here the shorter is the beginning of the longer.
        entries.sort_unstable_by_key(|entry| (entry.length as usize).min(depth + 1));
        ended = entries.partition_point(|entry| entry.length as usize <= depth);
    }
    if entries.len() - ended > 1 {
        sort_from(bytes, &mut entries[ended..], depth);
    }
}

/// The eight bytes of a line from `depth` on.
pub fn eight(line: &[u8], depth: usize) -> u64 {
    let rest = line.get(depth..).unwrap_or_default();
    if let Some(bytes) = rest.first_chunk() {
        return u64::from_be_bytes(*bytes);
    }
    let mut bytes = [0; 8];
    bytes[..rest.len()].copy_from_slice(rest);
    u64::from_be_bytes(bytes)
}

/// The lines of a buffer, block by block.
pub struct BufferBlocks {
    buffer: LineBuffer,
    next: usize,
    size: usize,
}

impl BufferBlocks {
    /// Blocks of about `size` bytes.
    pub fn new(buffer: LineBuffer, size: usize) -> BufferBlocks {
        BufferBlocks { buffer, next: 0, size }
    }
}

impl Blocks for BufferBlocks {
    fn read(&mut self, block: &mut Vec<u8>) -> io::Result<()> {
        while let Some(entry) = self.buffer.entries.get(self.next) {
            block.extend_from_slice(entry.whole(&self.buffer.bytes));
            self.next += 1;
            if block.len() >= self.size {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::LineBuffer;

    fn sorted(text: &[u8], cut: usize) -> Vec<Vec<u8>> {
        let mut buffer = LineBuffer::default();
        text.chunks(cut).for_each(|piece| buffer.push(piece).unwrap());
        buffer.end().unwrap();
        buffer.sort();
        buffer.lines().map(|line| line[..line.len() - 1].to_vec()).collect()
    }

    fn expected(text: &[u8]) -> Vec<Vec<u8>> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let mut lines: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        lines
    }

    #[test]
    fn lines_have_the_order_of_their_bytes() {
        let mut text = Vec::new();
        let mut state = 1_u64;
        for n in 0..4000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n);
            let length = (state >> 33) % 40;
            // Few different bytes: long common beginnings, and lines that begin others, NULs among them.
            text.extend((0..length).map(|at| [0, b'a', 0xff, b'\t'][((state >> (at % 31)) & 3) as usize % 4]));
            text.push(b'\n');
        }
        for cut in [1, 7, 1000, 1 << 20] {
            assert!(sorted(&text, cut) == expected(&text));
        }
    }

    #[test]
    fn long_lines_that_are_alike_are_sorted() {
        let text: Vec<u8> =
            (0..50_u8).rev().flat_map(|n| [vec![b'x'; 5000], vec![n % 7 + b'0', b'\n']].concat()).collect();
        assert!(sorted(&text, 999) == expected(&text));
    }

    #[test]
    fn a_last_line_without_an_end_gets_one() {
        assert_eq!(sorted(b"b\n\na", 2), [b"".to_vec(), b"a".to_vec(), b"b".to_vec()]);
    }
}
