//! Systems whose clients are shared by tasks.

use std::future::Future;
use std::marker::PhantomData;

use super::super::layout::Layout;
use super::super::tally::{self, Times};
use super::super::transport::Wire;
use super::super::trial::Peer;
use super::tasks;

/// A system whose clients can be cloned.
pub(crate) trait Caller<W: Wire>: 'static {
    type Client: Clone + Send + Sync + 'static;

    /// Serves until it is dropped.
    fn serve(listener: W::Listener) -> impl Future<Output = Result<(), String>> + Send;

    /// A client with a connection of its own.
    fn connect(url: &str) -> impl Future<Output = Result<Self::Client, String>> + Send;

    /// Calls once.
    fn add(
        client: &Self::Client,
        left: i32,
        right: i32,
    ) -> impl Future<Output = Result<i32, String>> + Send;
}

/// The load of such a system.
pub(crate) struct Calls<C>(PhantomData<C>);

impl<W: Wire, C: Caller<W>> Peer<W> for Calls<C> {
    async fn serve(listener: W::Listener) -> Result<(), String> {
        C::serve(listener).await
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        let mut clients = Vec::new();
        for _ in 0..layout.clients {
            clients.push(C::connect(url).await?);
        }
        let times = start()?;
        let work = |client, caller| async move {
            tally::sums(times, caller, |left, right| C::add(&client, left, right)).await;
        };
        tasks(layout, times, clients, work).await
    }
}
