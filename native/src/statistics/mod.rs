//! Statistics of crawls and of hosts: the lines of captures for the shuffle, and what the sorted lines come to.

pub mod counted;
pub mod hosts;
pub mod lines;
#[cfg(feature = "python")]
pub mod python;
pub mod sketch;
pub mod tally;
