//! tarpc with bincode, as its examples have it.

use futures_util::StreamExt;
use tarpc::context::{self, Context};
use tarpc::serde_transport;
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;
use tarpc::tokio_util::codec::{Framed, LengthDelimitedCodec};

use super::super::layout::Layout;
use super::super::tally::{self, Times};
use super::super::transport::Transport;
use super::super::trial::{Peer, words};
use super::tasks;

#[tarpc::service]
trait Adder {
    async fn add(left: i32, right: i32) -> i32;
}

#[derive(Clone)]
struct Sum;

impl Adder for Sum {
    async fn add(self, _: Context, left: i32, right: i32) -> i32 {
        left + right
    }
}

/// Its generated client and server over its transport of serde types. Its documents give each call a
/// task. `IN_LINE`, a connection has one handler at work at a time, which is faster where handlers
/// wait for nothing, and holds up all others where they do.
pub(crate) struct Tarpc<const IN_LINE: bool>;

impl<T: Transport, const IN_LINE: bool> Peer<T> for Tarpc<IN_LINE> {
    async fn serve(listener: T::Listener) -> Result<(), String> {
        loop {
            let stream = T::accept(&listener).await.map_err(words)?;
            let framed = Framed::new(stream, LengthDelimitedCodec::new());
            let transport = serde_transport::new(framed, Bincode::default());
            let calls = BaseChannel::with_defaults(transport).execute(Sum.serve());
            if IN_LINE {
                tokio::spawn(calls.for_each(|call| call));
            } else {
                tokio::spawn(calls.for_each(async |call| {
                    tokio::spawn(call);
                }));
            }
        }
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        let mut clients = Vec::new();
        for _ in 0..layout.clients {
            let stream = T::connect(url).await.map_err(words)?;
            let framed = Framed::new(stream, LengthDelimitedCodec::new());
            let transport = serde_transport::new(framed, Bincode::default());
            let config = tarpc::client::Config::default();
            clients.push(AdderClient::new(config, transport).spawn());
        }
        let times = start()?;
        let work = |client: AdderClient, caller| async move {
            let call = |left, right| {
                let sum = client.add(context::current(), left, right);
                async { sum.await.map_err(|error| error.to_string()) }
            };
            tally::calls(times, caller, call).await;
        };
        tasks(layout, times, clients, work).await
    }
}
