//! Reads [`Value`]s with a schema.

use polywire_text::{Blob, Text, Timestamp};

use crate::error::quoted;
use crate::generated::{begin_union, end_union};
use crate::{
    Decoder, END, Encoding, Error, ErrorKind, Event, Map, Member, MemberFlags, Schema, ShapeFlags,
    ShapeKind, Value,
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

/// Reads a value of the shape of `at`.
pub(crate) fn decode<'de, D: Decoder<'de> + ?Sized>(
    at: Member<'_>,
    decoder: &mut D,
) -> Result<Value, Error> {
    let mut value = Value::Null;
    read(&mut value, at.kind(), at, decoder)?;
    Ok(value)
}

/// Reads a value of the shape of `at` into `place`, which must be null. `kind` is the kind of `at`.
///
/// The value is built in place, because moving it would cost more than reading most scalars.
fn read<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    kind: ShapeKind,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    use ShapeKind as Kind;

    match kind {
        Kind::BigDecimal => set(place, Value::BigDecimal(decoder.big_decimal(at)?)),
        Kind::BigInteger => set(place, Value::from(decoder.big_integer(at)?)),
        Kind::Blob => set(place, Value::Blob(decoder.blob(at)?)),
        Kind::Boolean => set(place, Value::Boolean(decoder.boolean(at)?)),
        Kind::Byte | Kind::Short | Kind::Integer | Kind::IntEnum | Kind::Long => {
            set(place, Value::Integer(decoder.integer(at)?));
        }
        Kind::Document => set(place, decoder.document()?),
        Kind::Double => set(place, Value::Double(decoder.double(at)?)),
        Kind::Enum | Kind::String => set(place, Value::String(decoder.text(at)?)),
        Kind::Float => set(place, Value::Float(decoder.float(at)?)),
        Kind::List => return read_list(place, at, decoder),
        Kind::Map => return read_map(place, at, decoder),
        Kind::Structure => return read_structure(place, at, decoder),
        Kind::Union => return decode_union(place, at, decoder),
        Kind::Timestamp => set(place, Value::Timestamp(decoder.timestamp(at)?)),
    }
    Ok(())
}

// The functions for collections have large stack frames. If they were inlined, `read` would set up
// such a frame for each scalar.

#[inline(never)]
fn read_list<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let mut list = Vec::new();
    decode_list(&mut list, at, decoder)?;
    set(place, Value::List(list));
    Ok(())
}

#[inline(never)]
fn read_map<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let mut entries = Vec::new();
    decode_entries(&mut entries, at, decoder)?;
    set(place, Value::Map(unique_entries(entries, decoder)?));
    Ok(())
}

#[inline(never)]
fn read_structure<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let mut entries = Vec::new();
    let seen = decode_members(&mut entries, true, at, decoder)?;
    let mut map = Map::from_unique(entries);
    complete(&mut map, seen, at, decoder)?;
    set(place, Value::Map(map));
    Ok(())
}

/// Overwrites null with a value. Skips the destructor of null, which owns nothing.
#[inline]
fn set(place: &mut Value, value: Value) {
    debug_assert!(place.is_null(), "the place is not null");
    std::mem::forget(std::mem::replace(place, value));
}

/// Like [`read`], but inlines the most frequent kinds.
#[inline(always)]
fn read_member<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    kind: ShapeKind,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    match kind {
        ShapeKind::String => {
            set(place, Value::String(decoder.text(at)?));
            Ok(())
        }
        ShapeKind::Union => decode_union(place, at, decoder),
        _ => read(place, kind, at, decoder),
    }
}

/// Reads a union as a map with one entry. For an unknown variant that the decoder accepts, the map
/// is empty. An empty map cannot be encoded as a union.
fn decode_union<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let mut seq = None;
    let ordinal = begin_union(at, &mut seq, decoder)?;
    let mut map = Map::new();
    if ordinal != END {
        let member = at.target().member(ordinal);
        let mut value = Value::Null;
        read_member(&mut value, member.kind(), member, decoder)?;
        map = Map::with_entry(name_of(member), value);
    }
    end_union(at, ordinal, &mut seq, decoder)?;
    set(place, Value::Map(map));
    Ok(())
}

/// Returns the name of a member. A short name is a fixed-width copy of the CBOR name without its
/// head.
#[inline]
fn name_of(member: Member<'_>) -> Text {
    match member.encoded(Encoding::Cbor).text_after_head() {
        Some(name) => name,
        None => long_name_of(member),
    }
}

