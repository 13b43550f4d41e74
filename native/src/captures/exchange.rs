//! Joins the lines of pages with what the crawler detected of them: the twin of `crawlmill.formats.exchange.Exchanges`.
//!
//! Items come out in the order in which they went in. One of the native core is a line but for what was detected; one of
//! Python is a number.

use std::collections::VecDeque;
use std::sync::Arc;

/// Items that wait for their metadata at a time, and metadata that wait for their items.
const DEPTH: usize = 32;

/// What was detected, as it stands in a line.
pub type Found = Arc<[u8]>;

/// What waits.
pub enum Item {
    /// A line in two pieces, between which stands what was detected.
    Line { front: Vec<u8>, back: Vec<u8> },
    /// What Python keeps under this number.
    Kept(usize),
}

/// What need not wait any longer.
pub enum Ready {
    /// Whole lines.
    Lines(Vec<u8>),
    /// An item of Python, and what was detected.
    Kept(usize, Option<Found>),
}

struct Waiting {
    item: Item,
    url: Option<Box<[u8]>>,
    ids: Vec<Box<[u8]>>,
    open: bool,
    found: Option<Found>,
}

/// Items in their order, and metadata that came too early.
#[derive(Default)]
pub struct Exchange {
    waiting: VecDeque<Waiting>,
    early: VecDeque<(Box<[u8]>, Found)>,
    ready: Vec<Ready>,
}

impl Exchange {
    /// Takes in an item by the URL and ids that its record is known by; without ids, none, no metadata is about it.
    pub fn wait(&mut self, item: Item, url: Option<&[u8]>, ids: Option<Vec<&[u8]>>) {
        let open = ids.is_some();
        let ids: Vec<Box<[u8]>> = ids.unwrap_or_default().into_iter().map(Box::from).collect();
        let mut waiting = Waiting { item, url: url.map(Box::from), ids, open, found: None };
        let early = waiting.ids.iter().find_map(|id| self.early.iter().position(|(name, _)| name == id));
        if let Some((_, found)) = early.and_then(|at| self.early.remove(at)) {
            (waiting.found, waiting.open) = (Some(found), false);
        }
        self.waiting.push_back(waiting);
        self.settle();
    }

    /// Takes in what was detected, the ids of the records that it is said of, and the URL of the record that says it.
    pub fn tell(&mut self, found: &Found, named: &[&[u8]], url: Option<&[u8]>) {
        let is_meant = |waiting: &&mut Waiting| {
            waiting.open
                && if named.is_empty() {
                    url.is_some() && waiting.url.as_deref() == url
                } else {
                    waiting.ids.iter().any(|id| named.contains(&&**id))
                }
        };
        if let Some(waiting) = self.waiting.iter_mut().rev().find(is_meant) {
            (waiting.found, waiting.open) = (Some(found.clone()), false);
        } else {
            for &name in named {
                match self.early.iter_mut().find(|(early, _)| **early == *name) {
                    Some((_, old)) => *old = found.clone(),
                    None => self.early.push_back((name.into(), found.clone())),
                }
            }
            while self.early.len() > DEPTH {
                self.early.pop_front();
            }
        }
        self.settle();
    }

    /// What need not wait any longer.
    pub fn take(&mut self) -> Vec<Ready> {
        std::mem::take(&mut self.ready)
    }

    /// All that is left, once the last record was read.
    pub fn rest(&mut self) -> Vec<Ready> {
        while let Some(waiting) = self.waiting.pop_front() {
            self.release(waiting);
        }
        self.take()
    }

    fn settle(&mut self) {
        while self.waiting.front().is_some_and(|first| !first.open) || self.waiting.len() > DEPTH {
            let Some(first) = self.waiting.pop_front() else { break };
            self.release(first);
        }
    }

    fn release(&mut self, waiting: Waiting) {
        match waiting.item {
            Item::Kept(number) => self.ready.push(Ready::Kept(number, waiting.found)),
            Item::Line { front, back } => {
                if !matches!(self.ready.last(), Some(Ready::Lines(_))) {
                    self.ready.push(Ready::Lines(Vec::new()));
                }
                let Some(Ready::Lines(lines)) = self.ready.last_mut() else { return };
                lines.extend_from_slice(&front);
                lines.extend_from_slice(waiting.found.as_deref().unwrap_or_default());
                lines.extend_from_slice(&back);
                lines.extend_from_slice(b"}\n");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Exchange, Found, Item, Ready, DEPTH};

    fn line(text: &str) -> Item {
        Item::Line { front: text.as_bytes().to_vec(), back: b",".to_vec() }
    }

    fn shown(ready: Vec<Ready>) -> Vec<String> {
        ready
            .into_iter()
            .map(|each| match each {
                Ready::Lines(lines) => String::from_utf8(lines).unwrap(),
                Ready::Kept(number, found) => {
                    format!("{number} {}", String::from_utf8_lossy(&found.unwrap_or_default()))
                }
            })
            .collect()
    }

    #[test]
    fn lines_wait_for_what_is_said_of_them_and_keep_their_order() {
        let mut exchange = Exchange::default();
        let found: Found = b"x".as_slice().into();
        exchange.wait(line("a"), Some(b"u"), Some(vec![b"1"]));
        exchange.wait(Item::Kept(7), None, Some(vec![b"2", b"3"]));
        exchange.wait(line("c"), None, None);
        assert!(exchange.take().is_empty());
        exchange.tell(&found, &[b"3"], None);
        assert!(exchange.take().is_empty());
        exchange.tell(&found, &[], Some(b"u"));
        assert_eq!(shown(exchange.take()), ["ax,}\n", "7 x", "c,}\n"]);
        exchange.wait(line("d"), None, Some(vec![]));
        exchange.tell(&found, &[b"9"], None);
        exchange.wait(line("e"), None, Some(vec![b"9"]));
        assert_eq!(shown(exchange.rest()), ["d,}\nex,}\n"]);
    }

    #[test]
    fn nothing_waits_for_ever() {
        let mut exchange = Exchange::default();
        for number in 0..=DEPTH {
            exchange.wait(Item::Kept(number), None, Some(vec![]));
        }
        assert_eq!(shown(exchange.take()), ["0 "]);
        for number in 0..3 * DEPTH {
            exchange.tell(&b"".as_slice().into(), &[number.to_string().as_bytes()], None);
        }
        assert_eq!(exchange.early.len(), DEPTH);
    }
}
