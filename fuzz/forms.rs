//! The reader of forms: whatever comes, it agrees with itself and with its
//! reference implementation.

use std::fmt::Debug;

use polywire_codec::form::{FormDecoder, FormEncoder, FormProfile};
use polywire_codec::reference;
use polywire_schema::{Body, Decode, Decoder, Encode, Error, Limits, Member, Value};

use super::readers::{SMALL, check, typed};
use typed::{Collections, Node, QueryInput, Scalars, root};

const PROFILES: [FormProfile; 3] = [
    FormProfile::AWS_QUERY,
    FormProfile::EC2_QUERY,
    FormProfile::AWS_QUERY.for_client(),
];

pub(crate) fn any(data: &[u8]) {
    let body = Body::from(data.to_vec());
    for profile in PROFILES {
        shape::<QueryInput>(&body, "QueryInput", profile);
        shape::<Node>(&body, "Node", profile);
        shape::<Collections>(&body, "Collections", profile);
        shape::<Scalars>(&body, "Scalars", profile);
    }
}

fn shape<T>(body: &Body, name: &str, profile: FormProfile)
where
    T: Encode + Debug + for<'de> Decode<'de>,
{
    let at = root(name);
    let value = like_reference(body, at, profile, &Limits::DEFAULT);
    // Smaller limits refuse, and change nothing else.
    let limited = like_reference(body, at, profile, &SMALL);
    if !limited.as_ref().is_err_and(Error::is_limit) {
        assert_eq!(shown(&value), shown(&limited));
    }
    let mut decoder = FormDecoder::from_body(body, profile, &Limits::DEFAULT);
    let typed = decoder
        .as_mut()
        .map_err(|_| ())
        .map(|decoder| T::decode(at, decoder));
    let Ok(typed) = typed else {
        return;
    };
    check(&typed, body.as_bytes().len());
    // A union of a kind that a newer peer has is a value and no type.
    if profile.rules.strict {
        assert_eq!(typed.is_ok(), value.is_ok(), "{typed:?}\n{value:?}");
    }
    if let (Ok(typed), Ok(value)) = (typed, value)
        && let (Ok(typed), Ok(value)) = (write(&typed, at, profile), write(&value, at, profile))
    {
        assert_eq!(typed.len(), value.len(), "{typed}\n{value}");
        // What was written once is canonical.
        let body = Body::from(value.clone().into_bytes());
        let again = like_reference(&body, at, profile, &Limits::DEFAULT);
        assert_eq!(write(&again.unwrap(), at, profile).unwrap(), value);
    }
}

/// The reference implementation finds the same or refuses too.
fn like_reference(
    body: &Body,
    at: Member<'_>,
    profile: FormProfile,
    limits: &Limits,
) -> Result<Value, Error> {
    let native = FormDecoder::from_body(body, profile, limits).and_then(|mut decoder| {
        let shared: &mut dyn Decoder<'_> = &mut decoder;
        Value::decode(at, shared)
    });
    check(&native, body.as_bytes().len());
    if let Ok(text) = std::str::from_utf8(body.as_bytes()) {
        let reference = reference::form::FormDecoder::new(text, profile, limits)
            .and_then(|mut reference| Value::decode(at, &mut reference));
        match (&native, reference) {
            (Ok(native), Ok(reference)) => {
                assert_eq!(format!("{native:?}"), format!("{reference:?}"));
            }
            (Err(_), Err(_)) => {}
            (native, reference) => panic!("{native:?}\n{reference:?}"),
        }
    }
    native
}

fn write<T: Encode>(value: &T, at: Member<'_>, profile: FormProfile) -> Result<String, Error> {
    let mut encoder = FormEncoder::new(profile, Vec::new());
    value.encode(at, &mut encoder);
    encoder
        .finish()
        .map(|form| String::from_utf8(form).unwrap())
}

fn shown(result: &Result<Value, Error>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}
