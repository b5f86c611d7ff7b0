//! Ours: the framed protocol.

use polywire_rpc::frames::Client;
use polywire_rpc::{Methods, Server};

use super::super::layout::Layout;
use super::super::tally::{self, Times};
use super::super::transport::Wire;
use super::super::trial::{Peer, words};
use super::tasks;

/// A server of one method, without a model, and clients of serde types.
pub(crate) struct Frames;

impl<W: Wire> Peer<W> for Frames {
    async fn serve(listener: W::Listener) -> Result<(), String> {
        let methods =
            Methods::new().method(
                "Add",
                |(left, right): (i32, i32)| async move { left + right },
            );
        let server = Server::methods(methods).frames(true).build();
        let server = server.map_err(|error| error.to_string())?;
        W::serve(&server, listener).map_err(words)?.ended().await;
        Ok(())
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        let mut clients = Vec::new();
        for _ in 0..layout.clients {
            let client = Client::connect(url).await;
            clients.push(client.map_err(|error| error.to_string())?);
        }
        let times = start()?;
        let work = |client: Client, caller| async move {
            let call = |left: i32, right: i32| {
                let sum = client.call::<i32>("Add", (left, right));
                async { sum.await.map_err(|error| error.to_string()) }
            };
            tally::calls(times, caller, call).await;
        };
        tasks(layout, times, clients, work).await
    }
}
