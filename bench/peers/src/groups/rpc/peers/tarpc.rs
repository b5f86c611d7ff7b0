//! tarpc with bincode over its serde transport, as in its examples.

use futures_util::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tarpc::context::{self, Context};
use tarpc::serde_transport;
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;
use tarpc::tokio_util::codec::{Framed, LengthDelimitedCodec};
use tokio::io::{AsyncRead, AsyncWrite};

use polywire_gate::groups::rpc::System;

use super::super::transport::{Tcp, Transport};
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

/// Its generated client and server. Its documentation spawns a task for each call. With `IN_LINE` a
/// connection runs one handler at a time, which is faster as long as no handler waits.
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

impl System for Tarpc<false> {
    type Client = AdderClient;

    async fn serve(listener: tokio::net::TcpListener) -> Result<(), String> {
        <Self as Caller<Tcp>>::serve(listener).await
    }

    async fn connect(address: &str) -> Result<AdderClient, String> {
        <Self as Caller<Tcp>>::connect(&format!("tcp://{address}")).await
    }

    async fn add(client: &AdderClient, left: i32, right: i32) -> Result<i32, String> {
        <Self as Caller<Tcp>>::add(client, left, right).await
    }
}

/// Messages over a stream, each behind its length.
fn transport<S, In, Out>(stream: S) -> serde_transport::Transport<S, In, Out, Bincode<In, Out>>
where
    S: AsyncRead + AsyncWrite,
    In: DeserializeOwned,
    Out: Serialize,
{
    let framed = Framed::new(stream, LengthDelimitedCodec::new());
    serde_transport::new(framed, Bincode::default())
}
