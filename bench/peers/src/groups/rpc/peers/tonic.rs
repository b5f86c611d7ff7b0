//! tonic: gRPC with prost, on HTTP/2.

use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};

use super::super::transport::Tcp;
use super::super::trial::words;
use super::caller::Caller;
use super::generated::adder::adder_client::AdderClient;
use super::generated::adder::adder_server::{Adder, AdderServer};
use super::generated::adder::{Pair, Sum};

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

impl Caller<Tcp> for Tonic {
    type Client = AdderClient<Channel>;

    async fn serve(listener: tokio::net::TcpListener) -> Result<(), String> {
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let server = Server::builder().add_service(AdderServer::new(Adding));
        server.serve_with_incoming(incoming).await.map_err(words)
    }

    async fn connect(url: &str) -> Result<AdderClient<Channel>, String> {
        let endpoint = Endpoint::from_shared(url.replacen("tcp", "http", 1)).map_err(words)?;
        let channel = endpoint.tcp_nodelay(true).connect().await;
        Ok(AdderClient::new(channel.map_err(words)?))
    }

    async fn add(client: &AdderClient<Channel>, left: i32, right: i32) -> Result<i32, String> {
        // A call needs a mutable client. A clone is a handle.
        let mut client = client.clone();
        let answer = client.add(Pair { left, right }).await;
        let answer = answer.map_err(|status| status.to_string())?;
        Ok(answer.into_inner().sum)
    }
}
