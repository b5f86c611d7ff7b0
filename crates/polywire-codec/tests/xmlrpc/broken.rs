//! Message bodies, broken in every way: an error, or a value that can be written and is then
//! read the same; never a panic.
#![allow(clippy::print_stdout, reason = "says what it counts")]

use polywire_codec::xmlrpc::{Envelope, Reply, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{Body, Decode, Encode, Error, Limits, Member, Value};
use serde::de::IgnoredAny;

use super::source::{self, Source};

/// The name of a body, and the bytes.
pub(crate) type Named = (String, Vec<u8>);

/// Bodies of up to `longest` bytes whole; of others the beginning and the end tags of what is
/// open there. They are short because each of their truncations and changes is read.
fn cuts(bodies: &[Named], longest: usize) -> Vec<Named> {
    let cut = |(name, body): &Named| {
        let short = match body.len() <= longest {
            true => body.clone(),
            false => cut(body, longest),
        };
        assert!(
            survives(&short),
            "{name}: {}",
            String::from_utf8_lossy(&short)
        );
        (name.clone(), short)
    };
    bodies.iter().map(cut).collect()
}

/// Cuts a body at the last place that leaves a valid body once the open elements are closed.
/// Most places do not: within a tag, a reference or a quantum of base64, or between a member's
/// name and its value.
fn cut(body: &[u8], longest: usize) -> Vec<u8> {
    // Leaves room for the end tags.
    let places = (0..longest - 250).rev();
    let mut cuts = places.map(|at| {
        let part = &body[..at];
        [part, closing(part).as_bytes()].concat()
    });
    cuts.find(|cut| survives(cut)).unwrap()
}

/// The end tags of what is open.
fn closing(part: &[u8]) -> String {
    let text = String::from_utf8_lossy(part);
    let mut open = Vec::new();
    for tag in text
        .split('<')
        .skip(1)
        .map(|rest| rest.split('>').next().unwrap())
    {
        match tag.strip_prefix('/') {
            Some(_) => drop(open.pop()),
            None if tag.starts_with('?') || tag.ends_with('/') => {}
            None => open.push(tag.to_owned()),
        }
    }
    open.iter().rev().map(|tag| format!("</{tag}>")).collect()
}

/// Whether the body is read; then what is read is written, and read again the same.
fn survives(bytes: &[u8]) -> bool {
    let body = Body::from(bytes.to_vec());
    let (profile, limits) = (XmlRpcProfile::DEFAULT, &Limits::DEFAULT);
    let is_call = bytes
        .windows(11)
        .take(200)
        .any(|name| name == b"<methodCall");
    if is_call {
        let read = |body: &Body| {
            let (method, mut decoder) = XmlRpcDecoder::call(body, profile, limits)?;
            let mut values = Vec::new();
            while decoder.parameter()? {
                values.push(Value::decode(Member::DOCUMENT, &mut decoder)?);
            }
            decoder.finish()?;
            Ok::<_, Error>((method.into_owned(), values))
        };
        let typed = XmlRpcDecoder::call(&body, profile, limits)
            .and_then(|(_, mut decoder)| decoder.deserialize_parameters::<Vec<IgnoredAny>>());
        let Some((method, values)) = checked(read(&body), bytes) else {
            return false;
        };
        assert!(typed.is_ok(), "{typed:?}");
        let mut encoder = XmlRpcEncoder::new(
            Envelope::Call {
                method: &method,
                positional: true,
            },
            Vec::new(),
        );
        for value in &values {
            encoder.parameter();
            value.encode(Member::DOCUMENT, &mut encoder);
        }
        let Some(written) = written(encoder) else {
            return true;
        };
        let again = read(&written).unwrap();
        assert_eq!(method, again.0);
        assert!(alike(&Value::List(values), &Value::List(again.1)));
        return true;
    }
    let read = |body: &Body| {
        let (reply, mut decoder) = XmlRpcDecoder::response(body, profile, limits)?;
        let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
        decoder.finish()?;
        Ok::<_, Error>((reply, value))
    };
    let Some((reply, value)) = checked(read(&body), bytes) else {
        return false;
    };
    let envelope = match reply {
        Reply::Result => Envelope::Response,
        Reply::Fault => Envelope::Fault,
    };
    let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    let Some(written) = written(encoder) else {
        return true;
    };
    let again = read(&written).unwrap();
    assert_eq!(reply, again.0);
    assert!(alike(&value, &again.1), "{value:?}\n{:?}", again.1);
    true
}

fn checked<T>(read: Result<T, Error>, bytes: &[u8]) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(error) => {
            assert!(error.is_sender_fault(), "{error}");
            assert!(
                error.offset().is_some_and(|at| at <= bytes.len()),
                "{error}"
            );
            None
        }
    }
}

