//! The server of the group `rpc` and nothing else, whose memory the group measures.
//!
//! It writes its URL to standard output, and serves until its standard input ends.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, Read, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let server = polywire_gate::groups::rpc::server()?;
    std::thread::spawn(|| {
        // The parent holds the other end.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let running = server.listen(([127, 0, 0, 1], 0).into()).await?;
        writeln!(io::stdout(), "tcp://{}", running.address())?;
        running.ended().await;
        Err("the listener has ended".into())
    })
}
