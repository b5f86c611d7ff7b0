//! tarpc with bincode, as its examples have it.

use futures_util::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tarpc::context::{self, Context};
use tarpc::serde_transport;
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;
use tarpc::tokio_util::codec::{Framed, LengthDelimitedCodec};
use tokio::io::{AsyncRead, AsyncWrite};

use super::super::transport::Transport;
use super::super::trial::words;
use super::caller::Caller;

#[tarpc::service]
pub(crate) trait Adder {
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

impl<T: Transport, const IN_LINE: bool> Caller<T> for Tarpc<IN_LINE> {
    type Client = AdderClient;

    async fn serve(listener: T::Listener) -> Result<(), String> {
        loop {
            let stream = T::accept(&listener).await.map_err(words)?;
            let calls = BaseChannel::with_defaults(transport(stream)).execute(Sum.serve());
            if IN_LINE {
                tokio::spawn(calls.for_each(|call| call));
            } else {
                tokio::spawn(calls.for_each(async |call| {
                    tokio::spawn(call);
                }));
            }
        }
    }

    async fn connect(url: &str) -> Result<AdderClient, String> {
        let stream = T::connect(url).await.map_err(words)?;
        let config = tarpc::client::Config::default();
        Ok(AdderClient::new(config, transport(stream)).spawn())
    }

    async fn add(client: &AdderClient, left: i32, right: i32) -> Result<i32, String> {
        let sum = client.add(context::current(), left, right).await;
        sum.map_err(|error| error.to_string())
    }
}

/// What goes over a stream, with its length before each message.
fn transport<S, In, Out>(stream: S) -> serde_transport::Transport<S, In, Out, Bincode<In, Out>>
where
    S: AsyncRead + AsyncWrite,
    In: DeserializeOwned,
    Out: Serialize,
{
    let framed = Framed::new(stream, LengthDelimitedCodec::new());
    serde_transport::new(framed, Bincode::default())
}
