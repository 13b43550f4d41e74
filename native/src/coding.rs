//! How the members of a file are compressed: by gzip, or as Zstandard frames.

use crate::frames::Frames;
use crate::member::{declared_size, Candidate, Member, Members};

/// Finds members, and inflates them.
pub enum Coding {
    Gzip(Box<Members>),
    Zstd(Frames),
}

impl Coding {
    /// What may be the next member.
    pub fn candidate<'a>(&self, data: &'a [u8], at: usize, ended: bool) -> Candidate<'a> {
        match self {
            Coding::Gzip(members) => members.candidate(data, at, ended),
            Coding::Zstd(_) => Frames::candidate(data, at, ended),
        }
    }

    /// The content of a member, at the beginning of a buffer that grows where it must; None unless it is whole.
    pub fn whole<'a>(&mut self, member: &[u8], buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        match self {
            Coding::Gzip(members) => members.inflate(Member::of(member)?, buffer),
            Coding::Zstd(frames) => frames.inflate(member, buffer),
        }
    }

    /// The length that a member declares for its content.
    pub fn declared(&self, member: &[u8]) -> Option<u64> {
        match self {
            Coding::Gzip(_) => declared_size(member).map(|size| size as u64),
            Coding::Zstd(_) => Frames::declared(member),
        }
    }

    /// The first bytes of the content of a member that holds more than `most`.
    pub fn head<'a>(&mut self, member: &[u8], most: usize, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        match self {
            Coding::Gzip(members) => members.inflate_head(member, most, buffer),
            Coding::Zstd(frames) => frames.inflate_head(member, most, buffer),
        }
    }

    /// How many members were inflated whole since the last call of which a changed byte need not be noticed.
    pub fn unproven(&mut self) -> usize {
        match self {
            Coding::Gzip(_) => 0,
            Coding::Zstd(frames) => frames.unproven(),
        }
    }
}
