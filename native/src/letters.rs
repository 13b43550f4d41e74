//! What is part of a word, and its lower case, as the running Python has it: Unicode versions differ.

use std::sync::OnceLock;

use crate::words::LOWER_ASCII;

/// Characters that Python is asked about at a time.
pub const CHUNK: usize = 1 << 10;
const CHUNKS: usize = 0x11_0000 / CHUNK;

/// Whose lower case is more than one character, or depends on the characters around.
pub const IRREGULAR: [char; 2] = [DOTTED_I, SIGMA];
const DOTTED_I: char = 'İ';
const SIGMA: char = 'Σ';

/// In place of a chunk: what `Letters` must be told about irregular characters.
pub const IRREGULAR_CHUNK: usize = CHUNKS;

/// What stands between the questions about irregular characters: not cased, nor ignored where case is asked for.
pub const APART: char = '\u{4e00}';

/// In a table, what no character is in UTF-8.
const ASK_PYTHON: [u8; 4] = [0xff; 4];

/// For each character its lower case in UTF-8 if that is part of words, else NUL; known in chunks.
pub struct Letters {
    chunks: [OnceLock<Box<[[u8; 4]; CHUNK]>>; CHUNKS],
    irregular: OnceLock<Irregular>,
}

/// What the running Python makes of irregular characters.
struct Irregular {
    /// İ is lowered to an i and something that is in no word.
    plain_i: bool,
    /// What the first characters are to a Σ beside them.
    beside: Box<[Beside; CHUNK]>,
}

/// What a character is to a Σ: if the first beside it that is not ignored is cased before it and not behind it, it ends
/// a word.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    Cased,
    NotCased,
    /// It is passed over, or not known.
    Ignored,
}

/// The questions that `learn_irregular` needs the lower case of: İ; each of the first characters before a Σ, alone and
/// behind an "a".
pub fn irregular_questions() -> String {
    let mut questions = format!("{DOTTED_I}{APART}");
    for character in ('\0'..).take(CHUNK) {
        questions.extend([character, SIGMA, APART, 'a', character, SIGMA, APART]);
    }
    questions
}

pub static LETTERS: Letters = Letters::new();

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
        Letters { chunks: [const { OnceLock::new() }; CHUNKS], irregular: OnceLock::new() }
    }

    /// Take in the lower case of `irregular_questions`, and that of İ with NULs for what is in no word.
    ///
    /// False if there are not as many.
    pub fn learn_irregular(&self, answers: &str, dotted_i: &str) -> bool {
        let mut answers = answers.split_terminator(APART).skip(1);
        let mut beside = Box::new([Beside::Ignored; CHUNK]);
        for kind in beside.iter_mut() {
            let (Some(alone), Some(behind)) = (answers.next(), answers.next()) else {
                return false;
            };
            *kind = match (alone.ends_with('ς'), behind.ends_with('ς')) {
                (true, true) => Beside::Cased,
                (false, false) => Beside::NotCased,
                _ => Beside::Ignored,
            };
        }
        let _ = self.irregular.set(Irregular { plain_i: dotted_i == "i\0", beside });
        answers.next().is_none()
    }

    /// The lower case of the irregular character that stands in a text at this place; None if Python must say it.
    fn lower_irregular(&self, irregular: &Irregular, text: &str, at: usize) -> Option<[u8; 4]> {
        let (before, behind) = text.split_at_checked(at)?;
        let mut behind = behind.chars();
        if behind.next()? == DOTTED_I {
            return irregular.plain_i.then_some([b'i', 0, 0, 0]);
        }
        let kind = |character: char| irregular.beside.get(character as usize).copied().unwrap_or(Beside::Ignored);
        let ends_word = match before.chars().next_back().map_or(Beside::NotCased, kind) {
            Beside::NotCased => false,
            Beside::Cased => match behind.next().map_or(Beside::NotCased, kind) {
                Beside::NotCased => true,
                Beside::Cased => false,
                Beside::Ignored => return None,
            },
            Beside::Ignored => return None,
        };
        let mut lower = [0; 4];
        if ends_word { 'ς' } else { 'σ' }.encode_utf8(&mut lower);
        Some(lower)
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
    pub fn lower_words(&self, text: &str, from: usize, lowered: &mut Lowered) -> Result<(), Stop> {
        let (all, text) = (text, text.as_bytes());
        let mut at = from.min(text.len());
        let (room, mut end) = lowered.make_room(text.len() - at);
        let (mut known, mut table) = (usize::MAX, None);
        while let Some(&byte) = text.get(at) {
            if byte < 0x80 {
                match text[at..].first_chunk::<8>().filter(|eight| eight.is_ascii()) {
                    Some(eight) => {
                        room[end..end + 8].copy_from_slice(&eight.map(|byte| LOWER_ASCII[usize::from(byte)]));
                        (at, end) = (at + 8, end + 8);
                    }
                    None => {
                        room[end] = LOWER_ASCII[usize::from(byte)];
                        (at, end) = (at + 1, end + 1);
                    }
                }
                continue;
            }
            let (code, length) = decode(byte, &text[at..]);
            if code / CHUNK != known {
                known = code / CHUNK;
                table = self.chunks.get(known).and_then(OnceLock::get);
            }
            let Some(table) = table else {
                lowered.end = end;
                return Err(Stop::Unknown { chunk: known, at });
            };
            let mut lower = table[code % CHUNK];
            if lower == ASK_PYTHON {
                let Some(irregular) = self.irregular.get() else {
                    lowered.end = end;
                    return Err(Stop::Unknown { chunk: IRREGULAR_CHUNK, at });
                };
                lower = self.lower_irregular(irregular, all, at).ok_or(Stop::Irregular)?;
                if lower[0] == b'i' {
                    room[end] = b'i';
                    (end, lower) = (end + 1, [0; 4]);
                }
            }
            room[end..end + 4].copy_from_slice(&lower);
            // What a character that is in no word stands for is one NUL, and else there are no NULs in these bytes.
            let bytes = 4 - u32::from_le_bytes(lower).leading_zeros() as usize / 8;
            (at, end) = (at + length, end + bytes.max(1));
        }
        lowered.end = end;
        Ok(())
    }
}

