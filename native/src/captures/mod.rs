//! The lines of a URL index, made of the records of an archive.

pub mod copied;
pub mod described;
pub mod exchange;
pub mod lines;
pub mod listed;
#[cfg(feature = "python")]
pub mod python;
