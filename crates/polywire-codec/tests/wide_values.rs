//! Structures of `Value` with many members: the sizes at which readers and writers use other code.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::xml::{XmlDecoder, XmlProfile};
use polywire_schema::{
    Body, Decode, Encode, Error, ErrorKind, Limits, Map, Member, MemberFlags, MemberSpec,
    SchemaBuilder, SchemaSet, ShapeKind, Value,
};

/// A structure with so many members: `m0`, `m1` and so on are integers, except for the documents
/// `m2` and `m40`. The other arguments are the ordinals of required members, flattened lists and
/// other lists.
fn wide(
    count: usize,
    required: &[usize],
    flattened: &[usize],
    lists: &[usize],
) -> SchemaSet<'static> {
    let mut builder = SchemaBuilder::new();
    let integer = builder.shape(ShapeKind::Integer, "smithy.api#Integer");
    let document = builder.shape(ShapeKind::Document, "smithy.api#Document");
    let list = builder.shape(ShapeKind::List, "example#List");
    builder.member(list, MemberSpec::new("member", integer));
    let wide = builder.shape(ShapeKind::Structure, "example#Wide");
    for ordinal in 0..count {
        let target = match ordinal {
            _ if flattened.contains(&ordinal) || lists.contains(&ordinal) => list,
            2 | 40 => document,
            _ => integer,
        };
        let mut member = MemberSpec::new(format!("m{ordinal}"), target);
        if required.contains(&ordinal) {
            member = member.flag(MemberFlags::REQUIRED);
        }
        if flattened.contains(&ordinal) {
            member = member.flag(MemberFlags::XML_FLATTENED);
        }
        builder.member(wide, member);
    }
    builder.finish().unwrap()
}

fn root<'s>(set: &'s SchemaSet<'_>) -> Member<'s> {
    set.find_shape("example#Wide").unwrap().root()
}

fn write(value: &Value, at: Member<'_>) -> Result<String, Error> {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    value.encode(at, &mut encoder);
    Ok(String::from_utf8(encoder.finish()?).unwrap())
}

fn read(text: &str, at: Member<'_>) -> Result<Value, Error> {
    let mut decoder = JsonDecoder::from_str(text, JsonProfile::DEFAULT, &Limits::DEFAULT)?;
    Value::decode(at, &mut decoder)
}

fn read_xml(text: &str, at: Member<'_>) -> Result<Value, Error> {
    let body = Body::from(text.as_bytes().to_vec());
    let mut decoder = XmlDecoder::from_body(&body, XmlProfile::DEFAULT, &Limits::DEFAULT)?;
    Value::decode(at, &mut decoder)
}

/// Entries that are null are written only as documents.
#[test]
fn entries_are_written_in_the_order_of_the_model() {
    for count in [1, 3, 31, 32, 33, 64, 255, 256, 257, 300] {
        let set = wide(count, &[], &[], &[]);
        let at = root(&set);
        for len in [1, 2, 31, 32, 33, count] {
            // The last members, which have the largest ordinals.
            let ordinals = count.saturating_sub(len)..count;
            let entry = |ordinal: usize| {
                let value = match ordinal {
                    2 | 40 => Value::Null,
                    _ if ordinal % 7 == 3 => Value::Null,
                    _ => Value::Integer(ordinal as i64),
                };
                (format!("m{ordinal}"), value)
            };
            let members: Vec<String> = (ordinals.clone())
                .filter(|ordinal| matches!(ordinal, 2 | 40) || ordinal % 7 != 3)
                .map(|ordinal| match ordinal {
                    2 | 40 => format!("\"m{ordinal}\":null"),
                    _ => format!("\"m{ordinal}\":{ordinal}"),
                })
                .collect();
            let expected = format!("{{{}}}", members.join(","));
            let forwards: Map = ordinals.clone().map(entry).collect();
            let backwards: Map = ordinals.clone().rev().map(entry).collect();
            let mixed: Map = (ordinals.clone().filter(|ordinal| ordinal % 2 == 1))
                .chain(ordinals.clone().filter(|ordinal| ordinal % 2 == 0))
                .map(entry)
                .collect();
            for map in [forwards, backwards, mixed] {
                let written = write(&Value::Map(map), at).unwrap();
                assert_eq!(written, expected, "{count} members, {len} entries");
            }
        }
    }
}

