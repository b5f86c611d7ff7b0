//! capnp-rpc: Cap'n Proto between two parties, on tokio.

use capnp::capability::Rc;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::twoparty::VatNetwork;
use capnp_rpc::{RpcSystem, new_client};
use futures_util::AsyncReadExt;
use futures_util::io::{BufReader, BufWriter};
use tokio::task::{JoinSet, LocalSet};
use tokio_util::compat::TokioAsyncReadCompatExt;

use super::super::layout::Layout;
use super::super::tally::{self, Times};
use super::super::transport::Transport;
use super::super::trial::{Peer, words};
use super::ended;
use super::generated::adder_capnp::adder;

struct Adding;

impl adder::Server for Adding {
    async fn add(
        self: Rc<Self>,
        parameters: adder::AddParams,
        mut results: adder::AddResults,
    ) -> Result<(), capnp::Error> {
        let pair = parameters.get()?;
        results.get().set_sum(pair.get_left() + pair.get_right());
        Ok(())
    }
}

/// Its generated client and server, with buffered streams as in its examples.
pub(crate) struct Capnp;

impl<T: Transport> Peer<T> for Capnp {
    async fn serve(listener: T::Listener) -> Result<(), String> {
        let client: adder::Client = new_client(Adding);
        // Its types are not `Send`.
        let accepting = async {
            loop {
                let stream = T::accept(&listener).await.map_err(words)?;
                let network = network(stream, Side::Server);
                let system = RpcSystem::new(Box::new(network), Some(client.clone().client));
                tokio::task::spawn_local(system);
            }
        };
        LocalSet::new().run_until(accepting).await
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        let calling = async {
            let mut clients: Vec<adder::Client> = Vec::new();
            for _ in 0..layout.clients {
                let stream = T::connect(url).await.map_err(words)?;
                let mut system = RpcSystem::new(Box::new(network(stream, Side::Client)), None);
                clients.push(system.bootstrap(Side::Server));
                tokio::task::spawn_local(system);
            }
            let times = start()?;
            let mut tasks = JoinSet::new();
            let callers = clients
                .iter()
                .flat_map(|client| (0..layout.window).map(move |_| client));
            for (caller, client) in (0..).zip(callers) {
                let client = client.clone();
                tasks.spawn_local(async move {
                    tally::sums(times, caller, |left, right| add(&client, left, right)).await;
                });
            }
            ended(times, &mut tasks).await
        };
        LocalSet::new().run_until(calling).await
    }
}

fn network<S>(stream: S, side: Side) -> VatNetwork<impl futures_util::AsyncRead>
where
    S: TokioAsyncReadCompatExt + tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + 'static,
{
    let (reader, writer) = stream.compat().split();
    let (reader, writer) = (BufReader::new(reader), BufWriter::new(writer));
    VatNetwork::new(reader, writer, side, Default::default())
}

fn add(
    client: &adder::Client,
    left: i32,
    right: i32,
) -> impl Future<Output = Result<i32, String>> + use<> {
    let mut request = client.add_request();
    request.get().set_left(left);
    request.get().set_right(right);
    let answer = request.send().promise;
    async {
        let failed = |error: capnp::Error| error.to_string();
        Ok(answer
            .await
            .map_err(failed)?
            .get()
            .map_err(failed)?
            .get_sum())
    }
}
