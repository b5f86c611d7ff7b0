//! One run of one subject: a server on a thread, its clients on another.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::thread;

use polywire_gate::{Figures, Span};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::layout::Layout;
use super::tally::{self, Times};
use super::transport::Wire;

/// A system that is called over a wire.
pub(super) trait Peer<W: Wire>: 'static {
    /// Serves until it is dropped.
    fn serve(listener: W::Listener) -> impl Future<Output = Result<(), String>>;

    /// Connects, calls `start`, and keeps calls in flight until the time is over. Their outcomes go
    /// to the tally.
    fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> impl Future<Output = Result<(), String>>;
}

/// A trial of a subject.
pub(super) fn of<W: Wire, P: Peer<W>>(
    layout: Layout,
) -> impl FnMut(Span) -> Result<Figures, String> + 'static {
    move |span| run::<W, P>(layout, span)
}

fn run<W: Wire, P: Peer<W>>(layout: Layout, span: Span) -> Result<Figures, String> {
    let (socket, url) = W::bind().map_err(words)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let server = thread::spawn(move || {
        layout.settle()?;
        let runtime = runtime()?;
        runtime.block_on(async {
            let listener = W::listener(socket).map_err(words)?;
            let mut serving = pin!(P::serve(listener));
            let mut ready = Some(ready);
            let serving = poll_fn(|context| {
                let served = serving.as_mut().poll(context);
                // After its first poll it listens. Earlier datagrams would be lost.
                drop(ready.take());
                served
            });
            tokio::select! {
                served = serving => served.and(Err("the server has ended".to_owned())),
                _ = stopped => Ok(()),
            }
        })
    });
    // The sender is dropped when the server listens.
    let _: Result<(), _> = is_ready.recv();
    let figures = clients::<W, P>(&url, layout, span);
    // It may have ended already; then `served` has the error.
    let _ = stop.send(());
    let served = server
        .join()
        .unwrap_or_else(|_| Err("the server panicked".to_owned()));
    W::clear(&url);
    // An error of the server explains the errors of the clients.
    served.and(figures)
}

/// Runs the clients of a server that is there.
pub(super) fn clients<W: Wire, P: Peer<W>>(
    url: &str,
    layout: Layout,
    span: Span,
) -> Result<Figures, String> {
    let url = url.to_owned();
    let clients = thread::spawn(move || {
        layout.settle()?;
        runtime()?.block_on(async {
            let start = || tally::begin(Times::from_now(span));
            P::call(&url, layout, start).await
        })?;
        tally::end().ok_or("nothing was counted")?.figures()
    });
    let panicked = |_| Err("the clients panicked".to_owned());
    clients.join().unwrap_or_else(panicked)
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
