//! Of calls on servers.

#[path = "../../../../crates/polywire-rpc/src/call/memory.rs"]
pub(crate) mod memory;
#[path = "../../../../crates/polywire-rpc/src/call/admission/rejection.rs"]
mod rejection;

pub(crate) mod admission {
    pub(crate) use super::rejection::{MemoryUse, Rejection};
}

#[cfg(test)]
mod shared_memory;
