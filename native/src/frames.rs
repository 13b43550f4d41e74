//! Zstandard frames within a buffer: where they end, and whether they are whole. RFC 8878, section 3.1.1.
//!
//! What is not whole for certain is left to the Python reader, `crawlmill.codecs.zstd`, and its verdict.

use zstd_safe::{DCtx, InBuffer, OutBuffer, ResetDirective};

use crate::member::{room, Candidate, MAX_WHOLE};

const MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";
const RESERVED: u8 = 8;
const CHECKSUM: u8 = 4;
const MAX_WINDOW: u64 = 1 << 27;
const MAX_BLOCK: usize = 1 << 17;

/// What a frame says in its header.
#[derive(Debug, PartialEq)]
struct Header {
    /// Bytes of the header.
    length: usize,
    has_checksum: bool,
    /// Bytes of content.
    size: Option<u64>,
    /// Bytes that a decoder must remember.
    window: u64,
}

/// Finds and inflates frames, by the dictionary of their file.
pub struct Frames {
    context: DCtx<'static>,
    unproven: usize,
}

impl Frames {
    /// `dictionary` is empty if the file has none. One that cannot be loaded is none: frames that need it stay unread.
    pub fn new(dictionary: &[u8]) -> Frames {
        let mut context = DCtx::create();
        if context.load_dictionary(dictionary).is_err() {
            context = DCtx::create();
        }
        Frames { context, unproven: 0 }
    }

    /// How many frames without a checksum were inflated whole since the last call.
    pub fn unproven(&mut self) -> usize {
        std::mem::take(&mut self.unproven)
    }

    /// The frame at `at`, as long as its blocks say, if there is one that is no skippable frame.
    pub fn candidate(data: &[u8], at: usize, ended: bool) -> Candidate<'_> {
        let rest = data.get(at..).unwrap_or_default();
        if !MAGIC.starts_with(&rest[..rest.len().min(4)]) {
            return Candidate::No;
        }
        match end_of(rest) {
            End::At(end) => Candidate::Bytes(&rest[..end]),
            End::Behind if !ended => Candidate::Short,
            _ => Candidate::No,
        }
    }

    /// The content of a frame, at the beginning of a buffer that grows where it must; None unless it is whole.
    pub fn inflate<'a>(&mut self, frame: &[u8], buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let header = header_of(frame).filter(|header| header.window <= MAX_WINDOW)?;
        let most = match header.size {
            Some(size) => usize::try_from(size).ok().filter(|&size| size <= MAX_WHOLE)?,
            None => (blocks_of(frame) * MAX_BLOCK).min(MAX_WHOLE),
        };
        let content = room(buffer, most);
        let size = self.context.decompress(content, frame).ok().filter(|&size| size > 0)?;
        self.unproven += usize::from(!header.has_checksum);
        Some(&content[..size])
    }

    /// The length that a frame declares for its content, if it does.
    pub fn declared(frame: &[u8]) -> Option<u64> {
        header_of(frame)?.size
    }

    /// The first bytes of the content of a frame that holds more than `most`.
    pub fn inflate_head<'a>(&mut self, frame: &[u8], most: usize, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        header_of(frame).filter(|header| header.window <= MAX_WINDOW)?;
        let head = room(buffer, most);
        self.context.reset(ResetDirective::SessionOnly).ok()?;
        let (mut input, mut output) = (InBuffer::around(frame), OutBuffer::around(head));
        while output.pos() < most {
            let (read, written) = (input.pos(), output.pos());
            self.context.decompress_stream(&mut output, &mut input).ok()?;
            if (input.pos(), output.pos()) == (read, written) {
                return None;
            }
        }
        self.context.reset(ResetDirective::SessionOnly).ok()?;
        Some(head)
    }
}

/// Where a frame ends.
#[derive(Debug, PartialEq)]
enum End {
    At(usize),
    /// Behind the data.
    Behind,
    /// Nowhere: this is no frame.
    None,
}

fn end_of(data: &[u8]) -> End {
    let Some(&flags) = data.get(4) else { return End::Behind };
    if flags & RESERVED != 0 {
        return End::None;
    }
    let Some(header) = header_of(data) else { return End::Behind };
    let mut at = header.length;
    loop {
        let Some(block) = Block::at(data, at) else { return End::Behind };
        if block.kind == 3 || block.size > MAX_BLOCK {
            return End::None;
        }
        at += block.length();
        if block.is_last {
            at += if header.has_checksum { 4 } else { 0 };
            return if at <= data.len() { End::At(at) } else { End::Behind };
        }
    }
}

/// How many blocks a frame has whose end was found.
fn blocks_of(frame: &[u8]) -> usize {
    let mut at = header_of(frame).map_or(frame.len(), |header| header.length);
    let mut blocks = 0;
    while let Some(block) = Block::at(frame, at) {
        blocks += 1;
        at += block.length();
        if block.is_last {
            break;
        }
    }
    blocks
}

/// What a block says in its header. RFC 8878, section 3.1.1.2.
struct Block {
    is_last: bool,
    kind: usize,
    size: usize,
}

impl Block {
    /// The block at a place; None if its header is not all there.
    fn at(data: &[u8], at: usize) -> Option<Block> {
        let bytes = data.get(at..at + 3)?;
        let header = usize::from(bytes[0]) | usize::from(bytes[1]) << 8 | usize::from(bytes[2]) << 16;
        Some(Block { is_last: header & 1 == 1, kind: header >> 1 & 3, size: header >> 3 })
    }

