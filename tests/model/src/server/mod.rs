//! Of servers.

pub(crate) mod frames;
#[path = "../../../../crates/polywire-rpc/src/server/memory.rs"]
pub(crate) mod memory;

#[cfg(test)]
mod shared_memory;
