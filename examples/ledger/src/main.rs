//! The ledger as a program. `cargo run -p ledger`, and README for what to try.
#![allow(
    clippy::print_stdout,
    reason = "an example that talks to whoever runs it"
)]

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:8082").parse()?;
    let running = ledger::server()?.listen(address).await?;
    println!("http://{}", running.address());
    tokio::signal::ctrl_c().await?;
    running.shutdown().await;
    Ok(())
}
