//! Event streams: the framing, and the events of models.

mod framing;
mod properties;
mod signed;
mod vectors;
