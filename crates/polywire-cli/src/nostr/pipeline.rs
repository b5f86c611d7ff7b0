//! Work on chunks of lines by several threads, with results in order of the input.
//!
//! Each thread reads a chunk while it has the lock of the reader, and works on it. What it read is
//! then in the cache of its own processor. Results that come early wait, in bounded number, for
//! those before them.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::lines::{Chunk, LineReader};
use crate::Failure;

/// How many results may wait, for each thread.
const WINDOW: u64 = 4;

/// Whether the merging of results goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Next {
    More,
    /// Nobody wants what would follow.
    Stop,
}

/// Calls `work` with each chunk, on `jobs` threads, and `merge` with chunks and results in order.
pub(super) fn run<R: Send>(
    reader: LineReader,
    jobs: NonZero<usize>,
    work: impl Fn(&Chunk) -> R + Sync,
    merge: impl FnMut(&Chunk, R) -> Result<Next, Failure> + Send,
) -> Result<(), Failure> {
    let pipeline = Pipeline {
        source: Mutex::new(Source {
            reader,
            next: 0,
            ended: false,
        }),
        merging: Mutex::new(Merging {
            merge,
            next: 0,
            early: BTreeMap::new(),
            spare: Vec::new(),
            ended: None,
        }),
        progress: Condvar::new(),
        window: WINDOW * jobs.get() as u64,
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get() {
            // With fewer threads it takes longer, and that is all.
            let thread = thread::Builder::new().name("nostr".to_owned());
            if thread.spawn_scoped(scope, || pipeline.work(&work)).is_err() {
                break;
            }
        }
        pipeline.work(&work);
    });
    let merging = pipeline.merging.into_inner();
    merging
        .unwrap_or_else(PoisonError::into_inner)
        .ended
        .unwrap_or(Ok(()))
}

struct Pipeline<R, M> {
    source: Mutex<Source>,
    merging: Mutex<Merging<R, M>>,
    /// Results were merged, or no more will be.
    progress: Condvar,
    window: u64,
}

struct Source {
    reader: LineReader,
    /// The number of the next chunk.
    next: u64,
    ended: bool,
}

struct Merging<R, M> {
    merge: M,
    /// The number of the chunk to merge next.
    next: u64,
    /// Results of later chunks.
    early: BTreeMap<u64, (Chunk, R)>,
    /// Chunks to use again.
    spare: Vec<Chunk>,
    /// How it ended before the input did.
    ended: Option<Result<(), Failure>>,
}

impl<R, M> Pipeline<R, M>
where
    M: FnMut(&Chunk, R) -> Result<Next, Failure>,
{
    /// What a thread does.
    fn work(&self, work: &impl Fn(&Chunk) -> R) {
        let guard = Leaving(self);
        let mut chunk = Chunk::default();
        while let Some(number) = self.take(&mut chunk) {
            let result = work(&chunk);
            match self.give(number, chunk, result) {
                Some(spare) => chunk = spare,
                None => break,
            }
        }
        drop(guard);
    }

    /// Fills a chunk and returns its number.
    fn take(&self, chunk: &mut Chunk) -> Option<u64> {
        let mut source = lock(&self.source);
        if source.ended {
            return None;
        }
        match source.reader.read(chunk) {
            Ok(true) => {
                source.next += 1;
                Some(source.next - 1)
            }
            Ok(false) => {
                source.ended = true;
                None
            }
            Err(failure) => {
                source.ended = true;
                drop(source);
                self.end(Err(failure));
                None
            }
        }
    }

    /// Merges a result, now or when its turn comes. Returns a chunk to use again, unless all ends.
    fn give(&self, number: u64, chunk: Chunk, result: R) -> Option<Chunk> {
        let mut merging = lock(&self.merging);
        while merging.ended.is_none() && number >= merging.next + self.window {
            let woken = self.progress.wait(merging);
            merging = woken.unwrap_or_else(PoisonError::into_inner);
        }
        if merging.ended.is_some() {
            return None;
        }
        merging.early.insert(number, (chunk, result));
        let merged = merging.merge_in_order();
        if let Some(end) = merged {
            drop(merging);
            lock(&self.source).ended = true;
            self.end(end);
            return None;
        }
        let spare = merging.spare.pop().unwrap_or_default();
        drop(merging);
        self.progress.notify_all();
        Some(spare)
    }

    fn end(&self, end: Result<(), Failure>) {
        let mut merging = lock(&self.merging);
        merging.ended.get_or_insert(end);
        drop(merging);
        self.progress.notify_all();
    }
}

impl<R, M> Merging<R, M>
where
    M: FnMut(&Chunk, R) -> Result<Next, Failure>,
{
    /// Merges the results whose turn has come. Says how it ends, if it does.
    fn merge_in_order(&mut self) -> Option<Result<(), Failure>> {
        while let Some((chunk, result)) = self.early.remove(&self.next) {
            match (self.merge)(&chunk, result) {
                Ok(Next::More) => {}
                Ok(Next::Stop) => return Some(Ok(())),
                Err(failure) => return Some(Err(failure)),
            }
            self.spare.push(chunk);
            self.next += 1;
        }
        None
    }
}

/// Lets no thread wait for one that panicked.
struct Leaving<'p, R, M>(&'p Pipeline<R, M>)
where
    M: FnMut(&Chunk, R) -> Result<Next, Failure>;

impl<R, M> Drop for Leaving<'_, R, M>
where
    M: FnMut(&Chunk, R) -> Result<Next, Failure>,
{
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end(Ok(()));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
