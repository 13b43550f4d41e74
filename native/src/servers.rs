//! Counts of the servers of responses: of HTTP headers, and of WAT records.

use hashbrown::HashMap;

use crate::http::Response;
use crate::records::{Counter, Record, Taken};
use crate::warc::{content_type, METADATA, RESPONSE};
use crate::wat::{servers, trim, Servers};

/// Counts by server; of responses without one under None.
#[derive(Default)]
pub struct ServerCounts {
    named: HashMap<Box<str>, u64>,
    unnamed: u64,
}

impl ServerCounts {
    fn add(&mut self, names: &[&str]) {
        self.unnamed += u64::from(names.is_empty());
        for &name in names {
            match self.named.get_mut(name) {
                Some(count) => *count += 1,
                None => {
                    self.named.insert(name.into(), 1);
                }
            }
        }
    }

    pub fn len(&self) -> usize {
        self.named.len() + usize::from(self.unnamed > 0)
    }

    pub fn into_counts(self) -> impl Iterator<Item = (Option<Box<str>>, u64)> {
        let unnamed = (self.unnamed > 0).then_some((None, self.unnamed));
        self.named.into_iter().map(|(name, count)| (Some(name), count)).chain(unnamed)
    }

    /// Counts a response; None, and nothing is counted, if it needs a closer look.
    fn add_response(&mut self, record: &Record<'_>) -> Option<()> {
        if !record.holds_http()? {
            return Some(());
        }
        let mut names: Vec<&str> = Vec::new();
        for value in Response::of(record.held())?.values(b"Server") {
            let name = std::str::from_utf8(trim(value)).ok()?;
            if !(name.is_empty() || names.contains(&name)) {
                names.push(name);
            }
        }
        self.add(&names);
        Some(())
    }

    /// Counts what a metadata record says of a response.
    fn add_metadata(&mut self, record: &Record<'_>) -> Taken {
        match content_type(record.header) {
            Some(b"application/json") => {}
            Some(_) => return Taken::Counted,
            None => return Taken::Unusual,
        }
        let Some(block) = record.block() else {
            return if record.is_cut() { Taken::Cut } else { Taken::Unusual };
        };
        match servers(block) {
            Servers::NoResponse => {}
            Servers::Named(names) => self.add(&names),
            Servers::Unusual => return Taken::Unusual,
        }
        Taken::Counted
    }
}

impl Counter for ServerCounts {
    fn take(&mut self, record: &Record<'_>) -> Taken {
        match record.head.kind {
            RESPONSE => self.add_response(record).map_or(Taken::Unusual, |()| Taken::Counted),
            METADATA => self.add_metadata(record),
            _ => Taken::Unusual,
        }
    }
}
