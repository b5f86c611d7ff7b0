//! An XML-RPC server whose methods return their parameter. `scripts/bench-xmlrpc` measures it.
//!
//! `echo` takes any value. `echo.string`, `echo.ints`, `echo.nested`, `echo.items` and `echo.blob`
//! read it into types of serde. All answer over CBOR too, at `/service/Echo/operation/METHOD`.
//!
//! Each worker is a thread with a current-thread runtime and a listener of its own,
//! as in `bare_hyper`.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;

use clap::Parser;
use polywire_gate::groups::xmlrpc::types::{Item, Nested};
use polywire_protocol::Fault;
use polywire_rpc::server::{Listener, bind_shared};
use polywire_rpc::tls::{Pem, ServerTls};
use polywire_rpc::{Methods, Server};
use polywire_schema::Blob;

/// Answers XML-RPC calls, and the same over CBOR, with their one parameter.
#[derive(Parser)]
#[command(name = "xmlrpc_server")]
struct Command {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    listen: SocketAddr,

    /// Threads, each with a runtime and a listener of its own
    #[arg(long, default_value = "1")]
    workers: NonZeroUsize,

    /// Speak HTTPS, with a certificate for localhost that is generated at the start
    #[arg(long)]
    tls: bool,
}

/// The methods.
fn methods() -> Methods {
    Methods::new()
        .values("echo", |mut parameters, _| async move {
            match (parameters.pop(), parameters.is_empty()) {
                (Some(value), true) => Ok(value),
                _ => Err(Fault::coded(1, "echo takes one parameter")),
            }
        })
        .method("echo.string", |(text,): (String,)| async move { text })
        .method("echo.ints", |(ints,): (Vec<i32>,)| async move { ints })
        .method("echo.nested", |(nested,): (Nested,)| async move { nested })
        .method("echo.items", |(items,): (Vec<Item>,)| async move { items })
        .method("echo.blob", |(blob,): (Blob,)| async move { blob })
        .cbor("Echo")
}

fn certificate() -> Result<ServerTls, Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let key = Pem::text(made.signing_key.serialize_pem());
    Ok(ServerTls::builder(Pem::text(made.cert.pem()), key).build()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let command = Command::parse();
    let server = Server::methods(methods()).build()?;
    let tls = command.tls.then(certificate).transpose()?;
    let workers: Vec<_> = bind_shared(command.listen, command.workers)?
        .into_iter()
        .map(|listener| {
            let (server, tls) = (server.clone(), tls.clone());
            std::thread::spawn(move || work(&server, listener, tls.as_ref()))
        })
        .collect();
    let scheme = if command.tls { "https" } else { "http" };
    writeln!(io::stdout(), "listening on {scheme}://{}", command.listen)?;
    for worker in workers {
        worker.join().map_err(|_| "a worker panicked")??;
    }
    Ok(())
}

/// Serves one listener until the process is ended.
fn work(server: &Server, listener: TcpListener, tls: Option<&ServerTls>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let running = match tls {
            None => server.serve(listener)?,
            Some(tls) => server.serve(listener.tls(tls))?,
        };
        running.ended().await;
        Err(io::Error::other("the listener has ended"))
    })
}