    /// Its bytes with the header; one that repeats a byte has only that.
    fn length(&self) -> usize {
        3 + if self.kind == 1 { 1 } else { self.size }
    }
}

/// The header that data begin with; None if it is not all there.
fn header_of(data: &[u8]) -> Option<Header> {
    let flags = *data.get(4)?;
    let single = flags >> 5 & 1 == 1;
    let (dictionary, field) = ([0, 1, 2, 4][usize::from(flags & 3)], usize::from(flags >> 6));
    let size_at = 5 + usize::from(!single) + dictionary;
    let length = size_at + if field == 0 { usize::from(single) } else { 1 << field };
    let stored = data.get(size_at..length)?;
    let number = stored.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let size = match stored.len() {
        0 => None,
        2 => Some(number + 256),
        _ => Some(number),
    };
    let window = if single {
        size.unwrap_or(0)
    } else {
        let base = 1 << (10 + (data[5] >> 3));
        base + base / 8 * u64::from(data[5] & 7)
    };
    Some(Header { length, has_checksum: flags & CHECKSUM != 0, size, window })
}

#[cfg(test)]
mod tests {
    use super::{end_of, header_of, Candidate, End, Frames};
    use zstd_safe::{CCtx, CParameter};

    fn frame(content: &[u8], checksum: bool, size: bool, dictionary: &[u8]) -> Vec<u8> {
        let mut context = CCtx::create();
        context.set_parameter(CParameter::ChecksumFlag(checksum)).unwrap();
        context.set_parameter(CParameter::ContentSizeFlag(size)).unwrap();
        context.load_dictionary(dictionary).unwrap();
        let mut out = Vec::with_capacity(zstd_safe::compress_bound(content.len()) + 64);
        context.compress2(&mut out, content).unwrap();
        out
    }

    fn inflate(frame: &[u8], dictionary: &[u8]) -> Option<Vec<u8>> {
        Frames::new(dictionary).inflate(frame, &mut Vec::new()).map(<[u8]>::to_vec)
    }

    #[test]
    fn frames_are_cut_out_and_inflated() {
        let long: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        for content in [&b"one, one, one"[..], &long] {
            for (checksum, size) in [(true, true), (true, false), (false, true), (false, false)] {
                for dictionary in [&b""[..], b"what went before, one, two, three"] {
                    let first = frame(content, checksum, size, dictionary);
                    let data = [&first[..], &frame(b"two", true, true, b"")].concat();
                    assert_eq!(Frames::candidate(&data, 0, false), Candidate::Bytes(&first));
                    assert_eq!(Frames::candidate(&data, first.len() - 1, true), Candidate::No);
                    assert_eq!(Frames::candidate(&first, 0, true), Candidate::Bytes(&first));
                    for end in [3, 4, 5, 9, first.len() - 1] {
                        assert_eq!(Frames::candidate(&first[..end], 0, false), Candidate::Short);
                        assert_eq!(Frames::candidate(&first[..end], 0, true), Candidate::No);
                    }
                    let header = header_of(&first).unwrap();
                    assert_eq!((header.has_checksum, header.size), (checksum, size.then_some(content.len() as u64)));
                    assert_eq!(inflate(&first, dictionary).unwrap(), content);
                }
            }
        }
    }

    #[test]
    fn only_what_is_whole_is_inflated() {
        let whole = frame(b"some content, some content, some content", true, true, b"");
        for end in 0..whole.len() {
            assert_eq!(inflate(&whole[..end], b""), None);
        }
        for at in 32..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            let found = inflate(&flipped, b"");
            assert!(found.is_none_or(|content| content == b"some content, some content, some content"), "bit {at}");
        }
    }

    #[test]
    fn heads_are_the_first_bytes_of_what_holds_more() {
        let content: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut frames = Frames::new(b"");
        let mut buffer = Vec::new();
        let sized = frame(&content, true, true, b"");
        assert_eq!(frames.inflate_head(&sized, 3000, &mut buffer), Some(&content[..3000]));
        assert_eq!(frames.inflate_head(&sized, 400_001, &mut buffer), None);
        let unsized_frame = frame(&content, true, false, b"");
        assert_eq!((Frames::declared(&sized), Frames::declared(&unsized_frame)), (Some(400_000), None));
        assert_eq!(frames.inflate(&sized, &mut buffer).unwrap(), content);
        assert_eq!(frames.unproven(), 0);
        frames.inflate(&frame(&content, false, true, b""), &mut buffer).unwrap();
        assert_eq!((frames.unproven(), frames.unproven()), (1, 0));
    }

    #[test]
    fn hostile_headers_are_refused() {
        assert_eq!(end_of(b"\x28\xb5\x2f\xfd\x08\0\0\0\0\0"), End::None);
        assert_eq!(end_of(b"\x28\xb5\x2f\xfd\x00\x00\x07\0\0"), End::None);
        // A window of 256 MiB, and a content of 2^60 bytes.
        assert_eq!(inflate(b"\x28\xb5\x2f\xfd\x00\x90\x01\0\0", b""), None);
        assert_eq!(inflate(b"\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\0\0\x10\x01\0\0", b""), None);
    }
}
