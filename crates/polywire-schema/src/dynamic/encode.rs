//! Writes [`Value`]s with a schema.

use polywire_text::Text;

use super::encode_structure::encode_structure;
use crate::{Encoder, Error, ErrorKind, Map, Member, NameSource, ShapeFlags, ShapeKind, Value};

/// Writes a value as the shape of `at`.
pub(crate) fn encode<E: Encoder + ?Sized>(value: &Value, at: Member<'_>, encoder: &mut E) {
    use ShapeKind as Kind;

    match (at.kind(), value) {
        (Kind::Document, value) => encoder.document(at, value),
        (Kind::Structure | Kind::Union, Value::Map(map)) => encode_structure(map, at, encoder),
        (Kind::List, Value::List(list)) => encode_list(list, at, encoder),
        (Kind::Map, Value::Map(map)) => encode_map(map, at, encoder),
        (Kind::Boolean, Value::Boolean(value)) => encoder.boolean(at, *value),
        (Kind::Byte | Kind::Short | Kind::Integer | Kind::IntEnum, Value::Integer(value)) => {
            let (min, max) = at.kind().integer_range();
            if (min..=max).contains(value) {
                encoder.integer(at, *value);
            } else {
                encoder.fail(mismatch(at, ErrorKind::InvalidValue, &value.to_string()));
            }
        }
        (Kind::Long, Value::Integer(value)) => encoder.integer(at, *value),
        (Kind::Float, Value::Float(value)) => encoder.float(at, *value),
        (Kind::Double, Value::Double(value)) => encoder.double(at, *value),
        (Kind::Float | Kind::Double, value) => encode_number(value, at, encoder),
        (Kind::BigInteger, Value::Integer(value)) => encoder.big_integer(at, &(*value).into()),
        (Kind::BigInteger, Value::BigInteger(value)) => encoder.big_integer(at, value),
        (Kind::BigDecimal, Value::BigDecimal(value)) => encoder.big_decimal(at, value),
        (Kind::BigDecimal, Value::Integer(value)) => encoder.big_decimal(at, &(*value).into()),
        (Kind::BigDecimal, Value::BigInteger(value)) => {
            encoder.big_decimal(at, &value.clone().into());
        }
        (Kind::String | Kind::Enum, Value::String(value)) => encoder.text(at, value),
        (Kind::Blob, Value::Blob(value)) => encoder.shared_blob(at, value),
        (Kind::Blob, Value::Stream(value)) => encoder.stream(at, value),
        (Kind::Blob, Value::String(value)) => encoder.blob(at, value.as_bytes()),
        (Kind::Timestamp, Value::Timestamp(value)) => encoder.timestamp(at, *value),
        (Kind::BigInteger | Kind::BigDecimal, Value::Float(_) | Value::Double(_)) => {
            encoder.fail(inexact(at));
        }
        (_, value) => encoder.fail(mismatch(at, ErrorKind::WrongType, value.describe())),
    }
}

/// Converts a number to a float or double and writes it. Fails if a finite number is out of range.
fn encode_number<E: Encoder + ?Sized>(value: &Value, at: Member<'_>, encoder: &mut E) {
    let Some(double) = value.as_f64() else {
        return encoder.fail(mismatch(at, ErrorKind::WrongType, value.describe()));
    };
    let float = double as f32;
    let is_infinite = match at.kind() {
        ShapeKind::Float => float.is_infinite(),
        _ => double.is_infinite(),
    };
    if is_infinite
        && !matches!(
            value,
            Value::Float(_) | Value::Double(f64::INFINITY | f64::NEG_INFINITY)
        )
    {
        return encoder.fail(mismatch(at, ErrorKind::InvalidValue, &format!("{value:?}")));
    }
    match at.kind() {
        ShapeKind::Float => encoder.float(at, float),
        _ => encoder.double(at, double),
    }
}

/// Like [`encode`], but inlines the most frequent kinds.
#[inline(always)]
pub(super) fn encode_member<E: Encoder + ?Sized>(value: &Value, at: Member<'_>, encoder: &mut E) {
    match (at.kind(), value) {
        (ShapeKind::String, Value::String(value)) => encoder.text(at, value),
        (ShapeKind::Boolean, Value::Boolean(value)) => encoder.boolean(at, *value),
        (ShapeKind::List, Value::List(list)) => encode_list(list, at, encoder),
        (ShapeKind::Map, Value::Map(map)) => encode_map(map, at, encoder),
        _ => encode(value, at, encoder),
    }
}

fn encode_list<E: Encoder + ?Sized>(list: &[Value], at: Member<'_>, encoder: &mut E) {
    let element = at.element();
    let kind = element.kind();
    encoder.begin_list(at, list.len());
    for item in list {
        encode_item(item, at, element, kind, encoder);
    }
    encoder.end_list(at);
}

