//! Reading structures into maps.

use polywire_text::{Blob, Text, Timestamp};

use super::decode::{decode_entries, decode_into, read, read_member, set, unique_entries};
use crate::{
    Decoder, END, Error, Map, Member, MemberFlags, NameEncoding, Schema, ShapeFlags, ShapeKind,
    Value,
};

/// Returns the value that a client uses for a missing required member (client error correction).
/// Enums, structures and unions have none.
///
/// <https://smithy.io/2.0/spec/aggregate-types.html#client-error-correction>
fn zero_value(kind: ShapeKind) -> Option<Value> {
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

/// The number of entries for which a structure reserves memory, if nothing better is known.
pub(super) const USUAL_ENTRIES: usize = 4;

/// Reads a structure into `place`, which must be null. `expected` is a guess of the number of its
/// entries, such as that of the item before in a list.
#[inline(never)]
pub(super) fn read_structure<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    expected: usize,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let mut entries = Vec::new();
    let seen = decode_members(&mut entries, expected, true, at, decoder)?;
    let mut map = Map::from_unique(entries);
    complete(&mut map, seen, at, decoder)?;
    set(place, Value::Map(map));
    Ok(())
}

/// Returns the name of a member. A short name is a fixed-width copy of the CBOR name without its
/// head.
#[inline]
pub(super) fn name_of(member: Member<'_>) -> Text {
    match member.encoded(NameEncoding::Cbor).text_after_head() {
        Some(name) => name,
        None => long_name_of(member),
    }
}

#[cold]
fn long_name_of(member: Member<'_>) -> Text {
    Text::from(member.name())
}

/// Reads the members that this decoder provides into `map`: a part of a structure, or all of it.
/// Does not check for required members.
///
/// # Errors
///
/// Returns an error if the input is not a valid structure of the target shape.
pub fn decode_structure<'de, D: Decoder<'de> + ?Sized>(
    map: &mut Map,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let mut entries = std::mem::take(map).into_entries();
    let is_first_part = entries.is_empty();
    decode_members(&mut entries, USUAL_ENTRIES, is_first_part, at, decoder)?;
    *map = match is_first_part {
        true => Map::from_unique(entries),
        false => unique_entries(entries, decoder)?,
    };
    Ok(())
}

/// Reads members into `entries`, which is empty for the first part of a structure. Returns the
/// members that occurred: one bit for each ordinal below 64.
fn decode_members<'de, D: Decoder<'de> + ?Sized>(
    entries: &mut Vec<(Text, Value)>,
    expected: usize,
    is_first_part: bool,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<u64, Error> {
    let shape = at.target();
    let mut flattened = Vec::new();
    let mut seen = 0_u64;
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
        // Only lists and maps can occur again: the decoder rejects other duplicates.
        let bit = 1_u64.checked_shl(ordinal).unwrap_or(0);
        let is_new = is_first_part && bit & !seen != 0 && !member.has(MemberFlags::XML_FLATTENED);
        seen |= bit;
        if !is_new
            && matches!(kind, ShapeKind::List | ShapeKind::Map)
            && decode_again(entries, &mut flattened, member, decoder)?
        {
            continue;
        }
        if entries.capacity() == 0 {
            let mut value = Value::Null;
            read(&mut value, kind, member, decoder)?;
            // See `reserve`.
            let next = decoder.member(shape, &mut seq)?;
            let capacity = if next == END {
                1
            } else {
                expected.max(2).min(shape.len() as usize)
            };
            entries.reserve_exact(capacity);
            entries.push((name_of(member), value));
            second = Some(next);
        } else {
            read_member(add_entry(entries, name_of(member)), kind, member, decoder)?;
        }
    }
    if !flattened.is_empty() {
        end_flattened_maps(entries, flattened, decoder)?;
    }
    Ok(seen)
}

/// Adds an entry with a null value and returns the value.
#[inline]
pub(super) fn add_entry(entries: &mut Vec<(Text, Value)>, key: Text) -> &mut Value {
    let position = entries.len();
    // `push` would copy the key twice, because it has to drop the key if the allocation fails.
    entries.push((Text::default(), Value::Null));
    let (place, value) = &mut entries[position];
    std::mem::forget(std::mem::replace(place, key));
    value
}

