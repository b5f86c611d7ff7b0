//! Reading a `Value` as the shape that a schema says.

use polywire_text::{Blob, Text, Timestamp};

use crate::error::quoted;
use crate::generated::{begin_union, end_union};
use crate::{
    Decoder, END, Encoding, Error, ErrorKind, Event, Map, Member, MemberFlags, Schema, ShapeFlags,
    ShapeKind, Value,
};

/// What a client has instead of a required member that a server left out, so
/// that callers may rely on its being there. None where there is no value that
/// says nothing: an enum, a structure, a union.
///
/// <https://smithy.io/2.0/spec/aggregate-types.html#client-error-correction>
fn nothing(kind: ShapeKind) -> Option<Value> {
    use ShapeKind as Kind;

    Some(match kind {
        Kind::BigDecimal | Kind::BigInteger => Value::Integer(0),
        Kind::Byte | Kind::Short | Kind::Integer | Kind::Long => Value::Integer(0),
        Kind::Blob => Value::Blob(Blob::default()),
        Kind::Boolean => Value::Boolean(false),
        Kind::Document => Value::Null,
        Kind::Double => Value::Double(0.0),
        Kind::Float => Value::Float(0.0),
        Kind::List => Value::List(Vec::new()),
        Kind::Map => Value::Map(Map::new()),
        Kind::String => Value::String(Text::default()),
        Kind::Timestamp => Value::Timestamp(Timestamp::EPOCH),
        _ => return None,
    })
}

/// Reads the shape of `at`.
pub(crate) fn decode<'de, D: Decoder<'de> + ?Sized>(
    at: Member<'_>,
    decoder: &mut D,
) -> Result<Value, Error> {
    use ShapeKind as Kind;

    Ok(match at.kind() {
        Kind::BigDecimal => Value::BigDecimal(decoder.big_decimal(at)?),
        Kind::BigInteger => Value::from(decoder.big_integer(at)?),
        Kind::Blob => Value::Blob(decoder.blob(at)?),
        Kind::Boolean => Value::Boolean(decoder.boolean(at)?),
        Kind::Byte | Kind::Short | Kind::Integer | Kind::IntEnum | Kind::Long => {
            Value::Integer(decoder.integer(at)?)
        }
        Kind::Document => decoder.document()?,
        Kind::Double => Value::Double(decoder.double(at)?),
        Kind::Enum | Kind::String => Value::String(decoder.text(at)?),
        Kind::Float => Value::Float(decoder.float(at)?),
        Kind::List => {
            let mut list = Vec::new();
            decode_list(&mut list, at, decoder)?;
            Value::List(list)
        }
        Kind::Map => {
            let mut entries = Vec::new();
            decode_entries(&mut entries, at, decoder)?;
            Value::Map(distinct(entries, decoder)?)
        }
        Kind::Structure => {
            let mut map = Map::new();
            decode_structure(&mut map, at, decoder)?;
            complete_structure(&mut map, at, decoder)?;
            Value::Map(map)
        }
        Kind::Union => decode_union(at, decoder)?,
        Kind::Timestamp => Value::Timestamp(decoder.timestamp(at)?),
    })
}