/// Only a date whose year is beyond 9999 in UTC was read and cannot be written.
fn written(encoder: XmlRpcEncoder) -> Option<Body> {
    match encoder.finish() {
        Ok(bytes) => Some(Body::from(bytes)),
        Err(error) => {
            assert!(error.to_string().contains("year"), "{error}");
            None
        }
    }
}

/// The same, but for what is written otherwise: big numbers as strings, dates without a
/// zone.
fn alike(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| alike(l, r))
        }
        (Value::Map(left), Value::Map(right)) => {
            let mut pairs = left.iter().zip(right.iter());
            left.len() == right.len() && pairs.all(|(l, r)| l.0 == r.0 && alike(l.1, r.1))
        }
        (Value::Double(left), Value::Double(right)) => {
            left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
        }
        (Value::BigInteger(left), Value::String(right)) => left.as_str() == &**right,
        (Value::BigDecimal(left), Value::String(right)) => left.as_str() == &**right,
        (Value::Timestamp(left), Value::Timestamp(right)) => {
            left.with_unzoned(false) == right.with_unzoned(false)
        }
        _ => left == right,
    }
}

/// All bodies are read.
pub(crate) fn whole(bodies: &[Named]) {
    for (name, body) in bodies {
        assert!(survives(body), "{name}");
    }
}

/// No body is read that misses its end.
pub(crate) fn truncated(bodies: &[Named], longest: usize) {
    for (name, body) in cuts(bodies, longest) {
        for len in 0..body.len() {
            assert!(!survives(&body[..len]), "{name}, {len} bytes");
        }
    }
}

/// All 256 bytes in every place of a build with optimizations; otherwise three in each,
/// which take turns, and all in the smallest bodies.
pub(crate) fn with_a_changed_byte(bodies: &[Named], longest: usize) {
    /// Of each kind that the reader tells apart.
    const TELLING: &[u8] = b"<>/&;!?-+0:T \n\"\x00\x80\xff";

    let mut changed = 0_u32;
    for (name, mut body) in cuts(bodies, longest) {
        let all = !cfg!(debug_assertions) || body.len() < 130;
        for at in 0..body.len() {
            let own = body[at];
            let telling = |turn: usize| TELLING[(at + turn * 7) % TELLING.len()];
            let bytes = match all {
                true => (0..=255).collect(),
                false => vec![own ^ 1, telling(0), telling(1)],
            };
            for byte in bytes {
                body[at] = byte;
                survives(&body);
                changed += 1;
            }
            body[at] = own;
        }
        assert!(survives(&body), "{name}");
    }
    println!("{changed} changes of one byte");
}

/// More than a hundred thousand random changes.
pub(crate) fn changed(bodies: &[Named]) {
    let mut source = Source::new(1);
    let (mut read, mut refused) = (0_u32, 0_u32);
    // By far the most of them of what is small: a change of 400 KB takes as long as a
    // thousand of the others.
    let turns = |len: usize| match len {
        0..4_000 => 24_500,
        4_000..50_000 => 400,
        50_000..200_000 => 200,
        _ => 30,
    };
    for (_, body) in bodies {
        let text = std::str::from_utf8(body).unwrap();
        for _ in 0..turns(body.len()) {
            let changed = source::changed(&mut source, text);
            match survives(&changed) {
                true => read += 1,
                false => refused += 1,
            }
        }
    }
    println!("{read} changed bodies were read, {refused} refused");
    assert!(read > 0 && refused > 0);
}
