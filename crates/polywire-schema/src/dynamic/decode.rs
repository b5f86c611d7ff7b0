//! Reading a `Value` as the shape that a schema says.

use polywire_text::Text;

use super::decode_structure::{USUAL_ENTRIES, add_entry, name_of, read_structure};
use crate::error::quoted;
use crate::generated::{begin_union, end_union};
use crate::{
    Decoder, END, Error, ErrorKind, Event, EventStream, Map, Member, MemberFlags, ShapeKind, Value,
};

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
pub(super) fn read<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    kind: ShapeKind,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    use ShapeKind as Kind;

    match kind {
        Kind::BigDecimal | Kind::BigInteger => return read_big_number(place, kind, at, decoder),
        Kind::Blob | Kind::Union if at.has(MemberFlags::STREAMING) => {
            return read_stream(place, kind, at, decoder);
        }
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
        Kind::Structure => return read_structure(place, USUAL_ENTRIES, at, decoder),
        Kind::Union => return decode_union(place, at, decoder),
        Kind::Timestamp => set(place, Value::Timestamp(decoder.timestamp(at)?)),
    }
    Ok(())
}

// The functions for collections have large stack frames. If they were inlined, `read` would set up
// such a frame for each scalar.

/// Reads a number of any size.
#[inline(never)]
fn read_big_number<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    kind: ShapeKind,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    match kind {
        ShapeKind::BigInteger => set(place, Value::from(decoder.big_integer(at)?)),
        _ => set(place, Value::BigDecimal(decoder.big_decimal(at)?)),
    }
    Ok(())
}

/// Reads a member with `@streaming`.
#[cold]
#[inline(never)]
fn read_stream<'de, D: Decoder<'de> + ?Sized>(
    place: &mut Value,
    kind: ShapeKind,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    if kind == ShapeKind::Blob {
        set(place, Value::from(decoder.stream(at)?));
        return Ok(());
    }
    match decoder.event_stream(at)? {
        Some(source) => {
            set(place, Value::from(EventStream::received(source)));
            Ok(())
        }
        None => decode_union(place, at, decoder),
    }
}

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

/// Overwrites null with a value. Skips the destructor of null, which owns nothing. Overwriting
/// another value would leak it.
#[inline]
pub(super) fn set(place: &mut Value, value: Value) {
    debug_assert!(place.is_null(), "the place is not null");
    std::mem::forget(std::mem::replace(place, value));
}

/// Like [`read`], but inlines the most frequent kinds.
#[inline(always)]
pub(super) fn read_member<'de, D: Decoder<'de> + ?Sized>(
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
        ShapeKind::Union if !at.has(MemberFlags::STREAMING) => decode_union(place, at, decoder),
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

/// Reads the next part of a list or map, or replaces any other value. After an error the value is
/// unspecified.
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
    // Items that are structures mostly have as many members as the item before.
    let has_structures = kind == ShapeKind::Structure && !is_sparse;
    let mut entries = USUAL_ENTRIES;
    let mut second = None;
    while match second.take() {
        Some(has_second) => has_second,
        None => decoder.item(at, &mut seq)?,
    } {
        if list.capacity() == 0 {
            let mut value = Value::Null;
            read_item(&mut value, is_sparse, kind, element, decoder)?;
            entries = value.as_map().map_or(entries, Map::len);
            let expected = decoder.size_hint(at, &seq);
            let next = || decoder.item(at, &mut seq);
            second = Some(reserve(list, expected, next, |has_second| !has_second)?);
            list.push(value);
            continue;
        }
        let position = list.len();
        list.push(Value::Null);
        let place = &mut list[position];
        if has_structures {
            read_structure(place, entries, element, decoder)?;
            entries = place.as_map().map_or(entries, Map::len);
        } else {
            read_item(place, is_sparse, kind, element, decoder)?;
        }
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

pub(super) fn decode_entries<'de, D: Decoder<'de> + ?Sized>(
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
            let expected = decoder.size_hint(at, &seq);
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
pub(super) fn unique_entries<'de, D: Decoder<'de> + ?Sized>(
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
