//! JSON for events, filters and messages: a reader and writers.

mod canonical;
mod object;
mod reader;
mod string;

pub(crate) use canonical::{Sink, write_canonical_string};
pub(crate) use object::{Object, push_hex, push_string, to_string};
pub(crate) use reader::Reader;
pub(crate) use string::{RawString, Spelling, decode};
