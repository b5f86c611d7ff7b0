//! A load of a given number of calls by a given number of clients, each of which
//! sends its next call when it has the answer to the last: the way in which
//! libiqxmlrpc measures itself, and a way to compare XML with CBOR.
//!
//! What is sent is prepared before, every answer is compared byte by byte with the
//! one that is expected, and a call is one write and one read. So it takes less of
//! a processor than any server; how much is printed beside each result, so that one
//! sees whether it has been the bottleneck.

#![forbid(unsafe_code)]

mod calls;
mod client;
mod report;

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;

use calls::Prepared;
use client::Ended;
use report::{Report, processor_of};

/// Calls an XML-RPC server so many times and says how long it took.
#[derive(Parser)]
#[command(name = "xmlrpc_load")]
struct Command {
    /// The server
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    address: SocketAddr,

    /// The call to send, STEM.request.xml; its answer stands in STEM.response.xml
    #[arg(long, value_name = "STEM")]
    body: PathBuf,

    /// The method to call in the place of the one in the body
    #[arg(long, value_name = "NAME")]
    method: Option<String>,

    /// Send the same as CBOR, to /service/Echo/operation/METHOD
    #[arg(long)]
    cbor: bool,

    /// Calls that are measured, of all clients together
    #[arg(long, default_value = "5000")]
    requests: NonZeroUsize,

    /// Calls before that
    #[arg(long, default_value_t = 100)]
    warm_up: usize,

    /// Connections, each with one call at a time
    #[arg(long, default_value = "4")]
    clients: NonZeroUsize,

    /// Threads that the clients share
    #[arg(long, default_value = "1")]
    threads: NonZeroUsize,

    /// The process of the server, to see what it takes of a processor
    #[arg(long, value_name = "ID")]
    server: Option<u32>,

    /// One JSON object instead of a line for people
    #[arg(long)]
    json: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let command = Command::parse();
    let prepared = Prepared::new(&command.body, command.method.as_deref(), command.cbor)?;
    load(&command, &prepared, command.warm_up)?;
    let server = || command.server.map(processor_of).transpose();
    let before = server()?;
    let start = Instant::now();
    let ended = load(&command, &prepared, command.requests.get())?;
    let wall = start.elapsed();
    let server = server()?.zip(before);
    let server = server.map(|(after, before)| after.saturating_sub(before));
    let report = Report::new(ended, wall, server);
    let mut out = io::stdout();
    match command.json {
        true => writeln!(out, "{}", report.json())?,
        false => writeln!(out, "{report}")?,
    }
    Ok(())
}

/// Makes so many calls.
fn load(command: &Command, prepared: &Prepared, requests: usize) -> Result<Ended, Box<dyn Error>> {
    let clients = command.clients.get();
    // The first ones take what does not come out even.
    let shares: Vec<usize> = (0..clients)
        .map(|client| requests / clients + usize::from(client < requests % clients))
        .filter(|share| *share > 0)
        .collect();
    let threads = command.threads.get();
    std::thread::scope(|scope| {
        let groups: Vec<_> = (0..threads)
            .map(|thread| {
                let own = shares.iter().skip(thread).step_by(threads).copied();
                let own: Vec<usize> = own.collect();
                scope.spawn(move || client::run(command.address, prepared, &own))
            })
            .collect();
        let mut all = Ended::default();
        for group in groups {
            let ended = group.join().map_err(|_| "a thread panicked")??;
            all.latencies.extend(ended.latencies);
            all.processor += ended.processor;
        }
        Ok(all)
    })
}
