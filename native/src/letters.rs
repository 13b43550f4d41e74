//! What is part of a word, and its lower case, as the running Python has it: Unicode versions differ.

use std::sync::OnceLock;

use crate::words::LOWER_ASCII;

/// Characters that Python is asked about at a time.
pub const CHUNK: usize = 1 << 10;
const CHUNKS: usize = 0x11_0000 / CHUNK;

/// Whose lower case is more than one character, or depends on the characters around: İ and Σ.
pub const IRREGULAR: [char; 2] = ['\u{130}', '\u{3a3}'];

/// In a table, what no character is in UTF-8.
const ASK_PYTHON: [u8; 4] = [0xff; 4];

/// For each character its lower case in UTF-8 if that is part of words, else NUL; known in chunks.
pub struct Letters {
    chunks: [OnceLock<Box<[[u8; 4]; CHUNK]>>; CHUNKS],
}

/// Why a text cannot be lowered to its end.
#[derive(Debug, PartialEq)]
pub enum Stop {
    /// `Letters` must be told a chunk first: for the character that stands here in the text.
    Unknown { chunk: usize, at: usize },
    /// There is an irregular character: Python itself must lower this text.
    Irregular,
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
        let mut table = Box::new([[0; 4]; CHUNK]);
        for (character, lower) in characters(chunk).zip(lowered.chars()) {
            lower.encode_utf8(&mut table[character as usize % CHUNK]);
        }
        for irregular in IRREGULAR.map(|character| character as usize) {
            if irregular / CHUNK == chunk {
                table[irregular % CHUNK] = ASK_PYTHON;
            }
        }
        let _ = self.chunks[chunk].set(table); // another thread may have been first, with the same
        true
    }

    /// Appends the lower-cased text from this place on, with a NUL for each character that is in no word.
    pub fn lower_words(&self, text: &str, from: usize, lowered: &mut Vec<u8>) -> Result<(), Stop> {
        let mut rest = text.as_bytes().get(from..).unwrap_or_default();
        lowered.reserve(rest.len());
        while let Some(&byte) = rest.first() {
            if let Some(eight) = rest.first_chunk::<8>().filter(|eight| eight.is_ascii()) {
                lowered.extend_from_slice(&eight.map(|byte| LOWER_ASCII[usize::from(byte)]));
                rest = &rest[8..];
                continue;
            }
            if byte < 0x80 {
                lowered.push(LOWER_ASCII[usize::from(byte)]);
                rest = &rest[1..];
                continue;
            }
            let (code, length) = decode(byte, rest);
            let Some(table) = self.chunks.get(code / CHUNK).and_then(OnceLock::get) else {
                return Err(Stop::Unknown { chunk: code / CHUNK, at: text.len() - rest.len() });
            };
            match table[code % CHUNK] {
                ASK_PYTHON => return Err(Stop::Irregular),
                [lower, 0, ..] => lowered.push(lower),
                [one, two, 0, _] => lowered.extend_from_slice(&[one, two]),
                [one, two, three, 0] => lowered.extend_from_slice(&[one, two, three]),
                four => lowered.extend_from_slice(&four),
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        Ok(())
    }
}

/// The character at the beginning of valid UTF-8 whose first byte is not ASCII, and its length.
fn decode(first: u8, bytes: &[u8]) -> (usize, usize) {
    let bits = |at: usize| usize::from(bytes.get(at).copied().unwrap_or_default() & 0x3f);
    let first = usize::from(first);
    match first {
        ..=0xdf => ((first & 0x1f) << 6 | bits(1), 2),
        0xe0..=0xef => ((first & 0x0f) << 12 | bits(1) << 6 | bits(2), 3),
        _ => ((first & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3), 4),
    }
}

#[cfg(test)]
mod tests {
    use super::{characters, Letters, Stop, CHUNK, IRREGULAR};

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
        while let Err(Stop::Unknown { chunk, at }) = letters.lower_words(text, from, &mut found) {
            assert!(letters.learn(chunk, &characters(chunk).map(lower).collect::<String>()));
            asked.push(chunk * CHUNK);
            from = at;
        }
        assert_eq!(found, "àb\0c\0д\0漢\0_".as_bytes());
        assert_eq!(letters.lower_words("aΣ", 0, &mut found), Err(Stop::Irregular));
        assert_eq!(asked, [0, 0x400, 0x2000, 0x6c00, 0x1f400]);
    }

    #[test]
    fn surrogates_and_irregular_characters_are_not_asked_about() {
        let all: Vec<char> = (0..0x11_0000 / CHUNK).flat_map(characters).collect();
        assert_eq!(all.len(), 0x11_0000 - 0x800 - IRREGULAR.len());
        assert!(!Letters::new().learn(0, "too few"));
    }
}
