//! What is part of a word, and its lower case, as the running Python has it: Unicode versions differ.

use std::sync::OnceLock;

use crate::words::lower_ascii;

/// Characters that Python is asked about at a time.
pub const CHUNK: usize = 1 << 10;
const CHUNKS: usize = 0x11_0000 / CHUNK;

/// Whose lower case is more than one character, or depends on the characters around: İ and Σ.
pub const IRREGULAR: [char; 2] = ['\u{130}', '\u{3a3}'];

/// For each character its lower case if that is part of words, else NUL; known in chunks.
pub struct Letters {
    chunks: [OnceLock<Box<[char; CHUNK]>>; CHUNKS],
}

/// A chunk that `Letters` must be told before it can go on.
#[derive(Debug, PartialEq)]
pub struct Unknown {
    pub chunk: usize,
    /// Where in the text the character stands that it is needed for.
    pub at: usize,
}

/// The characters of a chunk that Python can be asked about: all but surrogates and irregular ones.
pub fn characters(chunk: usize) -> impl Iterator<Item = char> {
    (chunk * CHUNK..(chunk + 1) * CHUNK)
        .filter_map(|code| char::from_u32(u32::try_from(code).ok()?))
        .filter(|character| !IRREGULAR.contains(character))
}

impl Letters {
    pub const fn new() -> Letters {
        Letters { chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    /// Take in a chunk: for each of its `characters`, the lower case, or NUL.
    ///
    /// False if these are not as many.
    pub fn learn(&self, chunk: usize, lowered: &str) -> bool {
        if characters(chunk).count() != lowered.chars().count() {
            return false;
        }
        let mut table = Box::new(['\0'; CHUNK]);
        for (character, lower) in characters(chunk).zip(lowered.chars()) {
            table[character as usize % CHUNK] = lower;
        }
        let _ = self.chunks[chunk].set(table); // another thread may have been first, with the same
        true
    }

    /// Appends the lower-cased text from this place on, with a NUL for each character that is in no word.
    pub fn lower_words(&self, text: &str, from: usize, lowered: &mut Vec<u8>) -> Result<(), Unknown> {
        let rest = text.get(from..).unwrap_or_default();
        lowered.reserve(rest.len());
        let mut utf8 = [0; 4];
        for (at, character) in rest.char_indices() {
            if character.is_ascii() {
                lowered.push(lower_ascii(character as u8));
                continue;
            }
            let code = character as usize;
            let Some(table) = self.chunks[code / CHUNK].get() else {
                return Err(Unknown { chunk: code / CHUNK, at: from + at });
            };
            lowered.extend_from_slice(table[code % CHUNK].encode_utf8(&mut utf8).as_bytes());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{characters, Letters, Unknown, CHUNK, IRREGULAR};

    fn lower(character: char) -> char {
        let lower = character.to_lowercase().next().unwrap_or(character);
        if lower.is_alphanumeric() || lower == '_' {
            lower
        } else {
            '\0'
        }
    }

    #[test]
    fn text_is_lowered_and_cut_as_soon_as_its_letters_are_known() {
        let (letters, text, mut found) = (Letters::new(), "ÀB c\u{301}Д–漢\u{1f600}_", Vec::new());
        let (mut from, mut asked) = (0, Vec::new());
        while let Err(Unknown { chunk, at }) = letters.lower_words(text, from, &mut found) {
            assert!(letters.learn(chunk, &characters(chunk).map(lower).collect::<String>()));
            asked.push(chunk * CHUNK);
            from = at;
        }
        assert_eq!(found, "àb\0c\0д\0漢\0_".as_bytes());
        assert_eq!(asked, [0, 0x400, 0x2000, 0x6c00, 0x1f400]);
    }

    #[test]
    fn surrogates_and_irregular_characters_are_not_asked_about() {
        let all: Vec<char> = (0..0x11_0000 / CHUNK).flat_map(characters).collect();
        assert_eq!(all.len(), 0x11_0000 - 0x800 - IRREGULAR.len());
        assert!(!Letters::new().learn(0, "too few"));
    }
}
