//! SHA-1, of which samples of pages and sketches take the first 8 bytes.

use sha1::{Digest, Sha1};

/// The first 8 bytes of the SHA-1 of a text, as a number that begins with the largest.
pub fn sha1_start(text: &[u8]) -> u64 {
    Sha1::digest(text)[..8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
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
