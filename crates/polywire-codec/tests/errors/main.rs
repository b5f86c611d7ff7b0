//! What bad input is answered with, word for word, and that nothing panics.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod cbor;
mod json;
mod robust;
#[path = "../shapes/mod.rs"]
mod shapes;
#[path = "../support/mod.rs"]
mod support;
mod xmlrpc;

use polywire_schema::{Decode, Error, Member, Value};
use shapes::{Choice, Collections, Node, Scalars, Strict, Wide, root};
use support::{Format, decode, decode_dyn};

/// The error of an input that is read as a shape, as the typed reader and the
/// dynamic one tell it.
fn error<F: Format>(shape: &str, input: &[u8]) -> String {
    fn typed<F: Format, T: for<'de> Decode<'de>>(
        input: &[u8],
        at: Member<'_>,
    ) -> Result<(), Error> {
        decode::<F, T>(input, at).map(|_| ())
    }

    let shown = String::from_utf8_lossy(input);
    let (at, result) = match shape {
        "Document" => {
            let at = Member::DOCUMENT;
            (at, typed::<F, Value>(input, at))
        }
        name => {
            let at = root(name);
            let result = match name {
                "Choice" => typed::<F, Choice>(input, at),
                "Collections" => typed::<F, Collections>(input, at),
                "Node" => typed::<F, Node>(input, at),
                "Scalars" => typed::<F, Scalars>(input, at),
                "Strict" => typed::<F, Strict>(input, at),
                "Wide" => typed::<F, Wide>(input, at),
                _ => panic!("no such shape"),
            };
            (at, result)
        }
    };
    let Err(typed) = result else {
        return format!("no error: {shown}");
    };
    let dynamic = decode_dyn::<F, Value>(input, at).unwrap_err();
    assert_eq!(typed.to_string(), dynamic.to_string(), "{shown}");
    assert_eq!(typed.format(), F::NAME);
    typed.message()
}

/// Checks a table of shape, input and error; shows all rows that differ.
fn check<F: Format>(table: &[(&str, &[u8], &str)]) {
    let mut wrong = String::new();
    for (shape, input, expected) in table {
        let found = error::<F>(shape, input);
        if found != *expected {
            let input = input.escape_ascii();
            wrong += &format!("{shape}: {input}\n  expected: {expected}\n     found: {found}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
