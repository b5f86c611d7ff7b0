//! Ours: the framed protocol.

use polywire_protocol::{Fault, FaultKind};
use polywire_rpc::frames::Client;
use polywire_rpc::{Methods, Server};

use super::super::transport::Wire;
use super::super::trial::words;
use super::caller::Caller;

/// A server of methods without a model, and clients of serde types.
pub(crate) struct Frames;

impl<W: Wire> Caller<W> for Frames {
    type Client = Client;

    async fn serve(listener: W::Listener) -> Result<(), String> {
        let add = |(left, right): (i32, i32)| async move { left + right };
        let methods = Methods::new().method("Add", add);
        let methods = methods.bytes("AddBytes", |input, output, _| {
            let (left, right) = numbers(input).ok_or_else(no_numbers)?;
            output.push(INT32);
            output.extend_from_slice(&left.wrapping_add(right).to_be_bytes());
            Ok(())
        });
        serve::<W>(&server(methods)?, listener).await
    }

    async fn connect(url: &str) -> Result<Client, String> {
        connect(url).await
    }

    async fn add(client: &Client, left: i32, right: i32) -> Result<i32, String> {
        let sum = client.call("Add", (left, right)).await;
        sum.map_err(|error| error.to_string())
    }
}

/// What an integer of four bytes begins with in CBOR.
const INT32: u8 = 0x1a;

/// Two of them in a list, as the client writes them.
fn numbers(input: &[u8]) -> Option<(i32, i32)> {
    let (head, left) = input.split_first_chunk::<2>()?;
    let (left, rest) = left.split_first_chunk::<4>()?;
    let (middle, right) = rest.split_first_chunk::<1>()?;
    let right = right.first_chunk::<4>()?;
    let known = *head == [0x82, INT32] && *middle == [INT32];
    known.then(|| (i32::from_be_bytes(*left), i32::from_be_bytes(*right)))
}

#[cold]
fn no_numbers() -> Fault {
    Fault::new(FaultKind::Malformed, "expected a list of two numbers")
}

pub(super) fn server(methods: Methods) -> Result<Server, String> {
    // Some more than the most that a load opens.
    let server = Server::methods(methods).frames(true).connections(20_000);
    let server = server.build();
    server.map_err(|error| error.to_string())
}

pub(super) async fn serve<W: Wire>(server: &Server, listener: W::Listener) -> Result<(), String> {
    let running = W::serve(server, listener).await.map_err(words)?;
    running.ended().await;
    Ok(())
}

pub(super) async fn connect(url: &str) -> Result<Client, String> {
    let client = Client::connect(url).await;
    client.map_err(|error| error.to_string())
}
