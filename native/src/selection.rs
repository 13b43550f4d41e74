//! Which records are wanted, decided on their heads: the twin of `crawlmill.formats.selection.Selection`.
//!
//! It holds what can be decided here; of a condition that it does not know, Python sees to it that nothing is counted
//! before Python has decided.

use crate::warc::{Head, TYPES};

/// The conditions that a record must meet.
pub struct Selection {
    types: [bool; TYPES.len()],
}

impl Selection {
    /// Records of these types; None for all.
    pub fn of_types(types: Option<&[String]>) -> Selection {
        Selection { types: TYPES.map(|name| types.is_none_or(|types| types.iter().any(|wanted| wanted == name))) }
    }

    /// Whether the record with this head is wanted.
    pub fn takes(&self, head: &Head) -> bool {
        self.types[head.kind]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::{METADATA, RESPONSE};

    fn takes(types: Option<&[&str]>, kind: usize) -> bool {
        let types: Option<Vec<String>> = types.map(|types| types.iter().map(ToString::to_string).collect());
        Selection::of_types(types.as_deref()).takes(&Head { kind, start: 0, length: 0 })
    }

    #[test]
    fn records_are_chosen_by_type() {
        assert!(takes(None, RESPONSE));
        assert!(takes(Some(&["response"]), RESPONSE));
        assert!(!takes(Some(&["response"]), METADATA));
        assert!(!takes(Some(&[]), RESPONSE));
        assert!(!takes(Some(&["filedesc"]), RESPONSE));
    }
}
