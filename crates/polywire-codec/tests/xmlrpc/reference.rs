//! The reader and the writer against their reference implementations: the same answer, or both
//! refuse.

use polywire_codec::reference::xmlrpc as reference;
use polywire_codec::xmlrpc::{
    Duplicates, Envelope, ForbiddenText, Leniency, Nil, Reply, Style, XmlRpcDecoder, XmlRpcEncoder,
    XmlRpcProfile,
};
use polywire_schema::{Body, Decode, Encode, Error, Limits, Map, Member, Value};
use proptest::prelude::*;

use super::source::{self, Source};

/// So small that ordinary inputs reach them.
const SMALL: Limits = Limits::DEFAULT
    .with_bytes(1_000)
    .with_depth(3)
    .with_items(12)
    .with_string(40)
    .with_calls(3);

type Call = (String, Vec<Value>);

fn call(body: &Body, profile: XmlRpcProfile, limits: &Limits) -> Result<Call, Error> {
    let (method, mut decoder) = XmlRpcDecoder::call(body, profile, limits)?;
    let mut values = Vec::new();
    while decoder.parameter()? {
        values.push(Value::decode(Member::DOCUMENT, &mut decoder)?);
    }
    decoder.finish()?;
    Ok((method.into_owned(), values))
}

fn response(
    body: &Body,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<Result<Value, Value>, Error> {
    let (reply, mut decoder) = XmlRpcDecoder::response(body, profile, limits)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(match reply {
        Reply::Result => Ok(value),
        Reply::Fault => Err(value),
    })
}

fn multicall(
    body: &Body,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<Vec<Option<Call>>, Error> {
    let (_, mut decoder) = XmlRpcDecoder::call(body, profile, limits)?;
    let calls = decoder.multicall()?;
    calls
        .into_iter()
        .map(|entry| {
            let Ok(entry) = entry else { return Ok(None) };
            let part = Body::from(body.as_bytes()[entry.parameters.clone()].to_vec());
            let start = entry.parameters.start;
            let mut decoder = XmlRpcDecoder::parameters_of(&part, start, profile, limits)?;
            let mut values = Vec::new();
            while decoder.parameter()? {
                values.push(Value::decode(Member::DOCUMENT, &mut decoder)?);
            }
            decoder.finish()?;
            Ok(Some((entry.method.to_string(), values)))
        })
        .collect()
}

#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "shorter for its callers")]
fn same<T: std::fmt::Debug>(
    bytes: &[u8],
    native: Result<T, Error>,
    reference: Result<T, Error>,
    how: &dyn std::fmt::Debug,
) {
    let agree = match (&native, &reference) {
        (Ok(native), Ok(reference)) => format!("{native:?}") == format!("{reference:?}"),
        (Err(error), Err(_)) => {
            let at = error.offset();
            assert!(at.is_none_or(|at| at <= bytes.len()), "{error}");
            true
        }
        _ => false,
    };
    assert!(
        agree,
        "{}\n{how:?}\nreader:    {native:?}\nreference: {reference:?}",
        String::from_utf8_lossy(bytes)
    );
}

/// A leniency, none, or all of them; a policy; limits.
fn profile(source: &mut Source) -> (XmlRpcProfile, &'static Limits) {
    let leniency = match source.below(4) {
        0 => Leniency::STRICT,
        1 => Leniency::ALL,
        _ => Leniency::STRICT
            .with_name(source.one_of(Leniency::NAMES))
            .unwrap(),
    };
    let duplicates = [Duplicates::Reject, Duplicates::First, Duplicates::Last][source.below(3)];
    let limits = [&Limits::DEFAULT, &Limits::DEFAULT, &SMALL][source.below(3)];
    let profile = XmlRpcProfile::DEFAULT
        .with_leniency(leniency)
        .with_duplicates(duplicates);
    (profile, limits)
}

fn compare(bytes: &[u8], profile: XmlRpcProfile, limits: &Limits) {
    let body = Body::from(bytes.to_vec());
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert!(call(&body, profile, limits).is_err());
        assert!(response(&body, profile, limits).is_err());
        return;
    };
    let how = (profile, limits);
    let read = call(&body, profile, limits);
    same(
        bytes,
        read,
        reference::read_call(text, profile, limits),
        &how,
    );
    let read = response(&body, profile, limits);
    same(
        bytes,
        read,
        reference::read_response(text, profile, limits),
        &how,
    );
    if text.contains("system.multicall") {
        // What breaks a limit breaks it for the calls together or each alone.
        let read = multicall(&body, profile, limits);
        let limited = read.as_ref().is_err_and(Error::is_limit);
        let reference = reference::read_multicall(text, profile, limits);
        if !limited && !reference.as_ref().is_err_and(Error::is_limit) {
            same(bytes, read, reference, &how);
        }
    }
}

fn message(source: &mut Source) -> String {
    match source.below(5) {
        0 | 1 => source::call(source),
        2 | 3 => source::response(source),
        _ => source::multicall(source),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn messages(seed: u64) {
        let source = &mut Source::new(seed);
        let message = message(source);
        let (profile, limits) = profile(source);
        compare(message.as_bytes(), profile, limits);
    }

    #[test]
    fn changed_messages(seed: u64) {
        let source = &mut Source::new(seed);
        let message = message(source);
        for _ in 0..4 {
            let changed = source::changed(source, &message);
            let (profile, limits) = profile(source);
            compare(&changed, profile, limits);
        }
    }

    #[test]
    fn written_values(seed: u64) {
        let source = &mut Source::new(seed);
        let style = style(source);
        let value = value(source, 3);
        let native = |envelope| {
            let mut encoder = XmlRpcEncoder::new(envelope, Vec::new()).with_style(style);
            if matches!(envelope, Envelope::Call { .. }) {
                encoder.parameter();
            }
            value.encode(Member::DOCUMENT, &mut encoder);
            Ok(String::from_utf8(encoder.finish()?).unwrap())
        };
        let method = source.one_of(&["echo", "a&b", "\u{1b}"]);
        let envelope = Envelope::Call { method, positional: true };
        let shown = format!("{value:?}");
        let bytes = shown.as_bytes();
        let parameters = std::slice::from_ref(&value);
        same(bytes, native(envelope), reference::write_call(method, parameters, style), &style);
        same(bytes, native(Envelope::Response), reference::write_response(&value, style), &style);
        same(bytes, native(Envelope::Fault), reference::write_fault(&value, style), &style);
        same(bytes, native(Envelope::Value), reference::write_value(&value, style), &style);
        // What has been written is read.
        if let Ok(written) = native(Envelope::Response) {
            compare(written.as_bytes(), XmlRpcProfile::DEFAULT, &Limits::DEFAULT);
            prop_assert!(response(&Body::from(written.into_bytes()), XmlRpcProfile::DEFAULT, &Limits::DEFAULT).is_ok() || style.forbidden == ForbiddenText::Replace || style.forbidden == ForbiddenText::Strip);
        }
    }
}

fn style(source: &mut Source) -> Style {
    use ForbiddenText::{Base64, Reject, Replace, Strip};
    let mut style = Style::DEFAULT
        .with_nil([Nil::Plain, Nil::Prefixed, Nil::Reject][source.below(3)])
        .with_forbidden([Reject, Base64, Replace, Strip][source.below(4)]);
    style.untyped_strings = source.below(2) == 0;
    style.fractions = source.below(2) == 0;
    style
}

fn text(source: &mut Source) -> String {
    let mut text = String::new();
    for _ in 0..source.below(8) {
        text.push_str(source.one_of(&[
            "a",
            " ",
            "hello",
            "<",
            ">",
            "&",
            "\r",
            "\n",
            "\"",
            "]]>",
            "é",
            "\u{1f600}",
            "</value>",
            "a text that is longer than what is held in place, whatever that is, and then some",
        ]));
    }
    if source.below(12) == 0 {
        text.push_str(source.one_of(&["\u{1b}", "\u{0}", "\u{fffe}", "\u{7f}\u{85}"]));
    }
    text
}

fn value(source: &mut Source, depth: usize) -> Value {
    match source.below(if depth == 0 { 9 } else { 12 }) {
        0 => Value::Null,
        1 => Value::from(source.below(2) == 0),
        2 => Value::from((source.next() << 16) as i64 >> source.below(64)),
        3 => Value::from(f64::from_bits(source.next() << 16)),
        4 => Value::from(f32::from_bits(source.next() as u32)),
        5 => Value::from(vec![7_u8; source.below(20)]),
        6 => Value::from(polywire_schema::Timestamp::new(
            (source.next() << 16) as i64 >> (20 + source.below(20)),
            [0, 250_000_000][source.below(2)],
        )),
        7 => Value::from(
            "123456789012345678901234567890"
                .parse::<polywire_schema::BigInteger>()
                .unwrap(),
        ),
        8 => Value::from(text(source)),
        9 | 10 => Value::List(
            (0..source.below(5))
                .map(|_| value(source, depth - 1))
                .collect(),
        ),
        _ => {
            let entries = (0..source.below(5)).map(|_| (text(source), value(source, depth - 1)));
            Value::Map(Map::from_iter(entries.collect::<Vec<_>>()))
        }
    }
}

/// The white space of XML is four characters; that of Rust is more.
#[test]
fn space_around_method_names() {
    for space in ["\n\t ", "\u{b}", "\u{85}", "\u{a0}", "\u{3000}"] {
        let message = format!(
            "<methodCall><methodName>{space}echo{space}</methodName><params/></methodCall>"
        );
        let profile = XmlRpcProfile::DEFAULT.with_leniency(Leniency::ALL);
        compare(message.as_bytes(), profile, &Limits::DEFAULT);
    }
}

/// What the fuzz targets found worth keeping.
#[test]
fn corpora() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut count = 0;
    for target in ["xmlrpc_call", "xmlrpc_response"] {
        for file in std::fs::read_dir(folder.join(target)).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            for leniency in [Leniency::STRICT, Leniency::ALL] {
                for duplicates in [Duplicates::Reject, Duplicates::First, Duplicates::Last] {
                    let profile = XmlRpcProfile::DEFAULT
                        .with_leniency(leniency)
                        .with_duplicates(duplicates);
                    compare(&bytes, profile, &Limits::DEFAULT);
                    compare(&bytes, profile, &SMALL);
                }
            }
            count += 1;
        }
    }
    assert!(count > 100, "{count} inputs");
}
