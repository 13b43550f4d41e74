//! Which records are wanted, decided on their heads: the twin of `crawlmill.formats.selection.Selection`.
//!
//! It holds what can be decided here; where it cannot decide, Python sees the record before anything is counted.

use crate::criteria::{Criteria, Verdict};
use crate::warc::{Head, TYPES};

/// The conditions that a record must meet.
pub struct Selection {
    types: [bool; TYPES.len()],
    criteria: Option<Criteria>,
}

impl Selection {
    /// Records of these types, None for all, that meet the criteria.
    pub fn new(types: Option<&[String]>, criteria: Option<Criteria>) -> Selection {
        let types = TYPES.map(|name| types.is_none_or(|types| types.iter().any(|wanted| wanted == name)));
        Selection { types, criteria }
    }

    /// Whether the type of the record with this head is wanted.
    pub fn wants(&self, head: &Head) -> bool {
        self.types[head.kind]
    }

    /// The criteria, if the metadata record behind a page must answer some of them.
    pub fn awaiting(&self) -> Option<&Criteria> {
        self.criteria.as_ref().filter(|criteria| criteria.awaits_metadata())
    }

    /// Whether a record of a wanted type is chosen, by its header and what is held of its block.
    pub fn verdict(&self, head: &Head, header: &[u8], held: &[u8]) -> Verdict {
        match &self.criteria {
            None => Verdict::Taken,
            Some(criteria) if criteria.awaits_metadata() => Verdict::Unsure,
            Some(criteria) => criteria.verdict(head.kind, header, held),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::{METADATA, RESPONSE};

    fn wants(types: Option<&[&str]>, kind: usize) -> bool {
        let types: Option<Vec<String>> = types.map(|types| types.iter().map(ToString::to_string).collect());
        Selection::new(types.as_deref(), None).wants(&Head { kind, start: 0, length: 0 })
    }

    #[test]
    fn records_are_chosen_by_type() {
        assert!(wants(None, RESPONSE));
        assert!(wants(Some(&["response"]), RESPONSE));
        assert!(!wants(Some(&["response"]), METADATA));
        assert!(!wants(Some(&[]), RESPONSE));
        assert!(!wants(Some(&["filedesc"]), RESPONSE));
    }
}
