//! Of clients.

#[path = "../../../../crates/polywire-rpc/src/frames/room.rs"]
mod room;

#[cfg(test)]
mod waiting;
