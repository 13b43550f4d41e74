//! Lines of CDXJ of the records of one archive as nearly all are: the twin of `crawlmill.indexes.cdx.archive`.

use crate::captures::described::{detected, start, Detected, Extra, Start};
use crate::captures::exchange::{Exchange, Item};
use crate::json::push_text;
use crate::records::{Counter, Record, Taken};
use crate::warc::{METADATA, RESPONSE, REVISIT, TYPES};

/// Bytes of a block in which the HTTP header of a usual response ends.
const MAX_HTTP_HEAD: usize = 4 << 10;

/// Bytes of a metadata record that is read here.
const MAX_METADATA: usize = 64 << 10;

/// Makes the lines of responses and revisits, and reads what the crawler detected of them.
pub struct Captures {
    wanted: [bool; TYPES.len()],
    filename: Vec<u8>,
    pub extra: Extra,
    pub exchange: Exchange,
}

impl Captures {
    /// The records of these types are indexed under a file name, which is given as JSON.
    pub fn new(filename: &[u8], types: &[String], extra: Extra) -> Captures {
        Captures {
            wanted: TYPES.map(|name| types.iter().any(|wanted| wanted == name)),
            filename: filename.to_vec(),
            extra,
            exchange: Exchange::default(),
        }
    }

    /// The line of a record, in front of what was detected and behind it.
    pub fn line(&self, start: &Start<'_>, key: &[u8], length: u64, offset: u64) -> Item {
        let mut front = Vec::with_capacity(key.len() + start.front.len() + self.filename.len() + 80);
        front.extend_from_slice(key);
        front.push(b' ');
        front.extend_from_slice(&start.timestamp);
        front.push(b' ');
        front.extend_from_slice(&start.front);
        front.extend_from_slice(
            format!(", \"length\": \"{length}\", \"offset\": \"{offset}\", \"filename\": ").as_bytes(),
        );
        front.extend_from_slice(&self.filename);
        Item::Line { front, back: start.back.clone() }
    }

    /// Takes in the line of a record, which metadata may be about.
    pub fn wait(&mut self, start: &Start<'_>, key: &[u8], length: u64, offset: u64) {
        let line = self.line(start, key, length, offset);
        let ids = start.id.into_iter().chain(start.concurrent).filter(|id| !id.is_empty());
        self.exchange.wait(line, Some(start.url), Some(ids.collect()));
    }

    /// Takes in what a metadata record says.
    pub fn describe(&mut self, found: &Detected<'_>) {
        let mut text = Vec::new();
        if let Some(charset) = found.charset {
            text.extend_from_slice(b", \"charset\": \"");
            push_text(charset, &mut text);
            text.push(b'"');
        }
        if !found.languages.is_empty() {
            text.extend_from_slice(b", \"languages\": \"");
            push_text(&found.languages.join(&b','), &mut text);
            text.push(b'"');
        }
        if !text.is_empty() {
            self.exchange.tell(&text.into(), &found.references, found.url);
        }
    }

    fn take_page(&mut self, record: &Record<'_>) -> Option<()> {
        let held = record.held();
        let block = &held[..held.len().min(MAX_HTTP_HEAD)];
        let start = start(record.header, block, record.head.kind == REVISIT, self.extra)?;
        let key = start.key.as_deref()?;
        self.wait(&start, key, record.length as u64, record.offset);
        Some(())
    }

    fn take_metadata(&mut self, record: &Record<'_>) -> Taken {
        let Some(block) = record.block() else {
            return if record.is_cut() { Taken::Cut } else { Taken::Unusual };
        };
        match detected(record.header, block).filter(|_| block.len() <= MAX_METADATA) {
            Some(found) => self.describe(&found),
            None => return Taken::Unusual,
        }
        Taken::Counted
    }
}

impl Counter for Captures {
    const IN_ORDER: bool = true;

    fn take(&mut self, record: &Record<'_>) -> Taken {
        match record.head.kind {
            kind @ (RESPONSE | REVISIT) if self.wanted[kind] => match self.take_page(record) {
                Some(()) => Taken::Counted,
                None => Taken::Unusual,
            },
            METADATA if !self.wanted[METADATA] => self.take_metadata(record),
            _ => Taken::Unusual,
        }
    }
}
