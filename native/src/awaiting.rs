//! Pages with the crawler's metadata record right behind them, which says their languages and charset.
//!
//! The twin of parts of `crawlmill.formats.selectors.awaiting`: pages that are left out, for what both records say, are
//! decided on here, and neither of the two is given. All others, and metadata records elsewhere, are for Python to join.

use std::collections::VecDeque;

use crate::captures::described::{detected, fields};
use crate::coding::Coding;
use crate::member::Candidate;
use crate::selection::Selection;
use crate::warc::{whole_record, Head, METADATA, RESPONSE, REVISIT};

/// Bytes of a metadata record that is read here.
const MAX_METADATA: u64 = 64 << 10;

/// Ids that are remembered of those that metadata named before their pages came.
const MAX_EARLY: usize = 256;

/// What was seen of one file so far.
pub struct Awaiting {
    /// Whether pages may be decided on here: not once there was metadata that may be about any page to come.
    is_on: bool,
    /// Pages that were given, whose metadata may follow.
    given: usize,
    /// The ids that were named by metadata of no page that was given: it may be about one that comes.
    early: VecDeque<Box<[u8]>>,
    content: Vec<u8>,
}

impl Awaiting {
    /// Of a file with these members. Zstandard frames are left to Python, which asks what proves each of them.
    pub fn new(selection: &Selection, members: &Coding) -> Awaiting {
        let is_on = selection.awaiting().is_some() && matches!(members, Coding::Gzip(_));
        Awaiting { is_on, given: 0, early: VecDeque::new(), content: Vec::new() }
    }

    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// The length of the member behind a page, if that holds its metadata and the page is left out; None if the record
    /// of this head is to be given.
    pub fn left_out(
        &mut self,
        selection: &Selection,
        members: &mut Coding,
        head: &Head,
        page: &[u8],
        next: Candidate<'_>,
    ) -> Option<usize> {
        match (head.kind, next) {
            (METADATA, _) if self.given == 0 => self.remember(page.get(..head.start).unwrap_or_default()),
            (METADATA, _) => self.given -= 1,
            (RESPONSE, Candidate::Bytes(next)) => {
                if self.is_left_out(selection, members, head, page, next) == Some(true) {
                    return Some(next.len());
                }
                self.given += 1;
            }
            (RESPONSE | REVISIT, _) => self.given += 1,
            _ => {}
        }
        None
    }

    /// Keeps the ids that a metadata record names by its header.
    fn remember(&mut self, header: &[u8]) {
        let Some(named) = fields(header, ["WARC-Refers-To", "WARC-Concurrent-To"]) else {
            self.is_on = false;
            return;
        };
        self.early.extend(named.into_iter().flatten().map(Box::from));
        while self.early.len() > MAX_EARLY {
            self.early.pop_front();
        }
    }

    fn is_left_out(
        &mut self,
        selection: &Selection,
        members: &mut Coding,
        head: &Head,
        page: &[u8],
        next: &[u8],
    ) -> Option<bool> {
        let content = members.whole(next, &mut self.content)?;
        let about = whole_record(content)?;
        if about.kind != METADATA || about.length > MAX_METADATA {
            return None;
        }
        let (header, rest) = content.split_at(about.start);
        let found = detected(header, rest.get(..usize::try_from(about.length).ok()?)?)?;
        let (header, held) = page.split_at_checked(head.start)?;
        let ids = fields(header, ["WARC-Record-ID", "WARC-Concurrent-To"])?;
        if ids.into_iter().flatten().any(|id| self.early.iter().any(|early| **early == *id)) {
            return None;
        }
        let held = &held[..held.len().min(usize::try_from(head.length).unwrap_or(usize::MAX))];
        selection.awaiting()?.leaves_out(header, held, &found)
    }
}
