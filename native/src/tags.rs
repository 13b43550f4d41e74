//! Counts of the start tags of pages, by folded name.

use hashbrown::HashMap;

use crate::body::Bodies;
use crate::http::Response;
use crate::page::{kind, Encoding, Kind};
use crate::records::{Counter, Record, Taken};
use crate::tokenizer::{start_tags, Element, Found};
use crate::warc::RESPONSE;

/// Names that are counted in the table: a power of two.
const SLOTS: usize = 1 << 9;

/// Counts by lower-cased spelling.
pub struct TagCounts {
    /// Names of up to seven bytes, the first to come to their places, which nearly all tags have.
    frequent: Box<[Slot; SLOTS]>,
    taken: usize,
    /// The others of up to seven bytes.
    short: HashMap<u64, u64>,
    long: HashMap<Box<[u8]>, u64>,
    bodies: Bodies,
}

#[derive(Clone, Copy)]
struct Slot {
    /// The name, as `pack` has it; 0 if there is none.
    name: u64,
    count: u64,
    element: Element,
}

impl Default for TagCounts {
    fn default() -> TagCounts {
        let empty = Slot { name: 0, count: 0, element: Element::Other };
        TagCounts {
            frequent: Box::new([empty; SLOTS]),
            taken: 0,
            short: HashMap::new(),
            long: HashMap::new(),
            bodies: Bodies::default(),
        }
    }
}

impl Found for TagCounts {
    fn name(&mut self, name: &[u8], first: Option<u64>) -> Element {
        if name.len() > 7 {
            let lowered = name.to_ascii_lowercase();
            *self.long.entry(lowered.into_boxed_slice()).or_default() += 1;
            return Element::of(name);
        }
        let packed = pack(name, first);
        // Fibonacci hashing: it need not withstand anybody, since a slot is looked at once and never searched for.
        let slot = &mut self.frequent[(packed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize % SLOTS];
        if slot.name != packed {
            if slot.name != 0 {
                *self.short.entry(packed).or_default() += 1;
                return Element::of(name);
            }
            *slot = Slot { name: packed, count: 0, element: Element::of(name) };
            self.taken += 1;
        }
        slot.count += 1;
        slot.element
    }
}

/// A name of one to seven bytes in lower case, and their number in the highest byte.
fn pack(name: &[u8], first: Option<u64>) -> u64 {
    let length = name.len() as u64;
    let bytes = match first {
        Some(eight) => eight & ((1 << (8 * length)) - 1),
        None => {
            let mut bytes = [0; 8];
            bytes[..name.len()].copy_from_slice(name);
            u64::from_le_bytes(bytes)
        }
    };
    let mut lowered = bytes.to_le_bytes();
    lowered.make_ascii_lowercase();
    u64::from_le_bytes(lowered) | length << 56
}

fn unpack(packed: u64) -> ([u8; 8], usize) {
    let bytes = packed.to_le_bytes();
    (bytes, usize::from(bytes[7]).min(7))
}

impl TagCounts {
    pub fn add_page(&mut self, page: &[u8]) {
        start_tags(page, self);
    }

    pub fn len(&self) -> usize {
        self.taken + self.short.len() + self.long.len()
    }

    /// Counts by name as the tokenizer gives it: NUL and bytes that are no UTF-8 become U+FFFD.
    pub fn into_names(self) -> HashMap<String, u64> {
        let mut names = HashMap::with_capacity(self.len());
        let mut count = |spelling: &[u8], count: u64| {
            let name = String::from_utf8_lossy(spelling).replace('\0', "\u{fffd}");
            *names.entry(name).or_default() += count;
        };
        let frequent = self.frequent.iter().filter(|slot| slot.name != 0).map(|slot| (slot.name, slot.count));
        for (packed, number) in frequent.chain(self.short) {
            let (bytes, length) = unpack(packed);
            count(&bytes[..length], number);
        }
        for (spelling, number) in self.long {
            count(&spelling, number);
        }
        names
    }
}

impl Counter for TagCounts {
    fn take(&mut self, record: &Record<'_>) -> Taken {
        match self.add_response(record) {
            Some(()) => Taken::Counted,
            None => Taken::Unusual,
        }
    }
}

impl TagCounts {
    /// Counts the tags of a response if it is HTML; None, and nothing is counted, if it needs a closer look.
    fn add_response(&mut self, record: &Record<'_>) -> Option<()> {
        if record.head.kind != RESPONSE {
            return None;
        }
        if !record.holds_http()? {
            return Some(());
        }
        let response = Response::of(record.held())?;
        let kind = kind(&response)?;
        if matches!(kind, Kind::Other) {
            return Some(());
        }
        record.block()?;
        let mut bodies = std::mem::take(&mut self.bodies);
        let counted = bodies.page(&response, &kind, record.most).and_then(|page| self.add_response_page(page, &kind));
        self.bodies = bodies;
        counted
    }

    fn add_response_page(&mut self, page: &[u8], kind: &Kind) -> Option<()> {
        if matches!(kind, Kind::Stated(Encoding::Iso2022Jp)) {
            // Of the bytes that stand for its letters only that they are no ASCII is right, so no name may have any.
            let mut names = Names { ascii: true };
            start_tags(page, &mut names);
            if !names.ascii {
                return None;
            }
        }
        self.add_page(page);
        Some(())
    }
}

/// Whether all names are ASCII.
struct Names {
    ascii: bool,
}

impl Found for Names {
    fn name(&mut self, name: &[u8], _: Option<u64>) -> Element {
        self.ascii &= name.is_ascii();
        Element::of(name)
    }
}

#[cfg(test)]
mod tests {
    use super::TagCounts;

    #[test]
    fn spellings_are_folded() {
        let mut counts = TagCounts::default();
        counts.add_page("<DIV><div><MY-Element><a\0><a\u{fffd}><aÉ>".as_bytes());
        counts.add_page(b"<a\xff><abcdefg><ABCDEFG><abcdefgh>");
        let names = counts.into_names();
        let mut found: Vec<_> = names.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        found.sort_unstable();
        let expected = [("abcdefg", 2), ("abcdefgh", 1), ("aÉ", 1), ("a\u{fffd}", 3), ("div", 2), ("my-element", 1)];
        assert_eq!(found, expected);
    }
}
