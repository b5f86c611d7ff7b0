//! `Value` through schemas: structures as maps of member names.

use polywire_text::{Blob, Text, Timestamp};

use crate::error::quoted;
use crate::generated::{begin_union, end_union};
use crate::{
    Decode, Decoder, END, Encode, Encoder, Encoding, Error, ErrorKind, Event, Location, Map,
    Member, MemberFlags, NameSource, Schema, ShapeFlags, ShapeKind, Value,
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

/// Writes a value as the shape of `at`.
pub(crate) fn encode<E: Encoder + ?Sized>(value: &Value, at: Member<'_>, encoder: &mut E) {
    use ShapeKind as Kind;

    match (at.kind(), value) {
        (Kind::Document, value) => encode_document(value, at, encoder),
        (Kind::Structure | Kind::Union, Value::Map(map)) => encode_structure(map, at, encoder),
        (Kind::List, Value::List(list)) => encode_list(list, at, encoder),
        (Kind::Map, Value::Map(map)) => encode_map(map, at, encoder),
        (Kind::Boolean, Value::Boolean(value)) => encoder.boolean(at, *value),
        (Kind::Byte | Kind::Short | Kind::Integer | Kind::IntEnum, Value::Integer(value)) => {
            let (least, most) = at.kind().integer_range();
            if (least..=most).contains(value) {
                encoder.integer(at, *value);
            } else {
                encoder.fail(unfit(at, ErrorKind::InvalidValue, &value.to_string()));
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
        (Kind::Blob, Value::String(value)) => encoder.blob(at, value.as_bytes()),
        (Kind::Timestamp, Value::Timestamp(value)) => encoder.timestamp(at, *value),
        (Kind::BigInteger | Kind::BigDecimal, Value::Float(_) | Value::Double(_)) => {
            encoder.fail(inexact(at));
        }
        (_, value) => encoder.fail(unfit(at, ErrorKind::WrongType, value.describe())),
    }
}

/// A number as the float or double that `at` asks for. An infinity is written
/// only where one was given.
fn encode_number<E: Encoder + ?Sized>(value: &Value, at: Member<'_>, encoder: &mut E) {
    let Some(double) = value.as_f64() else {
        return encoder.fail(unfit(at, ErrorKind::WrongType, value.describe()));
    };
    let float = double as f32;
    let infinite = match at.kind() {
        ShapeKind::Float => float.is_infinite(),
        _ => double.is_infinite(),
    };
    if infinite
        && !matches!(
            value,
            Value::Float(_) | Value::Double(f64::INFINITY | f64::NEG_INFINITY)
        )
    {
        return encoder.fail(unfit(at, ErrorKind::InvalidValue, &format!("{value:?}")));
    }
    match at.kind() {
        ShapeKind::Float => encoder.float(at, float),
        _ => encoder.double(at, double),
    }
}

/// As [`encode`], with what most members are in the caller itself.
#[inline(always)]
fn encode_member<E: Encoder + ?Sized>(value: &Value, at: Member<'_>, encoder: &mut E) {
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

/// An item of a list or a value of a map, of this kind; nulls only where they
/// may stand.
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
        (ShapeKind::Document, _) => encode_document(item, element, encoder),
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

/// Writes a map as the union of `at`: as [`encode_structure`], which has the
/// rest of the cases.
fn encode_union<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    let shape = at.target();
    if let [(name, value)] = map.entries()
        && !value.is_null()
        && !shape.has(ShapeFlags::DEFAULTS)
        && !encoder.is_head()
        && let Some(ordinal) = shape.find_text(name)
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

/// Writes a map as the structure or union of `at`. Entries that the shape
/// does not have are an error; nulls are left out, but for documents, which
/// may be null.
pub fn encode_structure<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    if encoder.is_head() {
        return encode_head(map, at, encoder);
    }
    let shape = at.target();
    let entries = map.entries();
    let has_defaults = shape.has(ShapeFlags::DEFAULTS);
    let mut places = Places::default();
    // With defaults the members that are not there count too.
    if has_defaults || !places.fill(entries, shape) {
        return encode_by_member(map, at, encoder);
    }
    let members = || {
        places.iter().filter_map(|(ordinal, index)| {
            let (member, value) = (shape.member(ordinal), &entries.get(index)?.1);
            let is_there = !value.is_null() || member.kind() == ShapeKind::Document;
            is_there.then_some((member, value))
        })
    };
    let nulls = entries.iter().any(|(_, value)| value.is_null());
    let present = if nulls {
        members().count()
    } else {
        entries.len()
    };
    if at.kind() == ShapeKind::Union && present != 1 {
        return encoder.fail(not_one_member(shape, present));
    }
    encoder.begin_structure(at, present);
    for (member, value) in members() {
        if encoder.member(member) {
            encode_member(value, member, encoder);
        }
    }
    encoder.end_structure(at);
}

/// Which members the entries of a map are, in the order of the members.
#[derive(Default)]
struct Places {
    /// The ordinal of a member, and in the lowest byte the index of its entry.
    found: [u32; Self::MOST],
    len: usize,
}

impl Places {
    const MOST: usize = 32;

    /// Finds the members; false where there are too many, or an entry is none.
    #[inline(always)]
    fn fill(&mut self, entries: &[(Text, Value)], shape: Schema<'_>) -> bool {
        if entries.len() > Self::MOST {
            return false;
        }
        let (mut next, mut sorted) = (0, true);
        for (index, ((name, _), found)) in entries.iter().zip(&mut self.found).enumerate() {
            // Mostly they come in the order of the model.
            let is_next = next < shape.len()
                && shape
                    .member(next)
                    .encoded(Encoding::Cbor)
                    .is_behind_head(name);
            let ordinal = if is_next {
                next
            } else {
                let Some(ordinal) = shape.find_text(name) else {
                    return false;
                };
                sorted &= ordinal >= next;
                ordinal
            };
            *found = ordinal << 8 | index as u32;
            next = ordinal + 1;
        }
        self.len = entries.len();
        if !sorted {
            self.found[..entries.len()].sort_unstable();
        }
        true
    }

    /// Ordinals and indices of entries.
    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = (u32, usize)> {
        let found = self.found.iter().take(self.len);
        found.map(|found| (found >> 8, (found & 0xff) as usize))
    }
}

#[cold]
fn not_one_member(shape: Schema<'_>, present: usize) -> Error {
    Error::new(ErrorKind::WrongType)
        .expected("exactly one member of a union")
        .found(format!("{present}"))
        .at_path(shape.id())
}

/// As [`encode_structure`], member by member: whatever the map has.
fn encode_by_member<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    let shape = at.target();
    let entries = map.entries();
    let is_document = |name: &Text| {
        let ordinal = shape.find(NameSource::Member, name.as_bytes());
        ordinal.is_some_and(|ordinal| shape.member(ordinal).kind() == ShapeKind::Document)
    };
    let is_present = |(name, value): &&(Text, Value)| !value.is_null() || is_document(name);
    let mut present = entries.iter().filter(is_present).count();
    let has_defaults = shape.has(ShapeFlags::DEFAULTS);
    if has_defaults {
        let absent = shape
            .members()
            .filter(|member| is_filled(map, *member, encoder));
        present += absent.count();
    }
    if at.kind() == ShapeKind::Union && present != 1 {
        return encoder.fail(not_one_member(shape, present));
    }
    encoder.begin_structure(at, present);
    let mut lookup = Lookup::new(map);
    for (name, member) in shape.named_members() {
        let found = lookup.next(name);
        let value = found.filter(|value| !value.is_null() || member.kind() == ShapeKind::Document);
        match value {
            Some(value) if encoder.member(member) => encode(value, member, encoder),
            None if has_defaults => fill(member, encoder),
            _ => {}
        }
    }
    if lookup.known != entries.len() {
        let has = |name: &Text| shape.members().any(|member| *name == member.name());
        let unknown = entries.iter().map(|(name, _)| name).find(|name| !has(name));
        let error = Error::new(ErrorKind::Unknown)
            .expected(format!("a member of {}", shape.id()))
            .found(unknown.map_or_else(String::new, |name| quoted(name)));
        encoder.fail(error);
    }
    encoder.end_structure(at);
}

/// Whether a member is not there and its default is written instead.
fn is_filled<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &E) -> bool {
    let is_absent = |value: Option<&Value>| match value {
        None => true,
        Some(value) => value.is_null() && at.kind() != ShapeKind::Document,
    };
    at.has(MemberFlags::DEFAULT) && encoder.fills(at) && is_absent(map.get(at.name()))
}

/// Writes the default of a member that is not there, if it is to be written.
#[cold]
fn fill<E: Encoder + ?Sized>(at: Member<'_>, encoder: &mut E) {
    if at.has(MemberFlags::DEFAULT)
        && encoder.fills(at)
        && let Some(value) = at.default_value()
        && encoder.member(at)
    {
        encode(&value, at, encoder);
    }
}

/// Writes the members of a head. What is wrong with the others is for the pass
/// that writes them to say.
fn encode_head<E: Encoder + ?Sized>(map: &Map, at: Member<'_>, encoder: &mut E) {
    encoder.begin_structure(at, 0);
    let shape = at.target();
    let has_defaults = shape.has(ShapeFlags::DEFAULTS);
    let mut lookup = Lookup::new(map);
    for (name, member) in shape.named_members() {
        let elsewhere = matches!(member.location(), Location::Body | Location::Payload);
        if elsewhere && !member.has(MemberFlags::HOST_LABEL) {
            lookup.skip();
            continue;
        }
        match lookup.next(name).filter(|value| !value.is_null()) {
            Some(value) if encoder.member(member) => encode(value, member, encoder),
            None if has_defaults => fill(member, encoder),
            _ => {}
        }
    }
    encoder.end_structure(at);
}

/// Finds the members of a shape in a map, which mostly has them in the order
/// of the model.
struct Lookup<'v> {
    map: &'v Map,
    entries: &'v [(Text, Value)],
    /// Where the next member probably is.
    guess: usize,
    /// How many were found.
    known: usize,
}

