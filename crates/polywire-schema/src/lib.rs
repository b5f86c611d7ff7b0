//! The load-bearing interfaces of Polywire: schemas, values, and the traits
//! that formats and shapes meet in.
//!
//! - A [`SchemaSet`] holds shapes prepared for codecs in flat arrays; a
//!   [`Schema`] (a shape) and a [`Member`] are `Copy` handles into one. Names
//!   stand in it once per [`Encoding`], ready to be compared and written.
//! - A format implements [`Encoder`] and [`Decoder`]; a data type implements
//!   [`Encode`] and [`Decode`]. Neither knows the other, and one
//!   implementation serves both the monomorphised and the `dyn` path.
//! - [`Value`] is the one dynamic value: XML-RPC values, Smithy documents,
//!   shapes without generated types.
//! - [`Limits`] bound what a message may cost; [`Error`] says what was wrong
//!   where.
//!
//! Nothing here does input or output.
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
mod seq;
#[cfg(feature = "serde")]
mod serde;
mod set;
mod shape;
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
pub use flags::{MemberFlags, OperationFlags, ServiceFlags, ShapeFlags};
pub use generated::MissingMember;
pub use id::{ShapeId, ShapeIdError, is_identifier, is_namespace};
pub use kind::{Direction, Location, ShapeKind, TimestampFormat};
pub use limits::Limits;
pub use map::Map;
pub use member::Member;
pub use names::{Encoding, NameSource};
pub use number::{BigDecimal, BigInteger};
pub use operation::{Operation, Service};
pub use part::Part;
pub use parts::SchemaParts;
pub use polywire_text::{Blob, Body, Text, Timestamp};
pub use seq::{END, Seq, WideSeen};
pub use set::SchemaSet;
pub use shape::Schema;
pub use to_value::to_value;
pub use tokens::{Container, Name, Rules, TokenReader, slow_member};
pub use value::Value;

/// The names by which our formats and our types know each other through serde.
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod serde_names {
    pub use polywire_text::serde_token::{BLOB, TIMESTAMP, number_of};

    pub use crate::serde::{
        BIG_DECIMAL, BIG_INTEGER, ExtendedValue, NUMBER as NUMBER_KEY, TOKEN as VALUE,
        number_of_digits,
    };
}
