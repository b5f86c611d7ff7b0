//! Worker threads, each with its own runtime and listeners.

use std::io;
use std::thread::JoinHandle;

use polywire::prelude::*;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::listen::TcpEndpoint;

/// Running worker threads.
#[derive(Debug)]
pub(crate) struct Workers {
    threads: Vec<JoinHandle<io::Result<()>>>,
    stop: watch::Sender<bool>,
    /// Receives a message when a thread ends, and closes when all have.
    ended: mpsc::UnboundedReceiver<()>,
}

/// Sends a message on drop, so that the end of a thread is noticed even after a panic.
struct EndNotifier(mpsc::UnboundedSender<()>);

impl Drop for EndNotifier {
    fn drop(&mut self) {
        // The receiver may be gone.
        let _ = self.0.send(());
    }
}

impl Workers {
    /// Starts a worker for each group of listeners.
    pub(crate) fn start(server: &Server, groups: Vec<Vec<TcpEndpoint>>) -> io::Result<Self> {
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
        let (notify, ended) = mpsc::unbounded_channel();
        let mut threads = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let (work, stopped) = (job(part), stopped.clone());
            let notifier = EndNotifier(notify.clone());
            let thread = std::thread::Builder::new()
                .name(format!("worker-{index}"))
                .spawn(move || {
                    let _notifier = notifier;
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

    /// Whether there are no workers, because there are only Unix or UDP sockets.
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Waits until a worker ends. Workers end only when they are stopped, or fail.
    pub(crate) async fn wait_for_any(&mut self) {
        let _ = self.ended.recv().await;
    }

    /// Stops all workers, and waits until they have ended.
    pub(crate) async fn stop(&mut self) {
        // All workers may have ended already.
        let _ = self.stop.send(true);
        while self.ended.recv().await.is_some() {}
    }

    /// Returns the first failure. Call it after all workers have ended.
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

/// Serves until the stop signal. Then stops all listeners at the same time.
fn work(
    server: &Server,
    listeners: Vec<TcpEndpoint>,
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
                        let message = format!("the listener on {} stopped", running.address());
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

    /// Runs two workers: the first runs until it is stopped, the second fails at once.
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
        workers.wait_for_any().await;
        workers.stop().await;
        workers.result()
    }

    #[tokio::test]
    async fn reports_workers_that_end_early() {
        assert_eq!(ends(|| Ok(())).await, Ok(()));
        let error = ends(|| Err(io::Error::other("no more"))).await;
        assert_eq!(error, Err("no more".to_owned()));
        let panic = ends(|| panic!("on purpose")).await;
        assert_eq!(panic, Err("a worker thread panicked".to_owned()));
    }
}
