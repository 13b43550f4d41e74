//! Gzip members within a buffer: where they may end, and whether they are whole. RFC 1952, section 2.3.
//!
//! What is not whole for certain is left to the Python reader, `crawlmill.codecs.gzip`, and its verdict.

use libdeflater::Decompressor;
use memchr::memmem;
use zlib_rs::{Inflate, InflateFlush, Status};

/// Bytes that a member may inflate to and be held whole.
pub const MAX_WHOLE: usize = 16 << 20;

/// Deflate cannot expand further.
const MAX_RATIO: usize = 1032;

/// The shortest member.
const SHORTEST: usize = 20;

const MAGIC: &[u8] = b"\x1f\x8b\x08";
const RESERVED: u8 = 0xe0;
const HEADER_CHECKSUM: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;

/// A member that may be inflated at once: what it declares for its content is neither nothing nor much, and its header
/// has no checksum.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl<'a> Member<'a> {
    /// These bytes, if they may be such a member.
    pub fn of(bytes: &'a [u8]) -> Option<Member<'a>> {
        let size = declared_size(bytes)?;
        let sane = (1..=MAX_WHOLE).contains(&size) && size <= bytes.len().saturating_mul(MAX_RATIO);
        let usual = bytes.len() >= SHORTEST && bytes[3] & (RESERVED | HEADER_CHECKSUM) == 0;
        (sane && usual).then_some(Member { bytes, size })
    }

    /// The length that it declares for its content.
    pub fn size(self) -> usize {
        self.size
    }
}

/// What may be the next member.
#[derive(Debug, PartialEq)]
pub enum Candidate<'a> {
    Bytes(&'a [u8]),
    /// More data must be seen.
    Short,
    /// Here begins none.
    No,
}

/// Finds and inflates members; holds what libdeflate and zlib-rs need for that.
pub struct Members {
    magic: memmem::Finder<'static>,
    whole: Decompressor,
    heads: Inflate,
}

impl Members {
    pub fn new() -> Members {
        Members { magic: memmem::Finder::new(MAGIC), whole: Decompressor::new(), heads: Inflate::new(false, 15) }
    }

    /// The bytes at `at` up to the next place that looks like the beginning of a member, if they look like one.
    ///
    /// Without such a place they go on to the end of `data` if that is the end of the file.
    pub fn candidate<'a>(&self, data: &'a [u8], at: usize, ended: bool) -> Candidate<'a> {
        let rest = data.get(at..).unwrap_or_default();
        if !begins_member(rest, 0) {
            return if ended || rest.len() >= 4 { Candidate::No } else { Candidate::Short };
        }
        let mut behind = 18;
        while let Some(found) = rest.get(behind..).and_then(|rest| self.magic.find(rest)) {
            if begins_member(rest, behind + found) {
                return Candidate::Bytes(&rest[..behind + found]);
            }
            behind += found + 1;
        }
        if ended {
            Candidate::Bytes(rest)
        } else {
            Candidate::Short
        }
    }

    /// The content of a member, at the beginning of a buffer that grows where it must; None unless it is whole.
    pub fn inflate<'a>(&mut self, member: Member<'_>, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let content = room(buffer, member.size);
        self.inflate_into(member, content).then_some(content)
    }

    /// Fills `content`, which is as long as the member declares; false unless the member is whole.
    pub fn inflate_into(&mut self, member: Member<'_>, content: &mut [u8]) -> bool {
        let bytes = member.bytes;
        if self.whole.gzip_decompress(bytes, content) != Ok(content.len()) {
            return false;
        }
        // libdeflate has proven a member that begins here, with this length at its end, and ignores what follows. If
        // these four bytes stand nowhere before, this end is the end of `bytes`.
        let last = bytes.len() - 4;
        memmem::find(&bytes[14..], &bytes[last..]) == Some(last - 14)
    }

    /// The first bytes of the content of a member that holds more than `most`.
    ///
    /// As the Python reader does it: from as many compressed bytes. None if they are damaged, or all of the member.
    pub fn inflate_head<'a>(&mut self, member: &[u8], most: usize, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let compressed = &member[..member.len().min(most)];
        let start = header_length(compressed)?;
        let head = room(buffer, most);
        self.heads.reset(false);
        let status = self.heads.decompress(&compressed[start..], head, InflateFlush::SyncFlush).ok()?;
        let size = usize::try_from(self.heads.total_out()).ok()?;
        (status != Status::StreamEnd && size > 0).then(|| &head[..size])
    }
}

