//! The program of README's tour. Run it with `cargo run -p greeter` and try
//! `curl http://127.0.0.1:8081/greet/Ada`.
#![allow(
    clippy::print_stdout,
    reason = "an example that talks to whoever runs it"
)]

use polywire::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = polywire::load_text("greeter.smithy", include_str!("greeter.smithy"))?;
    let server = Server::builder(service)
        .operation(
            "Greet",
            dynamic(|input: Map, _context| async move {
                let name = input
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                Ok(Map::from_iter([("text", format!("Hello, {name}!"))]))
            }),
        )
        .build()?
        .listen("127.0.0.1:8081".parse()?)
        .await?;
    println!("http://{}", server.address());
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
