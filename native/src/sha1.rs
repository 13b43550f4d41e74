//! SHA-1, of which samples of pages and sketches take the first 8 bytes.
//!
//! Spec: FIPS 180-4, section 6.1.

const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
const BLOCK: usize = 64;

/// The first 8 bytes of the SHA-1 of a text, as a number that begins with the largest.
pub fn sha1_start(text: &[u8]) -> u64 {
    let mut state = START;
    let blocks = text.chunks_exact(BLOCK);
    let rest = blocks.remainder();
    for block in blocks {
        add(&mut state, block);
    }
    let mut last = [0; 2 * BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let size = if rest.len() < BLOCK - 8 { BLOCK } else { 2 * BLOCK };
    last[size - 8..size].copy_from_slice(&(text.len() as u64 * 8).to_be_bytes());
    for block in last[..size].chunks_exact(BLOCK) {
        add(&mut state, block);
    }
    u64::from(state[0]) << 32 | u64::from(state[1])
}

fn add(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
    }
    for at in 16..80 {
        words[at] = (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (round, word) in words.iter().enumerate() {
        let (mixed, constant) = match round / 20 {
            0 => (d ^ (b & (c ^ d)), 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => ((b & c) | (d & (b | c)), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6u32),
        };
        let next = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant).wrapping_add(*word);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    for (value, more) in state.iter_mut().zip([a, b, c, d, e]) {
        *value = value.wrapping_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::sha1_start;

    #[test]
    fn digests_are_those_of_the_standard() {
        // FIPS 180, appendix A; the empty text and the million letters of RFC 3174.
        assert_eq!(sha1_start(b""), 0xda39_a3ee_5e6b_4b0d);
        assert_eq!(sha1_start(b"abc"), 0xa999_3e36_4706_816a);
        assert_eq!(sha1_start(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), 0x8498_3e44_1c3b_d26e);
        assert_eq!(sha1_start(&[b'a'; 1_000_000]), 0x34aa_973c_d4c4_daa4);
        assert_eq!(sha1_start(b"http://example.com/"), 0x9c17_e047_f58f_9220);
    }
}
