//! The lines of a URL index, made of the records of an archive.

pub mod described;
pub mod exchange;
pub mod lines;
#[cfg(feature = "python")]
pub mod python;
