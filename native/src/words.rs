//! Counts of the words of texts, and of the texts that hold each word.

use hashbrown::hash_map::IntoIter;
use hashbrown::HashMap;

use crate::letters::{Letters, Unknown};

/// What is known of a word: how often it was seen, in how many texts, and the last of them.
pub struct Counts {
    pub words: u64,
    pub documents: u64,
    last: u64,
}

/// Counts by lower-cased word.
#[derive(Default)]
pub struct WordCounts {
    counts: HashMap<Box<[u8]>, Counts>,
    documents: u64,
    lowered: Vec<u8>,
}

impl WordCounts {
    /// Count one text.
    ///
    /// If it holds characters that `letters` does not know yet, this comes to nothing, and must be tried again with all
    /// of the same text, from the place that `Unknown` names.
    pub fn add_text(&mut self, text: &str, from: usize, letters: &Letters) -> Result<(), Unknown> {
        if from == 0 {
            self.lowered.clear();
        }
        letters.lower_words(text, from, &mut self.lowered)?;
        self.documents += 1;
        let mut lowered = std::mem::take(&mut self.lowered);
        for word in lowered.split(|&byte| byte == 0) {
            if !word.is_empty() {
                self.add_word(word);
            }
        }
        lowered.clear();
        lowered.shrink_to(MOST_KEPT);
        self.lowered = lowered;
        Ok(())
    }

    fn add_word(&mut self, word: &[u8]) {
        if let Some(counts) = self.counts.get_mut(word) {
            counts.words += 1;
            counts.documents += u64::from(counts.last != self.documents);
            counts.last = self.documents;
        } else {
            self.counts.insert(word.into(), Counts { words: 1, documents: 1, last: self.documents });
        }
    }

    pub fn len(&self) -> usize {
        self.counts.len()
    }

    pub fn into_counts(self) -> IntoIter<Box<[u8]>, Counts> {
        self.counts.into_iter()
    }
}

/// Bytes of a buffer that is kept for the next text.
const MOST_KEPT: usize = 1 << 20;

/// The lower case of an ASCII byte that is part of words; 0 for all others.
pub fn lower_ascii(byte: u8) -> u8 {
    LOWER[usize::from(byte)]
}

const LOWER: [u8; 256] = {
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

#[cfg(test)]
mod tests {
    use super::WordCounts;
    use crate::letters::Letters;

    #[test]
    fn words_and_documents_are_counted() {
        let mut counts = WordCounts::default();
        for text in ["A b-a _1", "a", "", " . "] {
            counts.add_text(text, 0, &Letters::new()).unwrap();
        }
        assert_eq!(counts.len(), 3);
        let mut found: Vec<_> =
            counts.into_counts().map(|(word, counts)| (word, counts.words, counts.documents)).collect();
        found.sort_unstable();
        assert_eq!(found, [(b"_1"[..].into(), 1, 1), (b"a"[..].into(), 3, 2), (b"b"[..].into(), 1, 1)]);
    }
}
