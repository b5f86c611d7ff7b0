//! Samples: for any shape a value, always the same.

use polywire_model::{Model, Shape};
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Location, Map, Member, Schema, ShapeKind, Text, Timestamp, Value,
};

/// How deep a sample goes into recursive shapes before it leaves out what it
/// may.
const DEPTH: u32 = 4;

/// A sample of a structure: all members while shallow, required ones below.
pub(crate) fn structure(model: &Model, shape: Schema<'_>) -> Map {
    members(model, shape, 0)
}

fn members(model: &Model, shape: Schema<'_>, depth: u32) -> Map {
    let wanted = shape
        .members()
        .filter(|member| member.is_required() || (depth < DEPTH && !describes_message(*member)));
    wanted
        .filter_map(|member| Some((Text::from(member.name()), value(model, member, depth + 1)?)))
        .collect()
}

/// Whether a member is a header that says what the message itself is (RFC 9110, sections 8.3 to
/// 8.6 and 14.4). The protocol knows that; a sample would contradict it.
fn describes_message(member: Member<'_>) -> bool {
    const HEADERS: [&str; 6] = [
        "content-encoding",
        "content-language",
        "content-length",
        "content-range",
        "content-type",
        "transfer-encoding",
    ];
    let is_own = |name: &&str| member.location_name().eq_ignore_ascii_case(name);
    member.location() == Location::Header && HEADERS.iter().any(is_own)
}

/// A sample of a member's target; `None` where recursion leaves no choice.
fn value(model: &Model, member: Member<'_>, depth: u32) -> Option<Value> {
    if depth > DEPTH * 4 {
        return None;
    }
    if member.location() == Location::StatusCode {
        // Any other number would be no status, or not the one of an output.
        return Some(Value::Integer(200));
    }
    let target = model.get(member.target().id());
    let traits = target.map(Shape::traits);
    let own = model
        .get(member.container().id())
        .and_then(|shape| shape.member(member.name()));
    let is_more_results = own.is_some_and(|own| model.is_more_results(own));
    let own = own.map(polywire_model::Member::traits);
    // Bounds: those of the member count before those of its target.
    let length = own
        .and_then(|own| own.length())
        .or_else(|| traits?.length());
    let least = length.and_then(|length| length.min).unwrap_or(0);
    let range = own.and_then(|own| own.range()).or_else(|| traits?.range());
    let bound = range.as_ref().and_then(|range| range.min.or(range.max));
    let integer = bound.and_then(polywire_model::Number::as_i64).unwrap_or(1);
    let float = bound.map_or(1.5, polywire_model::Number::as_f64);

    Some(match member.kind() {
        ShapeKind::BigDecimal => Value::BigDecimal(BigDecimal::from(integer)),
        ShapeKind::BigInteger => Value::from(BigInteger::from(integer)),
        ShapeKind::Blob => match is_json(member) {
            true => Value::Blob(Blob::from(b"{}")),
            false => Value::Blob(Blob::from(b"blob")),
        },
        // There is one page. A client that reads of more asks for it without end.
        ShapeKind::Boolean => Value::Boolean(!is_more_results),
        ShapeKind::Byte | ShapeKind::Short | ShapeKind::Integer | ShapeKind::Long => {
            Value::Integer(integer)
        }
        ShapeKind::Document => Value::Map(Map::from_iter([("key", "document")])),
        ShapeKind::Double => Value::Double(float),
        ShapeKind::Float => Value::Float(float as f32),
        ShapeKind::Enum => Value::from(enum_value(target?)?.as_str()?),
        ShapeKind::IntEnum => Value::Integer(enum_value(target?)?.as_i64()?),
        // Clients parse it: `jsonvalue` of botocore.
        ShapeKind::String if is_json(member) => Value::from("{}"),
        // RFC 9110, section 8.8.3: an entity tag is quoted.
        ShapeKind::String if is_entity_tag(member) => Value::from(format!("\"{}\"", string(least))),
        ShapeKind::String => Value::from(string(least)),
        ShapeKind::Timestamp => Value::Timestamp(Timestamp::EPOCH),
        ShapeKind::List => {
            let item = if depth < DEPTH || least > 0 {
                value(model, member.element(), depth + 1)
            } else {
                None
            };
            Value::List(item.into_iter().collect())
        }
        ShapeKind::Map => {
            let key = value(model, member.target().member(0), depth + 1);
            let key = key
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or("key")
                .to_owned();
            let item = if depth < DEPTH {
                value(model, member.element(), depth + 1)
            } else {
                None
            };
            Value::Map(item.into_iter().map(|item| (key.clone(), item)).collect())
        }
        ShapeKind::Structure => Value::Map(members(model, member.target(), depth)),
        ShapeKind::Union => {
            // The first variant that does not recurse for ever.
            let variant = member.target().members().find_map(|variant| {
                Some((
                    Text::from(variant.name()),
                    value(model, variant, depth + 1)?,
                ))
            });
            Value::Map(std::iter::once(variant?).collect())
        }
    })
}

/// Whether `@mediaType` says that a string or blob is a JSON document.
fn is_json(member: Member<'_>) -> bool {
    let media_type = member.media_type().unwrap_or_default();
    media_type == "application/json" || media_type.ends_with("+json")
}

fn is_entity_tag(member: Member<'_>) -> bool {
    member.location() == Location::Header && member.location_name().eq_ignore_ascii_case("etag")
}

/// The first value of an enum.
fn enum_value(shape: &Shape) -> Option<&polywire_model::Node> {
    shape.members().first()?.traits().enum_value()
}

/// A string of at least this length.
fn string(least: u64) -> String {
    let least = usize::try_from(least.min(4_096)).unwrap_or_default();
    let mut text = "string".to_owned();
    while text.len() < least {
        text.push_str("-string");
    }
    text
}