/// The first bytes of a buffer, which grows where it must.
pub fn room(buffer: &mut Vec<u8>, size: usize) -> &mut [u8] {
    if buffer.len() < size {
        buffer.resize(size, 0);
    }
    &mut buffer[..size]
}

fn begins_member(data: &[u8], at: usize) -> bool {
    data.get(at..).and_then(|rest| rest.get(..4)).is_some_and(|four| four.starts_with(MAGIC) && four[3] & RESERVED == 0)
}

/// The length that a member declares for its content, in its last bytes.
pub fn declared_size(member: &[u8]) -> Option<usize> {
    let last: [u8; 4] = member.get(member.len().checked_sub(4)?..)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(last)).ok()
}

/// Bytes of the gzip header; None if it is not all there, or has a checksum.
fn header_length(member: &[u8]) -> Option<usize> {
    let flags = *member.get(3)?;
    if flags & (RESERVED | HEADER_CHECKSUM) != 0 {
        return None;
    }
    let mut at = 10;
    if flags & EXTRA != 0 {
        let length = member.get(at..at + 2)?;
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            at += memchr::memchr(0, member.get(at..)?)? + 1;
        }
    }
    (at <= member.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::{header_length, Candidate, Member, Members};
    use libdeflater::{CompressionLvl, Compressor};

    fn member(content: &[u8]) -> Vec<u8> {
        let mut compressor = Compressor::new(CompressionLvl::default());
        let mut out = vec![0; compressor.gzip_compress_bound(content.len())];
        let length = compressor.gzip_compress(content, &mut out).unwrap();
        out.truncate(length);
        out
    }

    fn inflate(member: &[u8]) -> Option<Vec<u8>> {
        Members::new().inflate(Member::of(member)?, &mut Vec::new()).map(<[u8]>::to_vec)
    }

    #[test]
    fn member_is_cut_out_and_inflated() {
        let (first, second) = (member(b"one, one, one"), member(b"two"));
        let data = [&first[..], &second[..]].concat();
        let members = Members::new();
        assert_eq!(members.candidate(&data, 0, false), Candidate::Bytes(&first));
        assert_eq!(members.candidate(&data, first.len(), false), Candidate::Short);
        assert_eq!(members.candidate(&data, first.len(), true), Candidate::Bytes(&second));
        assert_eq!(members.candidate(&data, data.len() - 4, false), Candidate::No);
        assert_eq!(members.candidate(&data, data.len() - 3, false), Candidate::Short);
        assert_eq!(members.candidate(&data, data.len(), true), Candidate::No);
        assert_eq!(members.candidate(&data, usize::MAX, true), Candidate::No);
        assert_eq!(inflate(&first).unwrap(), b"one, one, one");
    }

    #[test]
    fn only_exactly_one_whole_member_is_whole() {
        let whole = member(b"some content, some content");
        for end in 0..whole.len() {
            assert_eq!(inflate(&whole[..end]), None);
        }
        for at in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            // What a flip leaves whole (a time, bits that pad) holds the same.
            assert!(inflate(&flipped).is_none_or(|content| content == b"some content, some content"), "bit {at}");
        }
        let size = &whole[whole.len() - 4..];
        assert_eq!(inflate(&[&whole[..], size].concat()), None);
        assert_eq!(inflate(&[&whole[..], &whole[whole.len() - 8..]].concat()), None);
    }

    #[test]
    fn hostile_lengths_are_refused() {
        let mut lying = member(b"content");
        let last = lying.len() - 4;
        for size in [0, 8, 1 << 20, 16 << 20, (16 << 20) + 1, u32::MAX] {
            lying[last..].copy_from_slice(&size.to_le_bytes());
            assert_eq!(inflate(&lying), None);
        }
        assert_eq!(header_length(&[0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0, 0xff, 0xff]), None);
        assert_eq!(header_length(&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0, b'a']), None);
        assert_eq!(header_length(&[0x1f, 0x8b, 8, 24, 0, 0, 0, 0, 0, 0, b'a', 0, 0]), Some(13));
        assert_eq!(header_length(&[0x1f, 0x8b, 8, 2, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
