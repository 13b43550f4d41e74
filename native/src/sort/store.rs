//! Sorted runs in a file without a name, in blocks of whole lines, packed where that is faster than the disk.
//!
//! A block: its length and that of what is stored (u32, little-endian), then what is stored: the lines as they are if both
//! lengths are equal, else packed by LZ4.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Instant;

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

use crate::sort::merge::Blocks;

const HEADER: usize = 8;

/// After so many blocks the way that was not taken is tried again.
const TRY_AGAIN: u32 = 128;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Whether blocks are packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// What takes less time, as measured.
    Measured,
    #[cfg(test)]
    Always,
    #[cfg(test)]
    Never,
}

/// A file of runs. It has no name, so nothing is left of it, whatever happens.
pub struct Store {
    file: Arc<File>,
    end: u64,
    pace: Pace,
    packed: Vec<u8>,
}

/// A run within a store.
pub struct StoredRun {
    file: Arc<File>,
    at: u64,
    end: u64,
    packed: Vec<u8>,
}

impl Store {
    pub fn new(folder: &Path, packing: Packing) -> io::Result<Store> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".sort-{}-{number}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        fs::remove_file(&path)?;
        Ok(Store { file: Arc::new(file), end: 0, pace: Pace::new(packing), packed: Vec::new() })
    }

    /// Write sorted lines, each with its line end, in blocks of about `size` bytes.
    pub fn write<'a>(&mut self, lines: impl Iterator<Item = &'a [u8]>, size: usize) -> io::Result<StoredRun> {
        let (at, mut block) = (self.end, Vec::with_capacity(size + size / 8));
        for line in lines {
            block.extend_from_slice(line);
            if block.len() >= size {
                self.write_block(&block)?;
                block.clear();
            }
        }
        if !block.is_empty() {
            self.write_block(&block)?;
        }
        Ok(self.run_from(at))
    }

    /// Write what another source of blocks has.
    pub fn write_all(&mut self, blocks: &mut impl Blocks) -> io::Result<StoredRun> {
        let (at, mut block) = (self.end, Vec::new());
        loop {
            block.clear();
            blocks.read(&mut block)?;
            if block.is_empty() {
                return Ok(self.run_from(at));
            }
            self.write_block(&block)?;
        }
    }

    fn run_from(&self, at: u64) -> StoredRun {
        StoredRun { file: self.file.clone(), at, end: self.end, packed: Vec::new() }
    }

    fn write_block(&mut self, block: &[u8]) -> io::Result<()> {
        let length = u32::try_from(block.len()).map_err(io::Error::other)?;
        let mut stored = block;
        if self.pace.pack() {
            let before = Instant::now();
            let most = get_maximum_output_size(block.len());
            if self.packed.len() < most {
                self.packed.resize(most, 0);
            }
            let size = compress_into(block, &mut self.packed).map_err(io::Error::other)?;
            self.pace.packed(block.len(), size, before);
            if size < block.len() {
                stored = &self.packed[..size];
            }
        }
        let before = Instant::now();
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&length.to_le_bytes());
        header[4..].copy_from_slice(&(stored.len() as u32).to_le_bytes());
        self.file.write_all_at(&header, self.end)?;
        self.file.write_all_at(stored, self.end + HEADER as u64)?;
        self.pace.written(stored.len(), before);
        self.end += (HEADER + stored.len()) as u64;
        Ok(())
    }
}

impl Blocks for StoredRun {
    fn read(&mut self, block: &mut Vec<u8>) -> io::Result<()> {
        if self.at >= self.end {
            return Ok(());
        }
        let mut header = [0; HEADER];
        self.file.read_exact_at(&mut header, self.at)?;
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
        let (length, stored) = (number(0), number(4));
        let at = self.at + HEADER as u64;
        block.resize(length, 0);
        if stored == length {
            self.file.read_exact_at(block, at)?;
        } else {
            self.packed.resize(stored, 0);
            self.file.read_exact_at(&mut self.packed, at)?;
            let size = decompress_into(&self.packed, block).map_err(io::Error::other)?;
            if size != length {
                return Err(io::Error::other("a temporary file has changed"));
            }
        }
        self.at = at + stored as u64;
        Ok(())
    }
}

/// What writing and packing cost here, in seconds a byte.
struct Pace {
    packing: Packing,
    write: Option<f64>,
    pack: Option<f64>,
    /// Packed bytes for each byte.
    ratio: f64,
    packs: bool,
    blocks: u32,
}

impl Pace {
    fn new(packing: Packing) -> Pace {
        Pace { packing, write: None, pack: None, ratio: 1.0, packs: false, blocks: 0 }
    }

    /// Whether to pack the next block.
    fn pack(&mut self) -> bool {
        match self.packing {
            Packing::Measured => {}
            #[cfg(test)]
            Packing::Always => return true,
            #[cfg(test)]
            Packing::Never => return false,
        }
        self.blocks += 1;
        let (Some(write), Some(pack)) = (self.write, self.pack) else {
            return self.write.is_some(); // one block as it is, then one packed
        };
        if self.blocks % TRY_AGAIN == 0 {
            return !self.packs;
        }
        // What is written is read again; unpacking takes about a third of packing.
        self.packs = pack * 1.33 + 2.0 * write * self.ratio < 2.0 * write;
        self.packs
    }

    fn packed(&mut self, length: usize, size: usize, since: Instant) {
        let length = length.max(1) as f64;
        self.pack = Some(blend(self.pack, since.elapsed().as_secs_f64() / length));
        self.ratio = size as f64 / length;
    }

    fn written(&mut self, length: usize, since: Instant) {
        self.write = Some(blend(self.write, since.elapsed().as_secs_f64() / length.max(1) as f64));
    }
}

fn blend(before: Option<f64>, now: f64) -> f64 {
    before.map_or(now, |before| before * 0.8 + now * 0.2)
}
