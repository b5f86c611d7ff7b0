//! tonic: gRPC with prost, on HTTP/2.

use tonic::transport::server::TcpIncoming;
use tonic::transport::{Endpoint, Server};
use tonic::{Request, Response, Status};

use super::super::layout::Layout;
use super::super::tally::{self, Times};
use super::super::transport::Tcp;
use super::super::trial::Peer;
use super::generated::adder::adder_client::AdderClient;
use super::generated::adder::adder_server::{Adder, AdderServer};
use super::generated::adder::{Pair, Sum};
use super::tasks;

struct Adding;

#[tonic::async_trait]
impl Adder for Adding {
    async fn add(&self, request: Request<Pair>) -> Result<Response<Sum>, Status> {
        let Pair { left, right } = request.into_inner();
        Ok(Response::new(Sum { sum: left + right }))
    }
}

/// Its generated client and server over its own transport.
pub(crate) struct Tonic;

impl Peer<Tcp> for Tonic {
    async fn serve(listener: tokio::net::TcpListener) -> Result<(), String> {
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let server = Server::builder().add_service(AdderServer::new(Adding));
        let served = server.serve_with_incoming(incoming).await;
        served.map_err(|error| error.to_string())
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        let failed = |error: tonic::transport::Error| error.to_string();
        let mut clients = Vec::new();
        for _ in 0..layout.clients {
            let endpoint = Endpoint::from_shared(url.replacen("tcp", "http", 1)).map_err(failed)?;
            let channel = endpoint.tcp_nodelay(true).connect().await.map_err(failed)?;
            clients.push(AdderClient::new(channel));
        }
        let times = start()?;
        let work = |client, caller| async move {
            let call = |left, right| {
                // Its calls want a client of their own, which is a handle.
                let mut client: AdderClient<_> = AdderClient::clone(&client);
                async move {
                    let answer = client.add(Pair { left, right }).await;
                    let answer = answer.map_err(|status| status.to_string())?;
                    Ok(answer.into_inner().sum)
                }
            };
            tally::calls(times, caller, call).await;
        };
        tasks(layout, times, clients, work).await
    }
}
