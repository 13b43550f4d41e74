//! Sorting lines by their bytes, in bounded memory: in memory, on disk, cut into partitions, merged, summed by key.
//!
//! A line's bytes are those without its line end, so that the order is that of `LC_ALL=C sort`.

pub mod buffer;
pub mod external;
pub mod merge;
#[cfg(feature = "python")]
pub mod python;
pub mod spill;
pub mod store;
pub mod sums;
