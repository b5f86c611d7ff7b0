//! Our client and server over frames.

use polywire_protocol::{Fault, FaultKind};
use polywire_rpc::frames::Client;
use polywire_rpc::{Methods, Server};
use tokio::net::TcpListener;

use super::whole::System;

/// A server of methods without a model, and clients that call it with types of serde.
pub struct Frames;

impl System for Frames {
    type Client = Client;

    async fn serve(listener: TcpListener) -> Result<(), String> {
        let running = server()?.serve(listener).map_err(words)?;
        running.ended().await;
        Ok(())
    }

    async fn connect(address: &str) -> Result<Client, String> {
        let client = Client::connect(&format!("tcp://{address}")).await;
        client.map_err(words)
    }

    async fn add(client: &Client, left: i32, right: i32) -> Result<i32, String> {
        client.call("Add", (left, right)).await.map_err(words)
    }
}

/// A server with the method `Add`, and with `AddBytes`, which reads and writes CBOR by itself.
pub fn server() -> Result<Server, String> {
    let add = |(left, right): (i32, i32)| async move { left + right };
    let methods = Methods::new().method("Add", add);
    let methods = methods.bytes("AddBytes", |input, output, _| {
        let (left, right) = numbers(input).ok_or_else(not_two_numbers)?;
        output.push(INT32);
        output.extend_from_slice(&left.wrapping_add(right).to_be_bytes());
        Ok(())
    });
    // More connections than any load opens.
    let server = Server::methods(methods).frames(true).connections(20_000);
    server.build().map_err(words)
}

/// The first byte of an integer of four bytes in CBOR.
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
fn not_two_numbers() -> Fault {
    Fault::new(FaultKind::Malformed, "expected a list of two numbers")
}

#[expect(clippy::needless_pass_by_value, reason = "it is for `map_err`")]
fn words(error: impl ToString) -> String {
    error.to_string()
}
