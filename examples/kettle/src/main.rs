//! The program of docs/smithy.md. Run it with `cargo run -p kettle` and try
//! `curl -X POST 'http://127.0.0.1:8082/brew/black?cups=2'`.
#![allow(
    clippy::print_stdout,
    reason = "an example that talks to whoever runs it"
)]

use polywire::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = polywire::load_text("kettle.smithy", include_str!("kettle.smithy"))?;
    let server = Server::builder(service)
        .operation(
            "Brew",
            dynamic(|input, _context| async move { brew(&input) }),
        )
        .build()?
        .listen("127.0.0.1:8082".parse()?)
        .await?;
    println!("http://{}", server.address());
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}

fn brew(input: &Map) -> Result<Map, Fault> {
    let tea = input.get("tea").and_then(Value::as_str).unwrap_or_default();
    let (celsius, seconds) = match tea {
        "white" | "green" => (80, 120),
        "black" => (100, 240),
        _ => {
            let details = Map::from_iter([("message", "I'm a teapot")]);
            return Err(Fault::modelled("example.kettle#OnlyTea", details));
        }
    };
    let recipe = Map::from_iter([("celsius", celsius), ("seconds", seconds)]);
    Ok(Map::from_iter([("recipe", recipe)]))
}