fn encode_map<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    let element = at.element();
    let kind = element.kind();
    let entries = map.entries();
    encoder.begin_map(at, entries.len());
    for (key, item) in entries {
        encoder.text_key(at, key);
        encode_item(item, at, element, kind, encoder);
    }
    encoder.end_map(at);
}

/// Writes an item of a list or a value of a map. `kind` is the kind of `element`. Fails for a null
/// unless the collection is sparse.
#[inline(always)]
fn encode_item<E: Encoder + ?Sized>(
    item: &Value,
    collection: Member<'_>,
    element: Member<'_>,
    kind: ShapeKind,
    encoder: &mut E,
) {
    match (kind, item) {
        (ShapeKind::String, Value::String(value)) => encoder.text(element, value),
        (ShapeKind::Union, Value::Map(map)) => encode_union(map, element, encoder),
        (ShapeKind::Document, _) => encoder.document(element, item),
        (_, Value::Null) => encode_null(collection, element, encoder),
        _ => encode(item, element, encoder),
    }
}

#[cold]
fn encode_null<E: Encoder + ?Sized>(collection: Member<'_>, element: Member<'_>, encoder: &mut E) {
    if collection.is_sparse() {
        return encoder.null(element);
    }
    let error = Error::new(ErrorKind::WrongType)
        .expected(element.kind().describe())
        .found("null in a collection that is not sparse")
        .at_path(format!("{collection:?}"));
    encoder.fail(error);
}

/// Fast path of [`encode_structure`] for unions.
fn encode_union<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    let shape = at.target();
    if let [(name, value)] = map.entries()
        && !value.is_null()
        && !shape.has(ShapeFlags::DEFAULTS)
        && !encoder.is_head()
        && let Some(ordinal) = find_variant(name, at)
    {
        let member = shape.member(ordinal);
        encoder.begin_structure(at, 1);
        if encoder.member(member) {
            encode_member(value, member, encoder);
        }
        return encoder.end_structure(at);
    }
    encode_structure(map, at, encoder);
}

/// Finds a variant of the target union by name.
#[inline(always)]
fn find_variant(name: &Text, at: Member<'_>) -> Option<u32> {
    let short = name.inline_ends().and_then(|[first, _]| {
        at.find_variant(NameSource::Member, first.to_le_bytes(), name.len())
    });
    short.or_else(|| at.target().find_text(name))
}

/// Writes a stream that is part of a document. Apart, so that nested documents take less of the stack.
#[cold]
#[inline(never)]
fn write_stream<E: Encoder + ?Sized>(value: &Value, at: Member<'_>, encoder: &mut E) {
    match value {
        Value::Stream(stream) => encoder.stream(at, stream),
        other => encoder.fail(mismatch(at, ErrorKind::WrongType, other.describe())),
    }
}

/// Writes a value without a schema.
pub(crate) fn write_document<E: Encoder + ?Sized>(value: &Value, at: Member<'_>, encoder: &mut E) {
    match value {
        Value::Null => encoder.null(at),
        Value::Boolean(value) => encoder.boolean(at, *value),
        Value::Integer(value) => encoder.integer(at, *value),
        Value::BigInteger(value) => encoder.big_integer(at, value),
        Value::Float(value) => encoder.float(at, *value),
        Value::Double(value) => encoder.double(at, *value),
        Value::BigDecimal(value) => encoder.big_decimal(at, value),
        Value::String(value) => encoder.text(at, value),
        Value::Blob(value) => encoder.blob(at, value),
        Value::Stream(_) | Value::Events(_) => write_stream(value, at, encoder),
        Value::Timestamp(value) => encoder.timestamp(at, *value),
        Value::List(list) => {
            encoder.begin_list(at, list.len());
            for item in list {
                write_document(item, at, encoder);
            }
            encoder.end_list(at);
        }
        Value::Map(map) => {
            encoder.begin_map(at, map.len());
            for (key, item) in map.entries() {
                encoder.text_key(at, key);
                write_document(item, at, encoder);
            }
            encoder.end_map(at);
        }
    }
}

#[cold]
pub(super) fn mismatch(at: Member<'_>, kind: ErrorKind, found: &str) -> Error {
    Error::new(kind)
        .expected(at.kind().describe())
        .found(found.to_owned())
        .at_path(format!("{at:?}"))
}

/// Returns the error for a float as an arbitrary-precision number. The conversion to decimal digits
/// is ambiguous, so the caller has to do it.
#[cold]
fn inexact(at: Member<'_>) -> Error {
    let expected = match at.kind() {
        ShapeKind::BigInteger => "an integer, as Value::Integer or Value::BigInteger",
        _ => "a decimal number, as Value::BigDecimal, or an integer",
    };
    mismatch(
        at,
        ErrorKind::WrongType,
        "a float, which has no exact digits",
    )
    .expected(expected)
}