impl<'v> Lookup<'v> {
    fn new(map: &'v Map) -> Self {
        Self {
            map,
            entries: map.entries(),
            guess: 0,
            known: 0,
        }
    }

    #[inline(always)]
    fn next(&mut self, name: &[u8]) -> Option<&'v Value> {
        match self.entries.get(self.guess) {
            Some((own, value)) if own.is(name) => {
                self.guess += 1;
                self.known += 1;
                Some(value)
            }
            _ => self.search(name),
        }
    }

    #[cold]
    fn search(&mut self, name: &[u8]) -> Option<&'v Value> {
        // Names of a schema are UTF-8.
        let name = std::str::from_utf8(name).unwrap_or_default();
        let position = self.map.position(name)?;
        self.guess = position + 1;
        self.known += 1;
        Some(&self.entries[position].1)
    }

    /// A member that need not be found.
    fn skip(&mut self) {
        self.guess += 1;
    }
}

/// Writes a value without a schema.
fn encode_document<E: Encoder + ?Sized>(value: &Value, at: Member<'_>, encoder: &mut E) {
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
        Value::Timestamp(value) => encoder.timestamp(at, *value),
        Value::List(list) => {
            encoder.begin_list(at, list.len());
            for item in list {
                encode_document(item, at, encoder);
            }
            encoder.end_list(at);
        }
        Value::Map(map) => {
            encoder.begin_map(at, map.len());
            for (key, item) in map.entries() {
                encoder.text_key(at, key);
                encode_document(item, at, encoder);
            }
            encoder.end_map(at);
        }
    }
}

