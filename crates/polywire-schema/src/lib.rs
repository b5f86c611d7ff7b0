//! The core interfaces of Polywire: schemas, dynamic values, and the traits that connect formats
//! and data types.
//!
//! - A [`SchemaSet`] stores shapes in flat arrays. A [`Schema`] is a `Copy` handle to a shape, and
//!   a [`Member`] is a handle to a member. The set contains each name once per [`NameEncoding`], so
//!   that formats can compare and copy bytes.
//! - Formats implement [`Encoder`] and [`Decoder`]. Data types implement [`Encode`] and [`Decode`].
//!   Each type works with each format.
//! - [`Value`] is a dynamically typed value, for XML-RPC, Smithy documents and shapes without
//!   generated types.
//! - [`Limits`] bound the resources that a message may use. [`Error`] describes what is wrong with
//!   a message, and where.
//!
//! This crate does no I/O.
#![forbid(unsafe_code)]

mod budget;
mod builder;
mod compact;
mod constraints;
mod decode;
mod defaults;
mod defs;
mod dynamic;
mod encode;
mod error;
mod events;
mod flags;
#[doc(hidden)]
pub mod generated;
mod id;
mod kind;
mod limits;
mod map;
mod member;
mod names;
mod number;
mod operation;
mod part;
mod parts;
mod protocols;
mod rules;
mod seq;
#[cfg(feature = "serde")]
mod serde;
mod set;
mod shape;
mod stream;
mod to_value;
mod tokens;
mod value;
mod variants;

pub use budget::Budget;
pub use builder::{BuildError, MemberSpec, OperationSpec, SchemaBuilder, ServiceSpec, ShapeRef};
pub use constraints::{
    ConstraintDef, ConstraintSpec, Constraints, EnumValue, EnumValueDef, EnumValueSpec,
};
pub use decode::{Decode, DecodeStructure, Decoder, Event};
pub use defaults::Defaults;
pub use defs::{ErrorDef, MemberDef, OperationDef, ServiceDef, ShapeDef, Span};
pub use dynamic::{complete_structure, decode_structure, encode_structure};
pub use encode::{Encode, EncodeKey, Encoder};
pub use error::{Error, ErrorKind, LimitKind};
pub use events::{DecodeEvent, EncodeEvent, EventSource, EventStream, OutgoingEvents};
pub use flags::{MemberFlags, OperationFlags, ServiceFlags, ShapeFlags};
pub use generated::MissingMember;
pub use id::{ShapeId, ShapeIdError, is_identifier, is_namespace};
pub use kind::{Direction, Location, ShapeKind, TimestampFormat};
pub use limits::Limits;
pub use map::Map;
pub use member::Member;
pub use names::{NameEncoding, NameSource};
pub use number::{BigDecimal, BigInteger};
pub use operation::{HttpChecksum, Operation, Service};
pub use part::Part;
pub use parts::SchemaParts;
pub use polywire_text::{Blob, Body, Text, Timestamp};
pub use rules::Rules;
pub use seq::{END, Seq, WideSeen};
pub use set::SchemaSet;
pub use shape::Schema;
pub use stream::{ByteStream, StreamError, StreamErrorKind};
pub use to_value::to_value;
pub use tokens::{Container, Name, TokenReader, slow_member};
pub use value::Value;

/// The names of serde newtypes and enums that the formats and types of Polywire recognize.
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod serde_names {
    pub use polywire_text::serde_token::{BLOB, TIMESTAMP, number_of};

    pub use crate::serde::{
        BIG_DECIMAL, BIG_INTEGER, ExtendedValue, NUMBER as NUMBER_KEY, TOKEN as VALUE,
        number_of_digits,
    };
}
