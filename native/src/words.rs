//! Counts of the words of texts, and of the texts that hold each word.

use std::borrow::Cow;
use std::hash::Hash;

use hashbrown::HashMap;

use crate::letters::{Letters, Lowered, Stop, LETTERS, PADDING};
use crate::records::{Counter, Record, Taken};
use crate::warc::CONVERSION;

/// Bytes of the words that are counted by themselves, without a place of their own in memory: most are no longer.
const SHORT: usize = 16;
const _: () = assert!(PADDING >= 2 * SHORT); // so that each word may be looked at in one piece

/// Words for which the map of a text has room that is kept.
const MAX_WORDS_KEPT: usize = 1 << 14;

/// What is known of a word: how often it was seen, and in how many texts.
#[derive(Default)]
pub struct Counts {
    pub words: u64,
    pub documents: u64,
}

/// The bytes of a short word, which has no NUL, and NULs behind it.
#[derive(PartialEq, Eq, Hash)]
struct Short(u64, u64);

impl Short {
    fn new(bytes: u128) -> Short {
        Short(bytes as u64, (bytes >> 64) as u64)
    }

    fn bytes(&self) -> [u8; SHORT] {
        (u128::from(self.0) | u128::from(self.1) << 64).to_le_bytes()
    }
}

/// Counts by lower-cased word.
///
/// The words of a text are counted by themselves first: most come several times, and few maps of one text are so large
/// that a processor has to wait for them.
#[derive(Default)]
pub struct WordCounts {
    short: HashMap<Short, Counts>,
    long: HashMap<Box<[u8]>, Counts>,
    /// Of the text at hand.
    short_here: HashMap<Short, u64>,
    long_here: HashMap<Box<[u8]>, u64>,
    lowered: Lowered,
}

impl WordCounts {
    /// Count one text.
    ///
    /// If `letters` stops, this comes to nothing. It may go on with the same text, from where `Unknown` says.
    pub fn add_text(&mut self, text: &str, from: usize, letters: &Letters) -> Result<(), Stop> {
        if from == 0 {
            self.lowered.clear();
        }
        letters.lower_words(text, from, &mut self.lowered)?;
        let mut lowered = std::mem::take(&mut self.lowered);
        self.add_words(lowered.padded());
        self.end_text();
        lowered.clear();
        self.lowered = lowered;
        Ok(())
    }

    /// Count words that NULs part and end, `PADDING` of them the last.
    fn add_words(&mut self, mut lowered: &[u8]) {
        while let Some(bytes) = lowered.first_chunk::<SHORT>() {
            let bytes = u128::from_le_bytes(*bytes);
            let blanks = (bytes.trailing_zeros() / 8) as usize;
            if blanks > 0 {
                lowered = &lowered[blanks..];
                continue;
            }
            let mut length = first_zero(bytes);
            if length < SHORT || lowered.get(SHORT) == Some(&0) {
                let key = if length < SHORT { bytes & ((1 << (8 * length)) - 1) } else { bytes };
                *self.short_here.entry(Short::new(key)).or_default() += 1;
            } else {
                length = memchr::memchr(0, lowered).unwrap_or(lowered.len());
                let word = &lowered[..length];
                match self.long_here.get_mut(word) {
                    Some(count) => *count += 1,
                    None => {
                        self.long_here.insert(word.into(), 1);
                    }
                }
            }
            lowered = &lowered[length..];
        }
    }

    /// Add what was counted of the text to what is known.
    fn end_text(&mut self) {
        add_all(&mut self.short, &mut self.short_here);
        add_all(&mut self.long, &mut self.long_here);
    }

    pub fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// Calls `take` with the bytes of each word and its counts.
    pub fn each(self, mut take: impl FnMut(&[u8], Counts)) {
        for (word, counts) in self.short {
            let bytes = word.bytes();
            take(&bytes[..first_zero(u128::from_le_bytes(bytes)).min(SHORT)], counts);
        }
        for (word, counts) in self.long {
            take(&word, counts);
        }
    }

