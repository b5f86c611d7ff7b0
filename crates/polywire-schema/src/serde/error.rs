//! The error traits of serde.

use std::fmt;

use serde::de::Unexpected;

use crate::error::quoted;
use crate::{Error, ErrorKind};

/// The expectation for duplicate map keys. serde has an error only for duplicate structure fields.
pub(super) const EACH_KEY_ONCE: &str = "each key once";

/// Errors of data types. The reader adds the offset and the path.
impl serde::de::Error for Error {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(ErrorKind::InvalidValue).found(message.to_string())
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::new(ErrorKind::WrongType)
            .expected(noun(expected))
            .found(unexpected(found))
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        let expected = noun(expected);
        let kind = match &*expected {
            EACH_KEY_ONCE => ErrorKind::Duplicate,
            _ => ErrorKind::InvalidValue,
        };
        Self::new(kind).expected(expected).found(unexpected(found))
    }

    #[cold]
    fn invalid_length(len: usize, expected: &dyn serde::de::Expected) -> Self {
        Self::new(ErrorKind::InvalidValue)
            .expected(noun(expected))
            .found(format!("{len} of them"))
    }

    #[cold]
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(ErrorKind::Unknown)
            .expected(one_of(expected))
            .found(quoted(variant))
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(ErrorKind::Unknown)
            .expected(one_of(expected))
            .found(quoted(field))
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        Self::new(ErrorKind::Missing).expected(format!("the member `{field}`"))
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Self {
        Self::new(ErrorKind::Duplicate)
            .expected("each member once")
            .found(format!("`{field}`"))
    }
}

impl serde::ser::Error for Error {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(ErrorKind::Unwritable).found(message.to_string())
    }
}

/// Converts the name of a type in serde to a noun phrase.
fn noun(expected: &dyn serde::de::Expected) -> String {
    let name = expected.to_string();
    let noun = match &*name {
        "i8" => "an integer of 8 bits",
        "i16" => "an integer of 16 bits",
        "i32" => "an integer of 32 bits",
        "i64" | "isize" => "an integer of 64 bits",
        "i128" => "an integer of 128 bits",
        "u8" => "an integer from 0 to 255",
        "u16" => "an integer from 0 to 65535",
        "u32" => "an integer from 0 to 2^32 - 1",
        "u64" | "usize" => "an integer from 0 to 2^64 - 1",
        "u128" => "an integer from 0 to 2^128 - 1",
        "f32" | "f64" => "a number",
        "unit" => "nothing",
        "byte array" => "bytes",
        _ => return name,
    };
    noun.to_owned()
}

/// Describes the value that was found. Truncates text and replaces control characters.
fn unexpected(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Float(value) => value.to_string(),
        Unexpected::Str(text) => quoted(text),
        Unexpected::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a map".to_owned(),
        other => other.to_string(),
    }
}

fn one_of(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [name] => format!("`{name}`"),
        names => format!("one of `{}`", names.join("`, `")),
    }
}