/// Flattened maps: the position in the structure, and the entries so far. Their entries can be
/// separated by other members, so their keys are compared once, at the end.
type FlattenedMaps = Vec<(usize, Vec<(Text, Value)>)>;

#[cold]
fn end_flattened_maps<'de, D: Decoder<'de> + ?Sized>(
    entries: &mut [(Text, Value)],
    flattened: FlattenedMaps,
    decoder: &D,
) -> Result<(), Error> {
    for (position, map) in flattened {
        entries[position].1 = Value::Map(unique_entries(map, decoder)?);
    }
    Ok(())
}

/// Reads a further part of a list or map. Returns `false` without reading if it is the first part.
/// Always reads flattened maps.
#[cold]
fn decode_again<'de, D: Decoder<'de> + ?Sized>(
    entries: &mut Vec<(Text, Value)>,
    flattened: &mut FlattenedMaps,
    member: Member<'_>,
    decoder: &mut D,
) -> Result<bool, Error> {
    let name = member.name();
    let earlier = entries.iter().position(|(other, _)| other == name);
    if member.kind() == ShapeKind::Map && member.has(MemberFlags::XML_FLATTENED) {
        let position = earlier.unwrap_or_else(|| {
            entries.push((name_of(member), Value::Null));
            entries.len() - 1
        });
        let index = flattened.iter().position(|(other, _)| *other == position);
        let index = index.unwrap_or_else(|| {
            let map = match std::mem::take(&mut entries[position].1) {
                Value::Map(map) => map.into_entries(),
                _ => Vec::new(),
            };
            flattened.push((position, map));
            flattened.len() - 1
        });
        decode_entries(&mut flattened[index].1, member, decoder)?;
        return Ok(true);
    }
    let Some(position) = earlier else {
        return Ok(false);
    };
    decode_into(&mut entries[position].1, member, decoder)?;
    Ok(true)
}

/// Completes a structure after its last part. Calls [`Decoder::missing`] for each absent required
/// member, and adds defaults if [`Decoder::fills_default`] returns `true`.
///
/// # Errors
///
/// Returns the error of [`Decoder::missing`].
pub fn complete_structure<'de, D: Decoder<'de> + ?Sized>(
    map: &mut Map,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    complete(map, 0, at, decoder)
}

/// Like [`complete_structure`]. `seen` has a bit for each member that is known to be present.
fn complete<'de, D: Decoder<'de> + ?Sized>(
    map: &mut Map,
    seen: u64,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let shape = at.target();
    // The bits are those of the ordinals below 64.
    if shape.def().required & !seen != 0 || shape.len() > 64 {
        check_required(map, seen, shape, decoder)?;
    }
    if shape.has(ShapeFlags::DEFAULTS) {
        add_defaults(map, shape, decoder);
    }
    Ok(())
}

#[inline(never)]
fn check_required<'de, D: Decoder<'de> + ?Sized>(
    map: &mut Map,
    seen: u64,
    shape: Schema<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    for (ordinal, member) in (0..).zip(shape.members()) {
        if !member.is_required() {
            continue;
        }
        let is_seen = 1_u64.checked_shl(ordinal).unwrap_or(0) & seen != 0;
        if !is_seen && !map.contains_key(member.name()) {
            decoder.missing(member)?;
            if decoder.fills_default(member)
                && let Some(value) = zero_value(member.kind())
            {
                map.insert(member.name(), value);
            }
        }
    }
    Ok(())
}

#[cold]
fn add_defaults<'de, D: Decoder<'de> + ?Sized>(map: &mut Map, shape: Schema<'_>, decoder: &D) {
    for member in shape.members() {
        if member.has(MemberFlags::DEFAULT)
            && !map.contains_key(member.name())
            && decoder.fills_default(member)
            && let Some(value) = member.default_value()
        {
            map.insert(member.name(), value);
        }
    }
}
