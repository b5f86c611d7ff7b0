//! Parts of frame clients.

#[path = "../../../../crates/polywire-rpc/src/frames/quota.rs"]
mod quota;

#[cfg(test)]
mod waiting;
