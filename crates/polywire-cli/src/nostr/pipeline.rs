//! Processing of chunks of lines on several threads, with results in input order.
//!
//! Each thread locks the reader, reads a chunk and processes it, so the chunk is in the cache of
//! its processor. A limited number of results wait until all earlier results are merged.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::lines::{Chunk, LineReader};
use crate::Failure;

/// The number of results that may wait, per thread.
const WINDOW: u64 = 4;

/// Whether to process more input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Next {
    More,
    /// The output was closed.
    Stop,
}

/// Calls `work` with each chunk, on `jobs` threads, and `merge` with chunks and results in input
/// order.
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
        merger: Mutex::new(Merger {
            merge,
            next: 0,
            waiting: BTreeMap::new(),
            spare: Vec::new(),
            ended: None,
        }),
        progress: Condvar::new(),
        window: WINDOW * jobs.get() as u64,
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get() {
            // If a thread cannot be started, continue with fewer.
            let thread = thread::Builder::new().name("nostr".to_owned());
            if thread.spawn_scoped(scope, || pipeline.work(&work)).is_err() {
                break;
            }
        }
        pipeline.work(&work);
    });
    let merger = pipeline.merger.into_inner();
    merger
        .unwrap_or_else(PoisonError::into_inner)
        .ended
        .unwrap_or(Ok(()))
}

struct Pipeline<R, M> {
    source: Mutex<Source>,
    merger: Mutex<Merger<R, M>>,
    /// Notified after results were merged, and at the end.
    progress: Condvar,
    window: u64,
}

struct Source {
    reader: LineReader,
    /// The number of the next chunk.
    next: u64,
    ended: bool,
}

struct Merger<R, M> {
    merge: M,
    /// The number of the chunk to merge next.
    next: u64,
    /// Results of later chunks.
    waiting: BTreeMap<u64, (Chunk, R)>,
    /// Chunks to reuse.
    spare: Vec<Chunk>,
    /// The result, if processing ended before the end of the input.
    ended: Option<Result<(), Failure>>,
}

impl<R, M> Pipeline<R, M>
where
    M: FnMut(&Chunk, R) -> Result<Next, Failure>,
{
    /// The main function of a thread.
    fn work(&self, work: &impl Fn(&Chunk) -> R) {
        let guard = PanicGuard(self);
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

    /// Merges a result, or queues it until all earlier results are merged. Returns a chunk to
    /// reuse, or `None` at the end.
    fn give(&self, number: u64, chunk: Chunk, result: R) -> Option<Chunk> {
        let mut merger = lock(&self.merger);
        while merger.ended.is_none() && number >= merger.next + self.window {
            let guard = self.progress.wait(merger);
            merger = guard.unwrap_or_else(PoisonError::into_inner);
        }
        if merger.ended.is_some() {
            return None;
        }
        merger.waiting.insert(number, (chunk, result));
        let merged = merger.merge_in_order();
        if let Some(end) = merged {
            drop(merger);
            lock(&self.source).ended = true;
            self.end(end);
            return None;
        }
        let spare = merger.spare.pop().unwrap_or_default();
        drop(merger);
        self.progress.notify_all();
        Some(spare)
    }

    fn end(&self, end: Result<(), Failure>) {
        let mut merger = lock(&self.merger);
        merger.ended.get_or_insert(end);
        drop(merger);
        self.progress.notify_all();
    }
}

impl<R, M> Merger<R, M>
where
    M: FnMut(&Chunk, R) -> Result<Next, Failure>,
{
    /// Merges consecutive results. Returns the result of processing if it ends here.
    fn merge_in_order(&mut self) -> Option<Result<(), Failure>> {
        while let Some((chunk, result)) = self.waiting.remove(&self.next) {
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

/// Ends the processing if a thread panics, so that no thread waits for its result.
struct PanicGuard<'p, R, M>(&'p Pipeline<R, M>)
where
    M: FnMut(&Chunk, R) -> Result<Next, Failure>;

impl<R, M> Drop for PanicGuard<'_, R, M>
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
