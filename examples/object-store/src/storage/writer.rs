//! The thread that changes the database.
//!
//! Requests pass their changes to it as functions. It makes all changes that have arrived in one transaction, and
//! answers after the commit. While it commits, the next changes arrive; so the groups grow with the load, without a
//! timer.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::{mpsc, oneshot};

use super::database::{Abort, Changes, Database};
use super::files::Files;
use crate::error::Error;

/// The most changes of one transaction.
const GROUP: usize = 256;
/// The most changes that wait. More callers wait until they can be added.
const WAITING: usize = 1024;

/// A change. It returns what to call after the transaction, with whether it was committed.
type Job = Box<dyn FnOnce(&mut Changes<'_>) -> Result<Reply, String> + Send>;
type Reply = Box<dyn FnOnce(bool) + Send>;

/// The way to the thread. It ends when this is dropped, after the changes that have arrived.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(database: Database, files: Arc<Files>) -> std::io::Result<Self> {
        let (jobs, mut queue) = mpsc::channel::<Job>(WAITING);
        let run = move || {
            while let Some(first) = queue.blocking_recv() {
                let mut group = vec![first];
                while group.len() < GROUP
                    && let Ok(job) = queue.try_recv()
                {
                    group.push(job);
                }
                commit(&database, &files, group);
            }
        };
        let thread = thread::Builder::new()
            .name("writer".to_owned())
            .spawn(run)?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Makes a change. It is committed when this returns `Ok`.
    ///
    /// A change that returns an error must not have changed anything. If the future is dropped, the change may still be
    /// made.
    ///
    /// # Errors
    ///
    /// What the change returns, or a failure of the database.
    pub(super) async fn change<T, F>(&self, change: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Changes<'_>) -> Result<T, Abort> + Send + 'static,
    {
        let (answer, result) = oneshot::channel();
        let job: Job = Box::new(move |changes| {
            let result = match change(changes) {
                Err(Abort::Failed(reason)) => return Err(reason),
                Err(Abort::Rejected(error)) => Err(error),
                Ok(value) => Ok(value),
            };
            Ok(Box::new(move |is_committed| {
                // If the transaction failed, the reason has been reported, and a missing answer says so.
                if is_committed {
                    let _ = answer.send(result);
                }
            }))
        });
        let ended = || Error::internal("the database could not be changed".to_owned());
        let jobs = self.jobs.as_ref().ok_or_else(ended)?;
        jobs.send(job).await.map_err(|_| ended())?;
        result.await.map_err(|_| ended())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // It has reported its panic.
            let _ = thread.join();
        }
    }
}

/// Makes changes in one transaction.
fn commit(database: &Database, files: &Files, group: Vec<Job>) {
    let mut replies = Vec::with_capacity(group.len());
    let result = try_commit(database, group, &mut replies);
    let is_committed = result.is_ok();
    match result {
        Ok(removed) => files.remove(&removed),
        Err(reason) => drop(Error::internal(reason)),
    }
    for reply in replies {
        reply(is_committed);
    }
}

/// Returns the files that are to be removed.
fn try_commit(
    database: &Database,
    group: Vec<Job>,
    replies: &mut Vec<Reply>,
) -> Result<Vec<u64>, String> {
    let text = |error: redb::Error| error.to_string();
    let write = database.begin().map_err(text)?;
    let mut changes = Changes::new(&write).map_err(text)?;
    for job in group {
        replies.push(job(&mut changes)?);
    }
    // From here on files that were added are removed if the commit fails.
    let (added, removed) = changes.finish().map_err(text)?;
    write.commit().map_err(|error| error.to_string())?;
    for file in added {
        file.keep();
    }
    Ok(removed)
}
