//! A client and a server on one thread, over loopback TCP.

use std::future::{Future, poll_fn};
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::Poll;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use super::frames::Frames;

/// A system that adds: its server, and a client with one connection.
pub trait System: 'static {
    /// The client.
    type Client;

    /// Serves until it is dropped.
    fn serve(listener: TcpListener) -> impl Future<Output = Result<(), String>> + Send;

    /// Connects to an address such as `127.0.0.1:80`.
    fn connect(address: &str) -> impl Future<Output = Result<Self::Client, String>>;

    /// Calls once.
    fn add(
        client: &Self::Client,
        left: i32,
        right: i32,
    ) -> impl Future<Output = Result<i32, String>>;
}

/// Both sides of a system. They start with the first call, so that listing the cases opens no
/// sockets.
pub struct Whole<S: System> {
    running: Option<ServerAndClient<S>>,
    answer: Vec<u8>,
}

struct ServerAndClient<S: System> {
    runtime: Runtime,
    client: S::Client,
}

impl<S: System> Default for Whole<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: System> Whole<S> {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self {
            running: None,
            answer: Vec::new(),
        }
    }

    /// Makes so many calls at once and checks each answer. Each of several calls is boxed.
    pub fn add(&mut self, calls: usize, left: i32, right: i32) -> Result<(), String> {
        let ServerAndClient { runtime, client } = running(&mut self.running)?;
        runtime.block_on(async {
            if calls == 1 {
                return check(S::add(client, left, right).await, left + right);
            }
            let call =
                |_| Box::pin(async { check(S::add(client, left, right).await, left + right) });
            all((0..calls).map(call).collect()).await
        })
    }
}

impl Whole<Frames> {
    /// Makes a call of bytes, of the method that adds two numbers in CBOR.
    pub(super) fn bytes(&mut self, left: i32, right: i32) -> Result<(), String> {
        let ServerAndClient { runtime, client } = running(&mut self.running)?;
        let mut input = [0x82, 0x1a, 0, 0, 0, 0, 0x1a, 0, 0, 0, 0];
        input[2..6].copy_from_slice(&left.to_be_bytes());
        input[7..].copy_from_slice(&right.to_be_bytes());
        self.answer.clear();
        let called = client.call_bytes_into("AddBytes", &input, &mut self.answer);
        let called = runtime.block_on(called);
        called.map_err(|error| error.to_string())?;
        match self.answer.split_first() {
            Some((0x1a, sum)) if *sum == (left + right).to_be_bytes() => Ok(()),
            _ => Err(format!("another answer: {:x?}", self.answer)),
        }
    }
}

fn running<S: System>(
    slot: &mut Option<ServerAndClient<S>>,
) -> Result<&ServerAndClient<S>, String> {
    if slot.is_none() {
        *slot = Some(start::<S>().map_err(|error| error.to_string())?);
    }
    slot.as_ref().ok_or_else(|| "not started".to_owned())
}

fn start<S: System>() -> crate::Result<ServerAndClient<S>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (listener, address) = runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?.to_string();
        std::io::Result::Ok((listener, address))
    })?;
    runtime.spawn(S::serve(listener));
    let client = runtime.block_on(S::connect(&address))?;
    Ok(ServerAndClient { runtime, client })
}

/// Waits for all calls, and returns the first error.
async fn all<F>(mut calls: Vec<Pin<Box<F>>>) -> Result<(), String>
where
    F: Future<Output = Result<(), String>>,
{
    let mut outcome = Ok(());
    poll_fn(|context| {
        calls.retain_mut(|call| match call.as_mut().poll(context) {
            Poll::Ready(result) => {
                if outcome.is_ok() {
                    outcome = result;
                }
                false
            }
            Poll::Pending => true,
        });
        match calls.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    outcome
}

fn check(sum: Result<i32, String>, expected: i32) -> Result<(), String> {
    match sum? {
        sum if sum == expected => Ok(()),
        sum => Err(format!("{sum} instead of {expected}")),
    }
}
