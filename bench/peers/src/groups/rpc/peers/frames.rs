//! Our own client and server.

use polywire_gate::groups::rpc as gate;
use polywire_rpc::Server;
use polywire_rpc::frames::Client;

use super::super::transport::Wire;
use super::super::trial::words;
use super::caller::Caller;

/// The server of the gate's cases, over any transport.
pub(crate) struct Frames;

impl<W: Wire> Caller<W> for Frames {
    type Client = Client;

    async fn serve(listener: W::Listener) -> Result<(), String> {
        serve::<W>(&gate::server()?, listener).await
    }

    async fn connect(url: &str) -> Result<Client, String> {
        connect(url).await
    }

    async fn add(client: &Client, left: i32, right: i32) -> Result<i32, String> {
        client.call("Add", (left, right)).await.map_err(words)
    }
}

pub(super) async fn serve<W: Wire>(server: &Server, listener: W::Listener) -> Result<(), String> {
    let running = W::serve(server, listener).await.map_err(words)?;
    running.ended().await;
    Ok(())
}

pub(super) async fn connect(url: &str) -> Result<Client, String> {
    Client::connect(url).await.map_err(words)
}