#[cold]
fn unfit(at: Member<'_>, kind: ErrorKind, found: &str) -> Error {
    Error::new(kind)
        .expected(at.kind().describe())
        .found(found.to_owned())
        .at_path(format!("{at:?}"))
}

/// A float where digits are asked for: which of its many decimals was meant is
/// the caller's to say.
#[cold]
fn inexact(at: Member<'_>) -> Error {
    let expected = match at.kind() {
        ShapeKind::BigInteger => "an integer, as Value::Integer or Value::BigInteger",
        _ => "a decimal number, as Value::BigDecimal, or an integer",
    };
    unfit(
        at,
        ErrorKind::WrongType,
        "a float, which has no exact digits",
    )
    .expected(expected)
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
        Kind::Document => decode_document(decoder)?,
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
    let name = member.encoded(Encoding::Cbor).text_behind_head();
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
fn decode_document<'de, D: Decoder<'de> + ?Sized>(decoder: &mut D) -> Result<Value, Error> {
    match decoder.any()? {
        Event::Scalar(value) => Ok(value),
        Event::List(mut seq) => {
            let mut list = Vec::new();
            let mut second = None;
            while match second.take() {
                Some(more) => more,
                None => decoder.item(Member::DOCUMENT, &mut seq)?,
            } {
                let value = decode_document(decoder)?;
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
                let value = decode_document(decoder)?;
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

/// A structure of unknown type, read and written in parts.
impl<'de> crate::DecodeStructure<'de> for Value {
    type Builder = Map;

    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut Map,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        decode_structure(builder, at, decoder)
    }

    fn build<D: Decoder<'de> + ?Sized>(
        mut builder: Map,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error> {
        complete_structure(&mut builder, at, decoder)?;
        Ok(Self::Map(builder))
    }
}

/// Lets a map be given where a structure is encoded.
impl Encode for Map {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        if at.kind().is_structure() {
            encode_structure(self, at, encoder);
        } else {
            encoder.fail(unfit(at, ErrorKind::WrongType, "a map"));
        }
    }
}

const _: fn() = || {
    fn assert_decode<'de, T: Decode<'de>>() {}
    assert_decode::<Value>();
};

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::{MemberSpec, SchemaBuilder, SchemaSet, to_value};

    /// Names of every length up to thirty, several of a length.
    fn names() -> Vec<String> {
        let name = |len: usize, last: char| {
            "abcdefghijklmnopqrstuvwxyzABCD"[..len - 1].to_owned() + &last.to_string()
        };
        (1..=30)
            .flat_map(|len| ['x', 'y'].map(|last| name(len, last)))
            .collect()
    }

    /// A structure with the first `count` of these names.
    fn structure(count: usize) -> (Arc<SchemaSet<'static>>, u32) {
        let mut builder = SchemaBuilder::new();
        let document = builder.shape(ShapeKind::Document, "smithy.api#Document");
        let shape = builder.shape(ShapeKind::Structure, "example#Names");
        for name in &names()[..count] {
            builder.member(shape, MemberSpec::new(name, document));
        }
        (Arc::new(builder.finish().unwrap()), shape.index())
    }

    #[test]
    fn names_are_found_by_text_as_by_bytes() {
        for count in [0, 1, 5, 60] {
            let (set, index) = structure(count);
            let shape = set.shape(index);
            for (place, name) in names().iter().enumerate() {
                // With other bytes behind it, and with zeros.
                let window = format!("{name}and what stands behind");
                let inline = Text::inline_prefix(&window, name.len());
                for text in inline.into_iter().chain([Text::from(name.as_str())]) {
                    let expected = (place < count).then_some(place as u32);
                    assert_eq!(shape.find_text(&text), expected, "{name}");
                    assert_eq!(shape.find(NameSource::Member, name.as_bytes()), expected);
                }
            }
        }
    }

    proptest! {
        /// Whatever their order and number, members are written in that of the model.
        #[test]
        fn members_are_written_in_order(
            places in proptest::sample::subsequence((0..60).collect::<Vec<usize>>(), 0..60)
                .prop_shuffle(),
            count in 40..=60_usize,
        ) {
            let (set, index) = structure(count);
            let names = names();
            let entries = places.iter().map(|place| (names[*place].as_str(), *place as i64));
            let written = to_value(&Map::from_iter(entries), set.shape(index).root());
            if places.iter().any(|place| *place >= count) {
                prop_assert_eq!(written.unwrap_err().kind(), ErrorKind::Unknown);
                return Ok(());
            }
            let written = written.unwrap();
            let keys: Vec<&str> = written.as_map().unwrap().keys().collect();
            let mut sorted = places;
            sorted.sort_unstable();
            let expected: Vec<&str> = sorted.iter().map(|place| names[*place].as_str()).collect();
            prop_assert_eq!(keys, expected);
        }
    }
}
