//! The bodies that speed is measured on, broken in every way: an error, or a value that
//! can be written and is then read the same; never a panic.
//!
//! They are in `bench/xmlrpc` of the folder that `POLYWIRE_DATA` names; without it,
//! bodies of the same kinds are made here.

use std::path::Path;

use polywire_codec::xmlrpc::{Envelope, Reply, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{Blob, Body, Decode, Encode, Error, Limits, Map, Member, Timestamp, Value};
use serde::de::IgnoredAny;

use super::source::{self, Source};

/// The name of a body, and the bytes.
type Named = (String, Vec<u8>);

/// Requests and responses.
#[allow(clippy::print_stdout, reason = "says what was skipped")]
fn bodies() -> Vec<Named> {
    let folder = match std::env::var_os("POLYWIRE_DATA") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let files = std::fs::read_dir(folder.join("bench/xmlrpc"));
    let mut bodies: Vec<Named> = files
        .into_iter()
        .flatten()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "xml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    if bodies.is_empty() {
        println!("skipped: no bench/xmlrpc/*.xml where POLYWIRE_DATA points; made here instead");
        bodies = made();
    }
    bodies.sort();
    bodies
}

fn made() -> Vec<Named> {
    let member = Map::from_iter([
        ("id", Value::from(-1_048_576)),
        ("name", Value::from("a <b> & é")),
        ("ratio", Value::from(0.1)),
        ("on", Value::from(true)),
        ("when", Value::from(Timestamp::new(1_795_293_000, 0))),
    ]);
    let nested = Map::from_iter([("inner", Value::Map(member.clone()))]);
    let values = [
        ("a", Value::from("Hello")),
        ("b", Value::List((0..1000).map(Value::from).collect())),
        ("c", Value::Map(nested)),
        ("d", Value::List(vec![Value::Map(member); 100])),
        ("e", Value::from(Blob::from(vec![0xa5; 20_000]))),
        (
            "f",
            Value::from("some text & more <of> it, é\r\n".repeat(600)),
        ),
    ];
    let mut bodies = Vec::new();
    for (name, value) in values {
        let call = polywire_codec::xmlrpc::write_call("echo", std::slice::from_ref(&value));
        let response = polywire_codec::xmlrpc::write_response(&value);
        bodies.push((format!("{name}.request.xml"), call.unwrap()));
        bodies.push((format!("{name}.response.xml"), response.unwrap()));
    }
    bodies
}

/// Small ones whole, and of others 3 KB from the beginning with their end.
fn cuts() -> Vec<Named> {
    let cut = |(name, body): Named| {
        if body.len() <= 3_072 {
            return (name, body);
        }
        // What is open at the cut is closed by reading what stands before it.
        let mut part = body[..3_072 - 250].to_vec();
        let behind = part.iter().rposition(|byte| *byte == b'<').unwrap();
        if name.starts_with('e') || name.starts_with('f') {
            part.truncate(part.len() / 4 * 4);
            let start = part.windows(8).position(|tag| tag == b"<base64>");
            if let Some(start) = start {
                let len = (part.len() - start - 8) / 4 * 4;
                part.truncate(start + 8 + len);
            }
            // Not within a reference.
            let reference = part.iter().rposition(|byte| *byte == b'&');
            if let Some(at) = reference.filter(|at| !part[*at..].contains(&b';')) {
                part.truncate(at);
            }
        } else {
            part.truncate(behind);
        }
        let close = closing(&part);
        part.extend_from_slice(close.as_bytes());
        (name, part)
    };
    let cuts: Vec<Named> = bodies().into_iter().map(cut).collect();
    for (name, cut) in &cuts {
        assert!(survives(cut), "{name}: {}", String::from_utf8_lossy(cut));
    }
    cuts
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

#[test]
fn whole_bodies() {
    for (name, body) in bodies() {
        assert!(survives(&body), "{name}");
    }
}

#[test]
fn every_truncation() {
    for (name, body) in cuts() {
        for len in 0..body.len() {
            assert!(!survives(&body[..len]), "{name}, {len} bytes");
        }
    }
}

/// All 256 bytes in every place of a build with optimizations; otherwise three in each,
/// which take turns, and all in the smallest bodies.
#[test]
fn every_changed_byte() {
    /// Of each kind that the reader tells apart.
    const TELLING: &[u8] = b"<>/&;!?-+0:T \n\"\x00\x80\xff";

    let mut changed = 0_u32;
    for (name, mut body) in cuts() {
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

#[test]
fn a_hundred_thousand_changes() {
    let bodies = bodies();
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
    for (_, body) in &bodies {
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
