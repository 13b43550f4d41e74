//! Sorting more lines than memory holds.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use crate::sort::buffer::{BufferBlocks, LineBuffer};
use crate::sort::merge::{Blocks, Merge};
use crate::sort::store::{Packing, Store, StoredRun};

/// Bytes that are taken at a time.
const PIECE: usize = 1 << 20;

/// Runs that are merged at once.
const MAX_RUNS: usize = 384;

/// How memory is shared out.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Bytes that a buffer of lines may cost; there are two of them.
    pub buffer: usize,
    /// Bytes of a block of a run.
    pub block: usize,
    /// Runs that are merged at once.
    pub runs: usize,
}

impl Plan {
    pub fn new(memory: usize) -> Plan {
        let block = (memory / 512).clamp(1 << 12, 1 << 18);
        Plan { buffer: memory / 2, block, runs: (memory / 4 / block).clamp(2, MAX_RUNS) }
    }
}

type Spilled = io::Result<(Store, LineBuffer, StoredRun)>;

/// Takes a text and gives its lines in order. While one buffer is sorted and written, the other is filled.
pub struct Sorter {
    folder: PathBuf,
    plan: Plan,
    packing: Packing,
    buffer: LineBuffer,
    runs: Vec<StoredRun>,
    spilling: Option<JoinHandle<Spilled>>,
}

impl Sorter {
    pub fn new(folder: &Path, memory: usize, packing: Packing) -> Sorter {
        Sorter {
            folder: folder.to_owned(),
            plan: Plan::new(memory),
            packing,
            buffer: LineBuffer::default(),
            runs: Vec::new(),
            spilling: None,
        }
    }

    /// Take more of the text, wherever it is cut.
    pub fn push(&mut self, data: &[u8]) -> io::Result<()> {
        for piece in data.chunks(PIECE) {
            self.buffer.push(piece)?;
            if self.buffer.cost() > self.plan.buffer && !self.buffer.is_empty() {
                self.spill()?;
            }
        }
        Ok(())
    }

    /// All lines in their order.
    pub fn finish(mut self) -> io::Result<Merge> {
        self.buffer.end()?;
        let spilled = self.spilled()?;
        if let Some((_, buffer)) = spilled {
            drop(buffer);
        }
        self.buffer.sort();
        let (block, mut runs) = (self.plan.block, self.runs);
        while runs.len() >= self.plan.runs {
            runs = merge_some(runs, &self.folder, self.plan, self.packing)?;
        }
        let mut sources: Vec<Box<dyn Blocks>> = runs.into_iter().map(boxed).collect();
        sources.push(Box::new(BufferBlocks::new(self.buffer, block)));
        Merge::new(sources, PIECE)
    }

    fn spill(&mut self) -> io::Result<()> {
        let (mut store, mut fresh) = match self.spilled()? {
            Some(both) => both,
            None => (Store::new(&self.folder, self.packing)?, LineBuffer::default()),
        };
        fresh.push(self.buffer.unfinished())?;
        let mut full = std::mem::replace(&mut self.buffer, fresh);
        let block = self.plan.block;
        let spill = move || {
            full.sort();
            let run = store.write(full.lines(), block)?;
            full.clear();
            Ok((store, full, run))
        };
        self.spilling = Some(thread::Builder::new().spawn(spill)?);
        Ok(())
    }

    /// Wait for the spill that is under way; gives what it used.
    fn spilled(&mut self) -> io::Result<Option<(Store, LineBuffer)>> {
        let Some(spilling) = self.spilling.take() else {
            return Ok(None);
        };
        let (store, buffer, run) = spilling.join().map_err(|_| io::Error::other("sorting failed"))??;
        self.runs.push(run);
        Ok(Some((store, buffer)))
    }
}

/// Merge runs to fewer, in a file of their own.
fn merge_some(runs: Vec<StoredRun>, folder: &Path, plan: Plan, packing: Packing) -> io::Result<Vec<StoredRun>> {
    let (mut store, mut merged) = (Store::new(folder, packing)?, Vec::new());
    let mut runs = runs.into_iter().peekable();
    while runs.peek().is_some() {
        let some = runs.by_ref().take(plan.runs).map(boxed).collect();
        merged.push(store.write_all(&mut Merge::new(some, plan.block)?)?);
    }
    Ok(merged)
}

/// Merge runs of any kind, in levels where there are too many.
pub fn merge_all(mut runs: Vec<Box<dyn Blocks>>, folder: &Path, memory: usize, packing: Packing) -> io::Result<Merge> {
    let plan = Plan::new(memory);
    while runs.len() > plan.runs {
        let mut store = Store::new(folder, packing)?;
        let mut merged = Vec::new();
        let mut left = runs.into_iter().peekable();
        while left.peek().is_some() {
            let some = left.by_ref().take(plan.runs).collect();
            merged.push(boxed(store.write_all(&mut Merge::new(some, plan.block)?)?));
        }
        runs = merged;
    }
    Merge::new(runs, PIECE)
}

fn boxed(run: StoredRun) -> Box<dyn Blocks> {
    Box::new(run)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Blocks, Packing, Sorter};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("crawlmill-sort-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn text() -> Vec<u8> {
        let mut state = 7_u64;
        let mut text = Vec::new();
        for n in 0..3000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n);
            text.extend_from_slice(format!("org,example)/{} {}\n", state >> 60, state >> (state >> 58)).as_bytes());
            if n % 500 == 0 {
                text.extend(std::iter::repeat_n(b'z', 20_000).chain([b'\n']));
            }
        }
        text
    }

    #[test]
    fn all_memories_and_packings_give_the_same_lines() {
        let (text, folder) = (text(), folder("same"));
        let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
        lines.sort_by_key(|line| &line[..line.len() - 1]);
        let expected = lines.concat();
        for packing in [Packing::Always, Packing::Never, Packing::Measured] {
            for (memory, cut) in [(0, 100), (0, 4000), (20_000, 1000), (200_000, 999), (1 << 30, 1 << 30)] {
                let mut sorter = Sorter::new(&folder, memory, packing);
                text.chunks(cut).for_each(|piece| sorter.push(piece).unwrap());
                let (mut merge, mut found) = (sorter.finish().unwrap(), Vec::new());
                loop {
                    let mut block = Vec::new();
                    merge.read(&mut block).unwrap();
                    if block.is_empty() {
                        break;
                    }
                    found.extend_from_slice(&block);
                }
                assert!(found == expected, "{packing:?} {memory} {cut}");
            }
        }
        std::fs::remove_dir(folder).unwrap(); // nothing was left in it
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let mut sorter = Sorter::new(&folder("gone").join("x"), 0, Packing::Measured);
        assert!(sorter.push(b"a\n").is_err());
        std::fs::remove_dir(folder("gone")).unwrap();
    }
}