#[test]
fn unknown_entries_are_errors_at_every_size() {
    for count in [1, 32, 33, 256, 257] {
        let set = wide(count, &[], &[], &[]);
        let mut map: Map = (0..count.min(40))
            .map(|ordinal| (format!("m{ordinal}"), Value::Integer(1)))
            .collect();
        map.insert("other", Value::Integer(1));
        let error = write(&Value::Map(map), root(&set)).unwrap_err();
        assert!(error.to_string().contains("other"), "{error}");
    }
}

#[test]
fn required_members_are_found_missing_beyond_64() {
    let required = [0, 62, 63, 64, 65, 127, 128];
    let set = wide(130, &required, &[], &[]);
    let at = root(&set);
    let text = |without: Option<usize>| {
        let members: Vec<String> = (0..130)
            .filter(|ordinal| Some(*ordinal) != without)
            .map(|ordinal| format!("\"m{ordinal}\": {ordinal}"))
            .collect();
        format!("{{{}}}", members.join(","))
    };
    let complete = read(&text(None), at).unwrap();
    assert_eq!(complete.as_map().unwrap().len(), 130);
    for ordinal in required {
        let error = read(&text(Some(ordinal)), at).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing);
        assert!(
            error.to_string().contains(&format!("`m{ordinal}`")),
            "{error}"
        );
    }
}

#[test]
fn flattened_lists_continue_beyond_64() {
    let lists = [1, 63, 64, 65, 100];
    let set = wide(130, &[], &lists, &[]);
    let at = root(&set);
    let part = |number: i64| -> String {
        let items = lists.map(|ordinal| format!("<m{ordinal}>{number}</m{ordinal}>"));
        items.concat()
    };
    let text = format!(
        "<Wide>{}<m0>0</m0>{}<m129>9</m129>{}</Wide>",
        part(1),
        part(2),
        part(3)
    );
    let value = read_xml(&text, at).unwrap();
    for ordinal in lists {
        let items: Vec<i64> = (value[&*format!("m{ordinal}")].as_list().unwrap().iter())
            .map(|item| item.as_i64().unwrap())
            .collect();
        assert_eq!(items, [1, 2, 3], "m{ordinal}");
    }
    assert_eq!(value.as_map().unwrap().len(), 7);
}

#[test]
fn other_lists_occur_once() {
    let lists = [1, 63, 64, 65];
    let set = wide(130, &[], &[], &lists);
    let at = root(&set);
    for ordinal in lists {
        let list = format!("<m{ordinal}><member>1</member></m{ordinal}>");
        assert!(read_xml(&format!("<Wide>{list}</Wide>"), at).is_ok());
        let error = read_xml(&format!("<Wide>{list}<m0>0</m0>{list}</Wide>"), at).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Duplicate, "{error}");
    }
}

#[test]
fn documents_in_unions_may_be_null() {
    let mut builder = SchemaBuilder::new();
    let document = builder.shape(ShapeKind::Document, "smithy.api#Document");
    let integer = builder.shape(ShapeKind::Integer, "smithy.api#Integer");
    let choice = builder.shape(ShapeKind::Union, "example#Wide");
    builder.member(choice, MemberSpec::new("any", document));
    builder.member(choice, MemberSpec::new("number", integer));
    let set = builder.finish().unwrap();
    let at = root(&set);

    let value = read(r#"{"any":null}"#, at).unwrap();
    assert_eq!(write(&value, at).unwrap(), r#"{"any":null}"#);
    assert_eq!(
        read(r#"{"number":null}"#, at).unwrap_err().kind(),
        ErrorKind::WrongType
    );
    let both: Map = [("number", Value::Integer(1)), ("any", Value::Null)]
        .into_iter()
        .collect();
    assert!(write(&Value::Map(both), at).is_err());
    let null_number: Map = [("number", Value::Null)].into_iter().collect();
    assert!(write(&Value::Map(null_number), at).is_err());
}
