//! One service with typed inputs and outputs, by Polywire or by axum, for `scripts/bench-http`:
//! what a program pays for a typed GET and a typed POST of JSON.
//!
//! Both read the same parameters, check the same constraints, and write the same bytes. Each worker
//! is a thread with a current-thread runtime and a listener of its own.

#![forbid(unsafe_code)]

use clap::{Parser, ValueEnum};
use std::error::Error;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};

mod by_axum;
mod by_polywire;
#[path = "../../listener.rs"]
mod listener;

use listener::listener;

/// Serves GET /items/SKU and POST /orders.
#[derive(Parser)]
#[command(name = "typed_server")]
struct Command {
    /// What serves them
    library: Library,

    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:8082", value_name = "ADDRESS")]
    listen: SocketAddr,

    /// Threads, each with a runtime and a listener of its own
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,
}

#[derive(Clone, Copy, ValueEnum)]
enum Library {
    Polywire,
    Axum,
}

fn main() -> Result<(), Box<dyn Error>> {
    let command = Command::parse();
    let listeners = (0..command.workers)
        .map(|_| listener(command.listen))
        .collect::<io::Result<Vec<_>>>()?;
    let workers: Vec<_> = listeners
        .into_iter()
        .map(|listener| std::thread::spawn(move || work(command.library, listener)))
        .collect();
    writeln!(io::stdout(), "listening on http://{}", command.listen)?;
    for worker in workers {
        let ended = worker.join().map_err(|_| "a worker panicked")?;
        ended.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Serves one listener until the process is ended.
fn work(library: Library, listener: TcpListener) -> Result<(), Box<dyn Error + Send + Sync>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        match library {
            Library::Polywire => by_polywire::serve(listener).await,
            Library::Axum => by_axum::serve(listener).await,
        }
    })
}
