//! Records read one after another from a buffer of members, as far as each member is whole and is one record.

use crate::awaiting::Awaiting;
use crate::coding::Coding;
use crate::criteria::{url_of, Verdict};
use crate::member::Candidate;
use crate::selection::Selection;
use crate::warc::{content_type, is_truncated, quick_head, whole_record, Head};

/// Bytes of content that a counter may take before a record is given that it could have taken: whoever reads the
/// records then has a look at what the counter holds.
const MAX_UNSEEN: usize = 8 << 20;

/// Bytes of a member of which only the head is inflated. Python reads a longer one piece by piece, and verifies it.
const MAX_MEMBER: usize = 8 << 20;

/// Bytes of the buffer that is kept for the next member.
const MAX_KEPT: usize = 1 << 20;

/// A record with the content of its member, or with as much of it as was inflated.
pub struct Record<'a> {
    pub head: &'a Head,
    pub header: &'a [u8],
    held: &'a [u8],
    /// Bytes that a body may have.
    pub most: usize,
    /// Where the member is in the file, and its length.
    pub offset: u64,
    pub length: usize,
}

impl<'a> Record<'a> {
    /// What is held of the block.
    pub fn held(&self) -> &'a [u8] {
        self.held
    }

    /// Whether the block of this response is HTTP; None if that needs a closer look.
    pub fn holds_http(&self) -> Option<bool> {
        let kind = content_type(self.header)?;
        Some(kind.get(..16).is_some_and(|start| start.eq_ignore_ascii_case(b"application/http")))
    }

    /// Whether the end of the block was not inflated, and no body can be too large.
    pub fn is_cut(&self) -> bool {
        (self.held.len() as u64) < self.head.length && self.head.length <= self.most as u64
    }

    /// The block, if it is all there and no body can be too large.
    pub fn block(&self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.head.length).ok()?;
        (self.held.len() == length && length <= self.most).then_some(self.held)
    }
}

/// What became of a record that a counter was offered.
pub enum Taken {
    Counted,
    /// Nothing of it was counted, since it needs a closer look.
    Unusual,
    /// Nothing of it was counted, since not all of its block is there.
    Cut,
    /// Nothing of it was counted; `Letters` must be told a chunk first.
    Unknown(usize),
}

/// What counts records.
pub trait Counter {
    /// Whether a record that is given must be dealt with before the next one is offered.
    const IN_ORDER: bool = false;

    fn take(&mut self, record: &Record<'_>) -> Taken;
}

/// Takes nothing.
pub struct Nothing;

impl Counter for Nothing {
    fn take(&mut self, _: &Record<'_>) -> Taken {
        Taken::Unusual
    }
}

/// Where reading has come to.
pub struct Progress {
    /// The position in the data.
    pub at: usize,
    /// Where the data begin in the file.
    pub start: u64,
    /// Records passed that are not given: not selected, or counted.
    pub passed: usize,
    /// Of these, those of wanted types that do not meet the criteria.
    pub deselected: usize,
    /// Of these, those that were counted, whose payload the crawler has cut.
    pub cut: usize,
    /// Bytes that may still be inflated.
    pub budget: usize,
}

/// Why reading stops.
pub enum Stop {
    /// The next member is for Python to read, or the budget is spent.
    Over,
    /// The data do not show where the next member ends.
    Short,
    /// Here is a record to be given: its member, of this length, holds so many bytes in `content`.
    Record { head: Head, length: usize, size: usize },
    /// As `Taken::Unknown`; the record comes again.
    Unknown(usize),
}

/// Reads the records that a selection takes.
pub struct Records {
    members: Coding,
    selection: Selection,
    awaiting: Awaiting,
    heads: usize,
    most: usize,
    content: Vec<u8>,
    unseen: usize,
}

impl Records {
    /// `heads` is how many bytes of each are inflated, 0 for all; `most`, how many a body may have.
    pub fn new(members: Coding, selection: Selection, heads: usize, most: usize) -> Records {
        let awaiting = Awaiting::new(&selection, &members);
        Records { members, selection, awaiting, heads, most, content: Vec::new(), unseen: 0 }
    }

    pub fn content(&self, size: usize) -> &[u8] {
        &self.content[..size]
    }

