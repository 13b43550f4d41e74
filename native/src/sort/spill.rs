//! The lines of a map task, cut into partitions: files that hold one sorted run per partition, one behind the other.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use libdeflater::Crc;

use crate::sort::buffer::LineBuffer;

const PIECE: usize = 1 << 20;

type Spilled = io::Result<(LineBuffer, Vec<u64>)>;

/// Takes lines and leaves the files `spill-0`, `spill-1`, … in a folder.
pub struct Spiller {
    folder: PathBuf,
    partitions: usize,
    /// Bytes that a buffer of lines may cost; there are two of them.
    memory: usize,
    buffer: LineBuffer,
    spilling: Option<JoinHandle<Spilled>>,
    lengths: Vec<Vec<u64>>,
}

impl Spiller {
    pub fn new(folder: &Path, partitions: usize, memory: usize) -> Spiller {
        Spiller {
            folder: folder.to_owned(),
            partitions: partitions.max(1),
            memory: memory / 2,
            buffer: LineBuffer::default(),
            spilling: None,
            lengths: Vec::new(),
        }
    }

    /// Take more lines, wherever they are cut.
    pub fn push(&mut self, data: &[u8]) -> io::Result<()> {
        for piece in data.chunks(PIECE) {
            self.buffer.push(piece)?;
            if self.buffer.cost() > self.memory && !self.buffer.is_empty() {
                self.spill()?;
            }
        }
        Ok(())
    }

    /// Write what is held; for each file, the bytes of each partition's run.
    pub fn finish(mut self) -> io::Result<Vec<Vec<u64>>> {
        self.buffer.end()?;
        self.spilled()?;
        if !self.buffer.is_empty() {
            self.lengths.push(write(&self.buffer, &self.path(), self.partitions)?);
        }
        Ok(self.lengths)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("spill-{}", self.lengths.len()))
    }

    fn spill(&mut self) -> io::Result<()> {
        let mut fresh = self.spilled()?.unwrap_or_default();
        fresh.push(self.buffer.unfinished())?;
        let mut full = std::mem::replace(&mut self.buffer, fresh);
        let (path, partitions) = (self.path(), self.partitions);
        let spill = move || {
            let lengths = write(&full, &path, partitions)?;
            full.clear();
            Ok((full, lengths))
        };
        self.spilling = Some(thread::Builder::new().spawn(spill)?);
        Ok(())
    }

    fn spilled(&mut self) -> io::Result<Option<LineBuffer>> {
        let Some(spilling) = self.spilling.take() else {
            return Ok(None);
        };
        let (buffer, lengths) = spilling.join().map_err(|_| io::Error::other("sorting failed"))??;
        self.lengths.push(lengths);
        Ok(Some(buffer))
    }
}

fn write(buffer: &LineBuffer, path: &Path, partitions: usize) -> io::Result<Vec<u64>> {
    let mut file = File::create(path)?;
    let (mut lengths, mut block) = (Vec::with_capacity(partitions), Vec::with_capacity(PIECE));
    for part in buffer.sorted_parts(partitions, |line| partition(line, partitions)) {
        let mut length = 0;
        for entry in &part {
            let line = buffer.line_of(entry);
            block.extend_from_slice(line);
            length += line.len() as u64;
            if block.len() >= PIECE {
                file.write_all(&block)?;
                block.clear();
            }
        }
        lengths.push(length);
    }
    file.write_all(&block)?;
    Ok(lengths)
}

/// The partition of a line: by its key, which ends at the first tab.
fn partition(line: &[u8], partitions: usize) -> usize {
    if partitions == 1 {
        return 0;
    }
    let key = memchr::memchr(b'\t', line).map_or(line, |end| &line[..end]);
    let mut crc = Crc::new();
    crc.update(key);
    crc.sum() as usize % partitions
}