/// As [`decode`], with what most items and members are in the caller itself.
#[inline(always)]
fn decode_member<'de, D: Decoder<'de> + ?Sized>(
    kind: ShapeKind,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<Value, Error> {
    match kind {
        ShapeKind::String => Ok(Value::String(decoder.text(at)?)),
        ShapeKind::Union => decode_union(at, decoder),
        _ => decode(at, decoder),
    }
}

/// Reads a union: a map of one entry, or of none, which cannot be written, if
/// the decoder takes variants that the model does not have.
fn decode_union<'de, D: Decoder<'de> + ?Sized>(
    at: Member<'_>,
    decoder: &mut D,
) -> Result<Value, Error> {
    let mut seq = None;
    let ordinal = begin_union(at, &mut seq, decoder)?;
    let mut map = Map::new();
    if ordinal != END {
        let member = at.target().member(ordinal);
        let value = decode_member(member.kind(), member, decoder)?;
        map = Map::of_one(name_of(member), value);
    }
    end_union(at, ordinal, &mut seq, decoder)?;
    Ok(Value::Map(map))
}

/// The name of a member, which mostly is short: then a copy of fixed width of
/// that which stands behind the head of a CBOR text.
#[inline]
fn name_of(member: Member<'_>) -> Text {
    let name = member.encoded(Encoding::Cbor).text_after_head();
    name.unwrap_or_else(|| Text::from(member.name()))
}

/// Reads on into a value that was begun before.
pub(crate) fn decode_into<'de, D: Decoder<'de> + ?Sized>(
    value: &mut Value,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    match (at.kind(), &mut *value) {
        (ShapeKind::List, Value::List(list)) => decode_list(list, at, decoder),
        (ShapeKind::Map, Value::Map(map)) => {
            let mut entries = std::mem::take(map).into_entries();
            decode_entries(&mut entries, at, decoder)?;
            *map = distinct(entries, decoder)?;
            Ok(())
        }
        _ => {
            *value = decode(at, decoder)?;
            Ok(())
        }
    }
}

/// Reads the members that this decoder has into `map`: one part of a
/// structure, or all of it. Required members are not looked at.
///
/// # Errors
///
/// What the input holds is no such structure.
pub fn decode_structure<'de, D: Decoder<'de> + ?Sized>(
    map: &mut Map,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let shape = at.target();
    let mut entries = std::mem::take(map).into_entries();
    let is_first_part = entries.is_empty();
    // Flattened maps, which may come one entry at a time: their place among
    // `entries`, and what came of them. Keys are compared once, at the end.
    let mut flattened: Vec<(usize, Vec<(Text, Value)>)> = Vec::new();
    let mut seq = decoder.structure(at)?;
    let mut second = None;
    loop {
        let ordinal = match second.take() {
            Some(ordinal) => ordinal,
            None => decoder.member(shape, &mut seq)?,
        };
        if ordinal == END {
            break;
        }
        let member = shape.member(ordinal);
        let kind = member.kind();
        // The decoder has seen to it that no other member comes twice.
        let begun = matches!(kind, ShapeKind::List | ShapeKind::Map)
            .then(|| entries.iter().position(|(own, _)| *own == member.name()))
            .flatten();
        if kind == ShapeKind::Map && member.has(MemberFlags::XML_FLATTENED) {
            let place = begun.unwrap_or_else(|| {
                entries.push((name_of(member), Value::Null));
                entries.len() - 1
            });
            let known = flattened.iter().position(|(own, _)| *own == place);
            let known = known.unwrap_or_else(|| {
                let before = match std::mem::take(&mut entries[place].1) {
                    Value::Map(map) => map.into_entries(),
                    _ => Vec::new(),
                };
                flattened.push((place, before));
                flattened.len() - 1
            });
            decode_entries(&mut flattened[known].1, member, decoder)?;
        } else if let Some(place) = begun {
            decode_into(&mut entries[place].1, member, decoder)?;
        } else {
            let value = decode_member(kind, member, decoder)?;
            if entries.capacity() == 0 {
                let next = || decoder.member(shape, &mut seq);
                second = Some(reserve(&mut entries, 0, next, |ordinal| *ordinal == END)?);
            }
            entries.push((name_of(member), value));
        }
    }
    for (place, whole) in flattened {
        entries[place].1 = Value::Map(distinct(whole, decoder)?);
    }
    *map = match is_first_part {
        true => Map::of_distinct(entries),
        false => distinct(entries, decoder)?,
    };
    Ok(())
}

/// Ends the reading of a structure, once all parts have been read: asks
/// [`Decoder::missing`] about required members that did not come, and adds the
/// defaults of those that [`Decoder::fills`] names.
///
/// # Errors
///
/// A required member is missing and the decoder minds.
pub fn complete_structure<'de, D: Decoder<'de> + ?Sized>(
    map: &mut Map,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let shape = at.target();
    for member in shape.members() {
        if member.is_required() && !map.contains_key(member.name()) {
            decoder.missing(member)?;
            if decoder.fills(member)
                && let Some(nothing) = nothing(member.kind())
            {
                map.insert(member.name(), nothing);
            }
        }
    }
    if shape.has(ShapeFlags::DEFAULTS) {
        add_defaults(map, shape, decoder);
    }
    Ok(())
}

#[cold]
fn add_defaults<'de, D: Decoder<'de> + ?Sized>(map: &mut Map, shape: Schema<'_>, decoder: &D) {
    for member in shape.members() {
        if member.has(MemberFlags::DEFAULT)
            && !map.contains_key(member.name())
            && decoder.fills(member)
            && let Some(value) = member.default_value()
        {
            map.insert(member.name(), value);
        }
    }
}

fn decode_list<'de, D: Decoder<'de> + ?Sized>(
    list: &mut Vec<Value>,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let element = at.element();
    let kind = element.kind();
    let sparse = at.is_sparse() && kind != ShapeKind::Document;
    let mut seq = decoder.list(at)?;
    if !seq.continues {
        list.clear();
    }
    let mut second = None;
    while match second.take() {
        Some(more) => more,
        None => decoder.item(at, &mut seq)?,
    } {
        let value = if sparse && decoder.null(element)? {
            Value::Null
        } else {
            decode_member(kind, element, decoder)?
        };
        if list.capacity() == 0 {
            let expected = decoder.expected(at, &seq);
            let next = || decoder.item(at, &mut seq);
            second = Some(reserve(list, expected, next, |more| !more)?);
        }
        list.push(value);
    }
    Ok(())
}

/// Reads what follows the first item of a vector, before it is pushed, and makes
/// room for as many as are expected. For the only item it would be several times
/// what it takes, and a message can be lists of one in each other. With more
/// items the space that growing leaves is never more than they take.
#[inline(always)]
fn reserve<T, N>(
    items: &mut Vec<T>,
    expected: usize,
    next: impl FnOnce() -> Result<N, Error>,
    is_end: impl FnOnce(&N) -> bool,
) -> Result<N, Error> {
    let next = next()?;
    let room = if is_end(&next) { 1 } else { expected };
    items.reserve_exact(room);
    Ok(next)
}

fn decode_entries<'de, D: Decoder<'de> + ?Sized>(
    entries: &mut Vec<(Text, Value)>,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let element = at.element();
    let kind = element.kind();
    let sparse = at.is_sparse() && kind != ShapeKind::Document;
    let mut seq = decoder.map(at)?;
    if !seq.continues {
        entries.clear();
    }
    let mut second = None;
    while let Some(key) = match second.take() {
        Some(key) => key,
        None => decoder.key(at, &mut seq)?,
    } {
        let value = if sparse && decoder.null(element)? {
            Value::Null
        } else {
            decode_member(kind, element, decoder)?
        };
        if entries.capacity() == 0 {
            let expected = decoder.expected(at, &seq);
            let next = || decoder.key(at, &mut seq);
            second = Some(reserve(entries, expected, next, Option::is_none)?);
        }
        entries.push((key, value));
    }
    Ok(())
}

/// Reads a value without a schema.
pub(crate) fn document<'de, D: Decoder<'de> + ?Sized>(decoder: &mut D) -> Result<Value, Error> {
    match decoder.any()? {
        Event::Scalar(value) => Ok(value),
        Event::List(mut seq) => {
            let mut list = Vec::new();
            let mut second = None;
            while match second.take() {
                Some(more) => more,
                None => decoder.item(Member::DOCUMENT, &mut seq)?,
            } {
                let value = document(decoder)?;
                if list.capacity() == 0 {
                    let next = || decoder.item(Member::DOCUMENT, &mut seq);
                    second = Some(reserve(&mut list, 0, next, |more| !more)?);
                }
                list.push(value);
            }
            Ok(Value::List(list))
        }
        Event::Map(mut seq) => {
            let mut entries = Vec::new();
            let mut second = None;
            while let Some(key) = match second.take() {
                Some(key) => key,
                None => decoder.key(Member::DOCUMENT, &mut seq)?,
            } {
                let value = document(decoder)?;
                if entries.capacity() == 0 {
                    let next = || decoder.key(Member::DOCUMENT, &mut seq);
                    second = Some(reserve(&mut entries, 0, next, Option::is_none)?);
                }
                entries.push((key, value));
            }
            Ok(Value::Map(distinct(entries, decoder)?))
        }
    }
}

fn distinct<'de, D: Decoder<'de> + ?Sized>(
    entries: Vec<(Text, Value)>,
    decoder: &D,
) -> Result<Map, Error> {
    Map::from_entries(entries).map_err(|(position, entries)| {
        let key = &entries[position].0;
        decoder
            .error(ErrorKind::Duplicate, "each key once")
            .found(quoted(key))
    })
}