    /// Each word with its counts.
    pub fn into_counts(self) -> impl Iterator<Item = (String, Counts)> + Send + Sync {
        let short = self.short.into_iter().map(|(word, counts)| (word.bytes().into(), counts));
        let words = short.chain(self.long);
        words.map(|(word, counts): (Box<[u8]>, Counts)| {
            let word = String::from_utf8_lossy(&word);
            (word.trim_end_matches('\0').to_owned(), counts)
        })
    }
}

fn add_all<Word: Eq + Hash>(counts: &mut HashMap<Word, Counts>, here: &mut HashMap<Word, u64>) {
    for (word, number) in here.drain() {
        let counts = counts.entry(word).or_default();
        counts.words += number;
        counts.documents += 1;
    }
    here.shrink_to(MAX_WORDS_KEPT);
}

/// How many bytes stand before the first that is 0.
fn first_zero(bytes: u128) -> usize {
    const ONES: u128 = u128::MAX / 0xff;
    // The lowest bit that this leaves belongs to the first zero byte; those above may be wrong.
    let zeros = bytes.wrapping_sub(ONES) & !bytes & (ONES << 7);
    (zeros.trailing_zeros() / 8) as usize
}

/// The lower case of an ASCII byte that is part of words; 0 for all others.
pub const LOWER_ASCII: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let value = byte as u8;
        if value.is_ascii_alphanumeric() || value == b'_' {
            table[byte] = value.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

/// As `String::from_utf8_lossy`, and faster where there is nothing to replace.
pub fn utf8_lossy(text: &[u8]) -> Cow<'_, str> {
    simdutf8::basic::from_utf8(text).map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed)
}

impl Counter for WordCounts {
    fn take(&mut self, record: &Record<'_>) -> Taken {
        let text = if record.head.kind == CONVERSION { record.block() } else { None };
        let Some(text) = text.map(utf8_lossy) else {
            return Taken::Unusual;
        };
        match self.add_text(&text, 0, &LETTERS) {
            Ok(()) => Taken::Counted,
            Err(Stop::Irregular) => Taken::Unusual,
            Err(Stop::Unknown { chunk, .. }) => Taken::Unknown(chunk),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{first_zero, WordCounts};
    use crate::letters::Letters;

    fn counted(texts: &[&str]) -> Vec<(String, u64, u64)> {
        let mut counts = WordCounts::default();
        for text in texts {
            counts.add_text(text, 0, &Letters::new()).unwrap();
        }
        let length = counts.len();
        let mut found: Vec<_> = counts.into_counts().map(|(word, n)| (word, n.words, n.documents)).collect();
        assert_eq!(found.len(), length);
        found.sort_unstable();
        found
    }

    #[test]
    fn words_and_documents_are_counted() {
        let found = counted(&["A b-a _1", "a", "", " . "]);
        assert_eq!(found, [("_1".into(), 1, 1), ("a".into(), 3, 2), ("b".into(), 1, 1)]);
    }

    #[test]
    fn words_of_every_length_are_told_apart() {
        for length in 1..40 {
            for blanks in 1..20 {
                let (word, other) = ("x".repeat(length), "x".repeat(length - 1) + "y");
                let blank = " ".repeat(blanks);
                let found = counted(&[&format!("{word}{blank}{other}{blank}{word}"), &word, &other.to_uppercase()]);
                assert_eq!(found, [(word, 3, 2), (other, 2, 2)]);
            }
        }
    }

    #[test]
    fn first_zero_is_found() {
        for at in 0..16 {
            let mut bytes = [1_u8; 16];
            bytes[at..].fill(0);
            bytes[15] = 0x80;
            let expected = bytes.iter().position(|&byte| byte == 0).unwrap_or(16);
            assert_eq!(first_zero(u128::from_le_bytes(bytes)), expected);
        }
    }
}
