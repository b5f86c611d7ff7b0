//! Of connections.

#[path = "../../../../../crates/polywire-rpc/src/server/frames/completion.rs"]
mod completion;
#[path = "../../../../../crates/polywire-rpc/src/server/frames/pipe.rs"]
mod pipe;

#[cfg(test)]
mod streams;
