//! A server on a user-defined socket type: streams in memory. Run it with `cargo run -p listeners --bin memory`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;

use polywire::codec::xmlrpc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (listener, connector) = listeners::memory(16);
    let running = listeners::server()?.serve(listener)?;

    let call = xmlrpc::write_call("add", &[2.into(), 3.into()])?;
    let head = format!(
        "POST /RPC2 HTTP/1.1\r\nHost: memory\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        call.len()
    );
    let mut stream = connector.connect().await?;
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&call).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    println!("{response}");

    running.shutdown().await;
    Ok(())
}
