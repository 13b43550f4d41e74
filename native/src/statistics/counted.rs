//! What a map task counts itself: captures by status, and sketches, of each crawl.

use hashbrown::HashMap;

use crate::statistics::sketch::Sketch;

/// What is counted of one crawl.
#[derive(Default)]
pub struct Counts {
    /// By status, and whether it is a robots.txt.
    pub seen: HashMap<(i64, bool), u64>,
    pub url: Option<Sketch>,
    pub digest: Option<Sketch>,
}

/// The counts of crawls.
#[derive(Default)]
pub struct Counted {
    crawls: Vec<(Vec<u8>, Counts)>,
    last: usize,
    by_name: HashMap<Vec<u8>, usize>,
}

impl Counted {
    /// The counts of a crawl.
    pub fn of(&mut self, crawl: &[u8]) -> &mut Counts {
        if self.crawls.get(self.last).is_none_or(|(name, _)| name != crawl) {
            self.last = self.by_name.get(crawl).copied().unwrap_or_else(|| {
                self.by_name.insert(crawl.to_vec(), self.crawls.len());
                self.crawls.push((crawl.to_vec(), Counts::default()));
                self.crawls.len() - 1
            });
        }
        &mut self.crawls[self.last].1
    }

    /// How many numbers are held.
    pub fn len(&self) -> usize {
        self.crawls.iter().map(|(_, counts)| counts.seen.len()).sum()
    }

    /// All of them, by name; nothing is counted then.
    pub fn take(&mut self) -> Vec<(Vec<u8>, Counts)> {
        std::mem::take(self).crawls
    }
}
