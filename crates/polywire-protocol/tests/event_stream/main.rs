//! Event streams: the framing, and the events of models.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod events;
mod framing;
mod initial;
mod malformed;
mod model;
mod properties;
mod round_trips;
mod signed;
mod vectors;
