//! The module `checksum` through its public API.

mod multipart;
mod reference;
mod selection;
mod text;
mod vectors;