/// A lower-cased text, in a buffer that is kept for the next one.
#[derive(Default)]
pub struct Lowered {
    buffer: Vec<u8>,
    end: usize,
}

/// Bytes of a buffer that is kept.
const MAX_KEPT: usize = 1 << 20;

/// NULs that follow a text.
pub const PADDING: usize = 32;

impl Lowered {
    /// The text, and NULs behind it.
    pub fn padded(&mut self) -> &[u8] {
        let (_, end) = self.make_room(0);
        let padded = &mut self.buffer[..end + PADDING];
        padded[end..].fill(0);
        padded
    }

    pub fn clear(&mut self) {
        self.end = 0;
        self.buffer.truncate(MAX_KEPT);
        self.buffer.shrink_to(MAX_KEPT);
    }

    /// The buffer, with room for so many bytes of text in lower case, and where they go.
    fn make_room(&mut self, size: usize) -> (&mut [u8], usize) {
        // In lower case no character takes more than twice as many bytes.
        let needed = self.end.saturating_add(size.saturating_mul(2)).saturating_add(PADDING);
        if self.buffer.len() < needed {
            self.buffer.resize(needed, 0);
        }
        (&mut self.buffer, self.end)
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
    use super::{characters, irregular_questions, Letters, Lowered, Stop, CHUNK, IRREGULAR, IRREGULAR_CHUNK, PADDING};

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
        let (letters, text, mut found) = (Letters::new(), "ÀB c\u{301}Д–漢\u{1f600}_", Lowered::default());
        let (mut from, mut asked) = (0, Vec::new());
        while let Err(Stop::Unknown { chunk, at }) = letters.lower_words(text, from, &mut found) {
            assert!(letters.learn(chunk, &characters(chunk).map(lower).collect::<String>()));
            asked.push(chunk * CHUNK);
            from = at;
        }
        assert_eq!(found.padded(), ["àb\0c\0д\0漢\0_".as_bytes(), &[0; PADDING]].concat());
        assert_eq!(letters.lower_words("aΣ", 0, &mut found), Err(Stop::Unknown { chunk: IRREGULAR_CHUNK, at: 1 }),);
        assert_eq!(asked, [0, 0x400, 0x2000, 0x6c00, 0x1f400]);
    }

    #[test]
    fn irregular_characters_are_lowered_by_what_stands_beside_them() {
        let letters = Letters::new();
        assert!(letters.learn(0, &characters(0).map(lower).collect::<String>()));
        assert!(!letters.learn_irregular("too few", "i\0"));
        let letters = Letters::new();
        assert!(letters.learn(0, &characters(0).map(lower).collect::<String>()));
        assert!(letters.learn_irregular(&irregular_questions().to_lowercase(), "i\0"));
        let lowered = |text| {
            let mut lowered = Lowered::default();
            letters.lower_words(text, 0, &mut lowered)?;
            let padded = lowered.padded();
            Ok(String::from_utf8(padded[..padded.len() - PADDING].to_vec()).unwrap())
        };
        assert_eq!(lowered("ΣΑΣ ΟΣ-Σ Σ"), Ok("σας\0ος\0σ\0σ".into()));
        assert_eq!(lowered("İstanbul-İ"), Ok("i\0stanbul\0i\0".into()));
        for text in ["Α.Σ", "ΑΣ.Α", "ΑΣ\u{301}"] {
            assert_eq!(lowered(text), Err(Stop::Irregular), "{text}");
        }
    }

    #[test]
    fn surrogates_and_irregular_characters_are_not_asked_about() {
        let all: Vec<char> = (0..0x11_0000 / CHUNK).flat_map(characters).collect();
        assert_eq!(all.len(), 0x11_0000 - 0x800 - IRREGULAR.len());
        assert!(!Letters::new().learn(0, "too few"));
    }
}
