//! Of servers.

pub(crate) mod frames;
