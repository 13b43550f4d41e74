//! Sorted runs, merged.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::sort::buffer::eight;

/// Sorted lines, many at once.
pub trait Blocks: Send + Sync {
    /// Put some whole lines, each with its line end, into `block`, which is empty; none at the end.
    fn read(&mut self, block: &mut Vec<u8>) -> io::Result<()>;
}

/// A run, at one of its lines.
struct Cursor {
    blocks: Box<dyn Blocks>,
    block: Vec<u8>,
    start: usize,
    /// Where the line end stands; `start` behind the last line.
    end: usize,
    /// Its first bytes.
    key: u64,
    done: bool,
}

impl Cursor {
    fn new(blocks: Box<dyn Blocks>) -> io::Result<Cursor> {
        let mut cursor = Cursor { blocks, block: Vec::new(), start: 0, end: 0, key: 0, done: false };
        cursor.find()?;
        Ok(cursor)
    }

    fn line(&self) -> &[u8] {
        &self.block[self.start..self.end]
    }

    fn advance(&mut self) -> io::Result<()> {
        self.start = self.end + 1;
        self.find()
    }

    fn find(&mut self) -> io::Result<()> {
        if self.start >= self.block.len() {
            self.block.clear();
            self.blocks.read(&mut self.block)?;
            self.start = 0;
            if self.block.is_empty() {
                (self.end, self.done) = (0, true);
                self.block = Vec::new();
                return Ok(());
            }
        }
        let rest = &self.block[self.start..];
        self.end = self.start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.key = eight(self.line(), 0);
        Ok(())
    }

    /// Whether its line comes before that of another.
    fn is_before(&self, other: &Cursor) -> bool {
        match (self.done, other.done) {
            (false, false) => self.key < other.key || (self.key == other.key && self.line() < other.line()),
            (done, _) => !done,
        }
    }
}

/// The lines of several runs, in one order: a tournament, of which the losers are remembered.
pub struct Merge {
    cursors: Vec<Cursor>,
    /// The winner, then at each node the loser of the game that was played there.
    tree: Vec<usize>,
    size: usize,
}

impl Merge {
    /// Merge into blocks of about `size` bytes.
    pub fn new(runs: Vec<Box<dyn Blocks>>, size: usize) -> io::Result<Merge> {
        let cursors = runs.into_iter().map(Cursor::new).collect::<io::Result<Vec<_>>>()?;
        let count = cursors.len();
        let mut tree = vec![usize::MAX; count];
        for run in (0..count).rev() {
            // Whoever comes first to a node waits there for another.
            let (mut winner, mut node) = (run, (run + count) / 2);
            loop {
                if node == 0 {
                    tree[0] = winner;
                    break;
                }
                if tree[node] == usize::MAX {
                    tree[node] = winner;
                    break;
                }
                if cursors[tree[node]].is_before(&cursors[winner]) {
                    std::mem::swap(&mut tree[node], &mut winner);
                }
                node /= 2;
            }
        }
        Ok(Merge { cursors, tree, size })
    }
}

impl Blocks for Merge {
    fn read(&mut self, block: &mut Vec<u8>) -> io::Result<()> {
        let count = self.cursors.len();
        while block.len() < self.size {
            let Some(&first) = self.tree.first() else {
                break;
            };
            let cursor = &mut self.cursors[first];
            if cursor.done {
                break;
            }
            block.extend_from_slice(cursor.line());
            block.push(b'\n');
            cursor.advance()?;
            let (mut winner, mut node) = (first, (first + count) / 2);
            while node > 0 {
                if self.cursors[self.tree[node]].is_before(&self.cursors[winner]) {
                    std::mem::swap(&mut self.tree[node], &mut winner);
                }
                node /= 2;
            }
            self.tree[0] = winner;
        }
        Ok(())
    }
}

/// Sorted lines as they are in a part of a file, which is opened only while it is read: there may be thousands of them.
pub struct FileRun {
    pub path: PathBuf,
    at: u64,
    left: u64,
    size: usize,
}

impl FileRun {
    pub fn new(path: PathBuf, offset: u64, length: u64, size: usize) -> FileRun {
        FileRun { path, at: offset, left: length, size }
    }
}

impl Blocks for FileRun {
    fn read(&mut self, block: &mut Vec<u8>) -> io::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        let file = File::open(&self.path)?;
        let mut size = self.size;
        loop {
            let held = block.len();
            let more = (size as u64).min(self.left - held as u64) as usize;
            block.resize(held + more, 0);
            file.read_exact_at(&mut block[held..], self.at + held as u64)?;
            if block.len() as u64 == self.left {
                self.left = 0;
                if block.last() != Some(&b'\n') {
                    block.push(b'\n');
                }
                return Ok(());
            }
            if let Some(end) = memchr::memrchr(b'\n', &block[held..]) {
                block.truncate(held + end + 1);
                self.at += block.len() as u64;
                self.left -= block.len() as u64;
                return Ok(());
            }
            size *= 2; // a long line
        }
    }
}
