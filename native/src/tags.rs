//! Counts of the start tags of pages, by folded name.

use hashbrown::HashMap;

use crate::tokenizer::start_tags;

/// Counts by lower-cased spelling.
#[derive(Default)]
pub struct TagCounts {
    /// Names of up to seven bytes, which nearly all are: the bytes, and their number in the highest byte.
    short: HashMap<u64, u64>,
    long: HashMap<Box<[u8]>, u64>,
}

impl TagCounts {
    pub fn add_page(&mut self, page: &[u8]) {
        start_tags(page, |name| self.add(name));
    }

    fn add(&mut self, name: &[u8]) {
        if name.len() < 8 {
            let mut bytes = [0; 8];
            bytes[..name.len()].copy_from_slice(name);
            bytes.make_ascii_lowercase();
            bytes[7] = name.len() as u8;
            *self.short.entry(u64::from_le_bytes(bytes)).or_default() += 1;
        } else {
            let lowered = name.to_ascii_lowercase();
            *self.long.entry(lowered.into_boxed_slice()).or_default() += 1;
        }
    }

    pub fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// Counts by name as the tokenizer gives it: NUL and bytes that are no UTF-8 become U+FFFD.
    pub fn into_names(self) -> HashMap<String, u64> {
        let mut names = HashMap::with_capacity(self.len());
        let mut count = |spelling: &[u8], count: u64| {
            let name = String::from_utf8_lossy(spelling).replace('\0', "\u{fffd}");
            *names.entry(name).or_default() += count;
        };
        for (packed, number) in self.short {
            let bytes = packed.to_le_bytes();
            count(&bytes[..usize::from(bytes[7]).min(7)], number);
        }
        for (spelling, number) in self.long {
            count(&spelling, number);
        }
        names
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
