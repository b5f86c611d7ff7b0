//! The same tests for every format: typed shapes and `Value` go through the
//! same encoders and decoders and mean the same.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod limits;
mod members;
mod nulls;
#[path = "../shapes/mod.rs"]
mod shapes;
mod strings;
#[path = "../support/mod.rs"]
mod support;
mod values;

use std::fmt::Debug;

use polywire_schema::{Decode, Encode, Member, Value};

use shapes::Scalars;
use support::{Format, decode, decode_dyn, encode, encode_dyn};

/// Typed and `Value`, monomorphised and `dyn`, both ways. Values are compared
/// as they are shown, since NaN equals nothing.
fn check<F: Format, T>(value: &T, at: Member<'_>) -> Vec<u8>
where
    T: Encode + for<'de> Decode<'de> + Debug,
{
    let bytes = encode::<F, T>(value, at).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert_eq!(encode_dyn::<F, T>(value, at).unwrap(), bytes);

    let shown = format!("{value:?}");
    let typed: T = decode::<F, T>(&bytes, at).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(format!("{typed:?}"), shown, "{text}");
    let typed: T = decode_dyn::<F, T>(&bytes, at).unwrap();
    assert_eq!(format!("{typed:?}"), shown, "{text}");

    let dynamic: Value = decode_dyn::<F, Value>(&bytes, at).unwrap();
    let again = encode_dyn::<F, Value>(&dynamic, at).unwrap();
    assert_eq!(String::from_utf8_lossy(&again), text);
    assert_eq!(again, bytes);
    let dynamic: Value = decode::<F, Value>(&bytes, at).unwrap();
    assert_eq!(encode::<F, Value>(&dynamic, at).unwrap(), bytes);
    bytes
}

/// Scalars with one member set.
fn with(set: impl FnOnce(&mut Scalars)) -> Scalars {
    let mut scalars = Scalars::default();
    set(&mut scalars);
    scalars
}
