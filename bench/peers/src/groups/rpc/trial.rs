//! One run of one subject: a server on a thread, its clients on another.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::thread;

use crate::{Figures, Span};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::layout::Layout;
use super::tally::{self, Tally, Times};
use super::transport::Wire;

/// A system that is called over a wire.
pub(super) trait Peer<W: Wire>: 'static {
    /// Serves until it is dropped.
    fn serve(listener: W::Listener) -> impl Future<Output = Result<(), String>>;

    /// Connects, starts the time, and keeps calls in flight until it is over. What becomes of them
    /// is told to [`tally::with`].
    fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> impl Future<Output = Result<(), String>>;
}

/// What runs a subject.
pub(super) fn of<W: Wire, P: Peer<W>>(
    layout: Layout,
) -> impl FnMut(Span) -> Result<Figures, String> + 'static {
    move |span| run::<W, P>(layout, span)
}

fn run<W: Wire, P: Peer<W>>(layout: Layout, span: Span) -> Result<Figures, String> {
    let (socket, url) = W::bind().map_err(words)?;
    if layout.is_one_thread() {
        return alone::<W, P>(socket, &url, layout, span);
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let (listens, listening) = std::sync::mpsc::channel();
    let server = thread::spawn(move || {
        layout.settle()?;
        let runtime = runtime()?;
        runtime.block_on(async {
            let listener = W::listener(socket).map_err(words)?;
            let mut serving = pin!(P::serve(listener));
            let mut listens = Some(listens);
            let serving = poll_fn(|context| {
                let served = serving.as_mut().poll(context);
                // By now it listens, which takes no waiting. Datagrams before that would be lost.
                drop(listens.take());
                served
            });
            tokio::select! {
                served = serving => served.and(Err("the server has ended".to_owned())),
                _ = stopped => Ok(()),
            }
        })
    });
    // Nothing is ever sent.
    let _: Result<(), _> = listening.recv();
    let figures = clients::<W, P>(&url, layout, span);
    // It may have ended by itself, which it says.
    let _ = stop.send(());
    let served = server
        .join()
        .unwrap_or_else(|_| Err("the server panicked".to_owned()));
    W::clear(&url);
    // Why there was no server says more than what the clients saw of it.
    served.and(figures)
}

/// Server and clients on this thread.
fn alone<W: Wire, P: Peer<W>>(
    socket: W::Socket,
    url: &str,
    layout: Layout,
    span: Span,
) -> Result<Figures, String> {
    runtime()?.block_on(async {
        let mut serving = pin!(P::serve(W::listener(socket).map_err(words)?));
        let mut calling = pin!(async {
            // The server has had its turn, and listens.
            tokio::task::yield_now().await;
            P::call(url, layout, || tally::begin(Times::from_now(span))).await
        });
        tokio::select! {
            biased;
            served = &mut serving => served.and(Err("the server has ended".to_owned())),
            called = &mut calling => called,
        }
    })?;
    tally::end().ok_or("nothing was counted")?.figures()
}

/// Runs the clients alone, of a server that is there.
pub(super) fn clients<W: Wire, P: Peer<W>>(
    url: &str,
    layout: Layout,
    span: Span,
) -> Result<Figures, String> {
    let clients: Vec<_> = (0..layout.threads)
        .map(|_| {
            let url = url.to_owned();
            thread::spawn(move || tally_of::<W, P>(&url, layout, span))
        })
        .collect();
    // All of them, also if one has failed: they would go on calling.
    let tallies: Vec<Result<Tally, String>> = clients
        .into_iter()
        .map(|clients| {
            let panicked = |_| Err("the clients panicked".to_owned());
            clients.join().unwrap_or_else(panicked)
        })
        .collect();
    let whole = tallies.into_iter().reduce(|whole, more| whole?.and(more?));
    whole.ok_or("there are no clients")??.figures()
}

/// What one thread of clients counts.
fn tally_of<W: Wire, P: Peer<W>>(url: &str, layout: Layout, span: Span) -> Result<Tally, String> {
    layout.settle()?;
    runtime()?.block_on(async {
        let start = || tally::begin(Times::from_now(span));
        P::call(url, layout, start).await
    })?;
    Ok(tally::end().ok_or("nothing was counted")?)
}

pub(super) fn runtime() -> Result<Runtime, String> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(words)
}

#[expect(clippy::needless_pass_by_value, reason = "it is for `map_err`")]
pub(super) fn words(error: impl ToString) -> String {
    error.to_string()
}
