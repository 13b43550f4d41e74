//! The registers of a HyperLogLog sketch: the twin of `crawlmill.analysis.statistics.sketch`, which estimates by them.

const P: u32 = 14;
const SIZE: usize = 1 << P;

/// 16384 registers.
pub struct Sketch(Box<[u8]>);

impl Default for Sketch {
    fn default() -> Sketch {
        Sketch(vec![0; SIZE].into_boxed_slice())
    }
}

impl Sketch {
    /// Count a text by the first 8 bytes of its SHA-1, as a number that begins with the largest.
    pub fn add(&mut self, start: u64) {
        let rest = start >> P;
        let value = (51 - (u64::BITS - rest.leading_zeros())) as u8;
        let register = &mut self.0[start as usize & (SIZE - 1)];
        *register = value.max(*register);
    }

    pub fn registers(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Sketch;

    #[test]
    fn registers_keep_the_largest() {
        let mut sketch = Sketch::default();
        sketch.add(0x9c17_e047_f58f_9220);
        assert_eq!(sketch.registers()[4640], 1);
        sketch.add(4640);
        assert_eq!(sketch.registers()[4640], 51);
        sketch.add(0x9c17_e047_f58f_9220);
        assert_eq!(sketch.registers()[4640], 51);
        assert_eq!(sketch.registers().iter().filter(|&&value| value > 0).count(), 1);
    }
}
