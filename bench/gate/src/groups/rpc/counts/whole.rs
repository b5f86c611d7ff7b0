//! A client and a server on one thread, over loopback TCP.

use tokio::runtime::{Builder, Runtime};

use super::super::peers::{Caller, Frames};
use super::super::transport::{Tcp, Wire};

/// A system that begins with its first call: whoever lists cases opens no sockets.
pub(super) struct Whole<C: Caller<Tcp>>(Option<Running<C>>, Vec<u8>);

struct Running<C: Caller<Tcp>> {
    runtime: Runtime,
    client: C::Client,
}

impl<C: Caller<Tcp>> Whole<C> {
    pub(super) const fn new() -> Self {
        Self(None, Vec::new())
    }

    /// So many calls at once, each of which is checked.
    pub(super) fn add(&mut self, calls: usize, left: i32, right: i32) -> Result<(), String> {
        let Running { runtime, client } = match &mut self.0 {
            Some(running) => running,
            none => none.insert(begin::<C>()?),
        };
        runtime.block_on(async {
            if calls == 1 {
                return right_sum(C::add(client, left, right).await, left + right);
            }
            let call = async |_| right_sum(C::add(client, left, right).await, left + right);
            let all = futures_util::future::join_all((0..calls).map(call)).await;
            all.into_iter().collect()
        })
    }
}

impl Whole<Frames> {
    /// A call by bytes, of a method that adds them.
    pub(super) fn bytes(&mut self, left: i32, right: i32) -> Result<(), String> {
        let Running { runtime, client } = match &mut self.0 {
            Some(running) => running,
            none => none.insert(begin::<Frames>()?),
        };
        let mut input = [0x82, 0x1a, 0, 0, 0, 0, 0x1a, 0, 0, 0, 0];
        input[2..6].copy_from_slice(&left.to_be_bytes());
        input[7..].copy_from_slice(&right.to_be_bytes());
        let answer = &mut self.1;
        answer.clear();
        let called = runtime.block_on(client.call_bytes_into("AddBytes", &input, answer));
        called.map_err(|error| error.to_string())?;
        match answer.split_first() {
            Some((0x1a, sum)) if *sum == (left + right).to_be_bytes() => Ok(()),
            _ => Err(format!("another answer: {answer:x?}")),
        }
    }
}

fn begin<C: Caller<Tcp>>() -> Result<Running<C>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed)?;
    let client = runtime.block_on(async {
        let (socket, url) = Tcp::bind().map_err(failed)?;
        let listener = Tcp::listener(socket).map_err(failed)?;
        tokio::spawn(C::serve(listener));
        C::connect(&url).await
    })?;
    Ok(Running { runtime, client })
}

fn right_sum(sum: Result<i32, String>, expected: i32) -> Result<(), String> {
    match sum? {
        sum if sum == expected => Ok(()),
        sum => Err(format!("{sum} instead of {expected}")),
    }
}
