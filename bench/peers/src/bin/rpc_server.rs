//! A server of `Add` over frames that is no larger than it has to be: the group `rpc` measures its memory.
//!
//! It says where it listens, and serves until its standard input ends.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, Read, Write};

use polywire_rpc::{Methods, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let add = |(left, right): (i32, i32)| async move { left + right };
    let methods = Methods::new().method("Add", add);
    // Some more than the most that a load opens.
    let server = Server::methods(methods).frames(true).connections(20_000);
    let server = server.build()?;
    std::thread::spawn(|| {
        // Whoever has started it holds the other end for as long as it is wanted.
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
        Err("nobody listens any more".into())
    })
}
