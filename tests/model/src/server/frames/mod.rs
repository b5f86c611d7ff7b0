//! Of connections.

#[path = "../../../../../crates/polywire-rpc/src/server/frames/done.rs"]
mod done;
#[path = "../../../../../crates/polywire-rpc/src/server/frames/pipe.rs"]
mod pipe;

#[cfg(test)]
mod streams;
