//! The places of a byte that is frequent: without a call for each, as `memchr_iter` has it.

const BLOCK: usize = 128;
const LANES: usize = 16;

/// Bytes that are searched at once.
pub const STEP: usize = 1024;

/// Writes the places of a byte in up to `STEP` bytes, and says how many there are. Neighbours come in no order.
pub fn find(data: &[u8], byte: u8, places: &mut [u16; STEP]) -> usize {
    let mut count = 0;
    let mut add = |place: usize, is_one: bool| {
        places[count % STEP] = place as u16;
        count += usize::from(is_one);
    };
    let blocks = data.chunks_exact(BLOCK);
    let rest = data.len() - blocks.remainder().len();
    for (number, block) in blocks.enumerate() {
        // Written so that the compiler makes SIMD of it. Bit k of byte l stands for place 16 k + l of the block.
        let mut hits = [0; BLOCK];
        for (hit, &found) in hits.iter_mut().zip(block) {
            *hit = u8::from(found == byte);
        }
        let mut halves = [0; 2];
        for (k, lanes) in hits.chunks_exact(LANES).enumerate() {
            for (half, lanes) in halves.iter_mut().zip(lanes.chunks_exact(8)) {
                *half |= lanes.try_into().map_or(0, u64::from_le_bytes) << k;
            }
        }
        for (half, mut bits) in halves.into_iter().enumerate() {
            let mut next = || {
                let bit = bits.trailing_zeros() as usize;
                let is_one = bits != 0;
                bits &= bits.wrapping_sub(1);
                add(number * BLOCK + bit % 8 * LANES + half * 8 + bit / 8, is_one);
                bits != 0
            };
            // No branch for the first two: whether they are there cannot be foreseen.
            next();
            while next() {}
        }
    }
    for (place, &found) in data.iter().enumerate().skip(rest) {
        add(place, found == byte);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{find, BLOCK, STEP};

    #[test]
    fn every_place_is_found_once() {
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 17, STEP] {
            for step in [1, 2, 7, 16, 61] {
                let data: Vec<u8> = (0..length).map(|at| if at % step == 0 { b'=' } else { b'=' ^ 0x80 }).collect();
                let mut places = [0; STEP];
                let count = find(&data, b'=', &mut places);
                places[..count].sort_unstable();
                let expected: Vec<u16> = (0..length as u16).step_by(step).collect();
                assert_eq!(places[..count], expected, "{length} {step}");
            }
        }
    }
}