#[cold]
fn long_name_of(member: Member<'_>) -> Text {
    Text::from(member.name())
}

/// Reads the next part of a list or map, or replaces any other value.
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
            *map = unique_entries(entries, decoder)?;
            Ok(())
        }
        _ => {
            *value = decode(at, decoder)?;
            Ok(())
        }
    }
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
    decode_members(&mut entries, is_first_part, at, decoder)?;
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
    is_first_part: bool,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<u64, Error> {
    /// The maximum capacity to reserve before the second entry.
    const MAX_CAPACITY: usize = 8;

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
                MAX_CAPACITY.min(shape.len() as usize)
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
fn add_entry(entries: &mut Vec<(Text, Value)>, key: Text) -> &mut Value {
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
    for (ordinal, member) in (0..).zip(shape.members()) {
        let is_seen = 1_u64.checked_shl(ordinal).unwrap_or(0) & seen != 0;
        if member.is_required() && !is_seen && !map.contains_key(member.name()) {
            decoder.missing(member)?;
            if decoder.fills_default(member)
                && let Some(value) = zero_value(member.kind())
            {
                map.insert(member.name(), value);
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
            && decoder.fills_default(member)
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
    let is_sparse = at.is_sparse() && kind != ShapeKind::Document;
    let mut seq = decoder.list(at)?;
    if !seq.continues {
        list.clear();
    }
    let mut second = None;
    while match second.take() {
        Some(has_second) => has_second,
        None => decoder.item(at, &mut seq)?,
    } {
        if list.capacity() == 0 {
            let mut value = Value::Null;
            read_item(&mut value, is_sparse, kind, element, decoder)?;
            let expected = decoder.expected(at, &seq);
            let next = || decoder.item(at, &mut seq);
            second = Some(reserve(list, expected, next, |has_second| !has_second)?);
            list.push(value);
            continue;
        }
        let position = list.len();
        list.push(Value::Null);
        read_item(&mut list[position], is_sparse, kind, element, decoder)?;
    }
    Ok(())
}

/// Reads an item of a list or the value of a map entry. It can be null if the list or map is
/// sparse.
#[inline(always)]
fn read_item<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    is_sparse: bool,
    kind: ShapeKind,
    element: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    if is_sparse && decoder.null(element)? {
        return Ok(());
    }
    read_member(place, kind, element, decoder)
}

/// Advances past the first item of a vector, and reserves capacity: for one item if it is the only
/// one, otherwise for `expected` items. Called before the first item is pushed.
///
/// This bounds the memory for nested lists of one item, for which any spare capacity would be a
/// multiple of the used memory. For longer lists the spare capacity is at most the used memory.
#[inline(always)]
fn reserve<T, N>(
    items: &mut Vec<T>,
    expected: usize,
    next: impl FnOnce() -> Result<N, Error>,
    is_end: impl FnOnce(&N) -> bool,
) -> Result<N, Error> {
    let next = next()?;
    items.reserve_exact(if is_end(&next) { 1 } else { expected });
    Ok(next)
}

fn decode_entries<'de, D: Decoder<'de> + ?Sized>(
    entries: &mut Vec<(Text, Value)>,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    let element = at.element();
    let kind = element.kind();
    let is_sparse = at.is_sparse() && kind != ShapeKind::Document;
    let mut seq = decoder.map(at)?;
    if !seq.continues {
        entries.clear();
    }
    let mut second = None;
    while let Some(key) = match second.take() {
        Some(key) => key,
        None => decoder.key(at, &mut seq)?,
    } {
        if entries.capacity() == 0 {
            let mut value = Value::Null;
            read_item(&mut value, is_sparse, kind, element, decoder)?;
            let expected = decoder.expected(at, &seq);
            let next = || decoder.key(at, &mut seq);
            second = Some(reserve(entries, expected, next, Option::is_none)?);
            entries.push((key, value));
            continue;
        }
        let place = add_entry(entries, key);
        read_item(place, is_sparse, kind, element, decoder)?;
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
                Some(has_second) => has_second,
                None => decoder.item(Member::DOCUMENT, &mut seq)?,
            } {
                let value = document(decoder)?;
                if list.capacity() == 0 {
                    let next = || decoder.item(Member::DOCUMENT, &mut seq);
                    second = Some(reserve(&mut list, 0, next, |has_second| !has_second)?);
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
            Ok(Value::Map(unique_entries(entries, decoder)?))
        }
    }
}

/// Creates a map from entries. Rejects duplicate keys.
fn unique_entries<'de, D: Decoder<'de> + ?Sized>(
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