    /// Goes on from where `progress` is, until there is a record to be given.
    ///
    /// `search` says of a URL whether it is chosen, or None if reading is to stop.
    pub fn read(
        &mut self,
        data: &[u8],
        ended: bool,
        progress: &mut Progress,
        counter: &mut impl Counter,
        search: &mut impl FnMut(&[u8]) -> Option<bool>,
    ) -> Stop {
        while progress.budget > 0 {
            let member = match self.members.candidate(data, progress.at, ended) {
                Candidate::Bytes(member) => member,
                Candidate::Short => return Stop::Short,
                Candidate::No => break,
            };
            let behind = progress.at + member.len();
            let awaits = self.awaiting.is_on();
            let next = if awaits { self.members.candidate(data, behind, ended) } else { Candidate::No };
            if next == Candidate::Short {
                return Stop::Short;
            }
            let found = match self.heads {
                0 => self.whole(member),
                _ if member.len() > MAX_MEMBER => None,
                _ => self.head(member),
            };
            let Some((head, size)) = found else {
                break;
            };
            progress.budget = progress.budget.saturating_sub(size);
            let mut verdict = self.verdict(&head, size);
            if verdict == Some(Verdict::Asks) {
                let Some(is_found) = url_of(&self.content[..head.start]).and_then(&mut *search) else {
                    break;
                };
                verdict = Some(if is_found { Verdict::Taken } else { Verdict::LeftOut });
            }
            if verdict == Some(Verdict::LeftOut) || verdict.is_none() {
                progress.deselected += usize::from(verdict.is_some());
                progress.passed += 1;
                progress.at += member.len();
                continue;
            }
            if awaits {
                let page = &self.content[..size];
                if let Some(length) = self.awaiting.left_out(&self.selection, &mut self.members, &head, page, next) {
                    progress.deselected += 1;
                    progress.passed += 2;
                    progress.at = behind + length;
                    continue;
                }
            }
            let place = (progress.start + progress.at as u64, member.len());
            let may_count = self.unseen < MAX_UNSEEN && verdict == Some(Verdict::Taken);
            let mut taken = if may_count { self.offer(&head, size, place, counter) } else { Taken::Unusual };
            let (mut head, mut size) = (head, size);
            if matches!(taken, Taken::Cut) {
                // If it is not whole, Python gets the beginning, and finds that out.
                if let Some(found) = self.whole(member) {
                    (head, size) = found;
                    taken = self.offer(&head, size, place, counter);
                } else if let Some(found) = self.head(member) {
                    (head, size) = found;
                }
            }
            match taken {
                Taken::Unknown(chunk) => return Stop::Unknown(chunk),
                Taken::Counted => {
                    self.unseen += size;
                    progress.cut += usize::from(is_truncated(&self.content[..head.start]));
                    progress.passed += 1;
                    progress.at += member.len();
                }
                Taken::Unusual | Taken::Cut => {
                    self.unseen = 0;
                    progress.at += member.len();
                    return Stop::Record { head, length: member.len(), size };
                }
            }
        }
        self.content.truncate(MAX_KEPT);
        self.content.shrink_to(MAX_KEPT);
        Stop::Over
    }

    /// What becomes of a record, by as much of its member as was inflated; None if its type is not wanted.
    fn verdict(&self, head: &Head, size: usize) -> Option<Verdict> {
        let (header, held) = self.content[..size].split_at_checked(head.start)?;
        let held = &held[..held.len().min(usize::try_from(head.length).unwrap_or(usize::MAX))];
        self.selection.wants(head).then(|| self.selection.verdict(head, header, held))
    }

    /// Offers a record to a counter: its offset and length in the file are its `place`.
    fn offer(&self, head: &Head, size: usize, place: (u64, usize), counter: &mut impl Counter) -> Taken {
        let (offset, length) = place;
        let (header, held) = self.content[..size].split_at(head.start);
        let held = &held[..held.len().min(usize::try_from(head.length).unwrap_or(usize::MAX))];
        counter.take(&Record { head, header, held, most: self.most, offset, length })
    }

    /// How many records were read since the last call of which a changed byte need not be noticed.
    pub fn unproven(&mut self) -> usize {
        self.members.unproven()
    }

    /// The record that a member holds, with all of its content.
    fn whole(&mut self, member: &[u8]) -> Option<(Head, usize)> {
        let content = self.members.whole(member, &mut self.content)?;
        Some((whole_record(content)?, content.len()))
    }

    /// The record that a member holds, with the first bytes of its content.
    fn head(&mut self, member: &[u8]) -> Option<(Head, usize)> {
        let declared = self.members.declared(member)?;
        if declared <= self.heads as u64 {
            return self.whole(member);
        }
        let content = self.members.head(member, self.heads, &mut self.content)?;
        let head = quick_head(content)?;
        head.fills(declared).then_some((head, content.len()))
    }
}
