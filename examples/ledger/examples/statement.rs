//! The generated client: `cargo run -p ledger --example statement`
#![allow(clippy::print_stdout, reason = "an example that prints")]

use ledger::ledger::client;
use polywire::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = client::connect("http://127.0.0.1:8082", ProtocolKind::RpcV2Cbor)?;
    let pages = client.list_entries().id("A1").page_size(1);
    for entry in pages.into_paginator().items().collect().await? {
        println!("{:?} {}", entry.source, entry.cents);
    }
    Ok(())
}
