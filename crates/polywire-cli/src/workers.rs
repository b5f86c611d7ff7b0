//! Worker threads: each with a runtime and listeners of its own.

use std::io;
use std::thread::JoinHandle;

use polywire::prelude::*;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::listen::Speaking;

/// Worker threads that run.
#[derive(Debug)]
pub(crate) struct Workers {
    threads: Vec<JoinHandle<io::Result<()>>>,
    stop: watch::Sender<bool>,
    /// A word from each thread that ends, then the end.
    ended: mpsc::UnboundedReceiver<()>,
}

/// Says that a thread ends, however it does.
struct Leaving(mpsc::UnboundedSender<()>);

impl Drop for Leaving {
    fn drop(&mut self) {
        // Nobody listening is nobody to tell.
        let _ = self.0.send(());
    }
}

impl Workers {
    /// Starts a worker for each group of listeners.
    pub(crate) fn start(server: &Server, groups: Vec<Vec<Speaking>>) -> io::Result<Self> {
        Self::spawn(groups, |listeners| {
            let server = server.clone();
            move |stopped| work(&server, listeners, &stopped)
        })
    }

    fn spawn<T, W>(parts: Vec<T>, job: impl Fn(T) -> W) -> io::Result<Self>
    where
        W: FnOnce(watch::Receiver<bool>) -> io::Result<()> + Send + 'static,
    {
        let (stop, stopped) = watch::channel(false);
        let (leave, ended) = mpsc::unbounded_channel();
        let mut threads = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let (work, stopped) = (job(part), stopped.clone());
            let leaving = Leaving(leave.clone());
            let thread = std::thread::Builder::new()
                .name(format!("worker-{index}"))
                .spawn(move || {
                    let _leaving = leaving;
                    work(stopped)
                });
            threads.push(thread?);
        }
        Ok(Self {
            threads,
            stop,
            ended,
        })
    }

    /// Whether there are none: where nothing listens but Unix sockets.
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Returns when a worker has ended, which none does before it is told to.
    pub(crate) async fn one_ended(&mut self) {
        let _ = self.ended.recv().await;
    }

    /// Tells all workers to stop, and returns when they have.
    pub(crate) async fn stop(&mut self) {
        // Workers that are gone need no word.
        let _ = self.stop.send(true);
        while self.ended.recv().await.is_some() {}
    }

    /// How they ended: for after they have.
    pub(crate) fn result(self) -> Result<(), String> {
        for thread in self.threads {
            match thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(error.to_string()),
                Err(_) => return Err("a worker thread panicked".to_owned()),
            }
        }
        Ok(())
    }
}

/// Serves until told to stop; then all listeners stop at the same time.
fn work(
    server: &Server,
    listeners: Vec<Speaking>,
    stopped: &watch::Receiver<bool>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for listener in listeners {
            let running = listener.serve(server)?;
            let mut stopped = stopped.clone();
            tasks.spawn(async move {
                tokio::select! {
                    _ = stopped.changed() => {}
                    () = running.ended() => {
                        let message = format!("nobody listens on {} any more", running.address());
                        return Err(io::Error::other(message));
                    }
                }
                running.shutdown().await;
                Ok(())
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.map_err(io::Error::other)??;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two workers, of which the first ends as told and the second at once.
    async fn ends(end: fn() -> io::Result<()>) -> Result<(), String> {
        let workers = Workers::spawn(vec![false, true], |at_once| {
            move |mut stopped: watch::Receiver<bool>| {
                if at_once {
                    return end();
                }
                let runtime = tokio::runtime::Builder::new_current_thread().build()?;
                let _ = runtime.block_on(stopped.changed());
                Ok(())
            }
        });
        let mut workers = workers.unwrap();
        workers.one_ended().await;
        workers.stop().await;
        workers.result()
    }

    #[tokio::test]
    async fn a_worker_that_ends_early_is_seen() {
        assert_eq!(ends(|| Ok(())).await, Ok(()));
        let error = ends(|| Err(io::Error::other("no more"))).await;
        assert_eq!(error, Err("no more".to_owned()));
        let panic = ends(|| panic!("on purpose")).await;
        assert_eq!(panic, Err("a worker thread panicked".to_owned()));
    }
}
