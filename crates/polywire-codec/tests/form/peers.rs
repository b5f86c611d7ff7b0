//! Against the reference implementation, and against the URL standard's own reading of
//! fields.

use std::collections::BTreeMap;

use polywire_codec::form::{FormDecoder, FormEncoder, FormProfile};
use polywire_codec::reference;
use polywire_codec::reference::{Reference, ReferenceSink};
use polywire_codec::{DecodeAny, DecodeWith, Dynamic, EncodeWith};
use polywire_schema::{Decode, Encode, Error, Limits, Map, Member, Value};
use proptest::prelude::*;

use crate::shapes::{root, samples};
use crate::{EC2, QUERY, write};

const SHAPES: [&str; 6] = [
    "Collections",
    "Named",
    "Node",
    "QueryInput",
    "Scalars",
    "Strict",
];

const PROFILES: [FormProfile; 4] = [
    QUERY,
    EC2,
    QUERY.for_client(),
    QUERY.with_protocol_fields(&["name"]),
];

/// So small that ordinary inputs reach them.
const SMALL: Limits = Limits::DEFAULT
    .with_bytes(120)
    .with_depth(3)
    .with_items(4)
    .with_string(6);

fn show(result: &Result<Value, Error>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(_) => "refused".to_owned(),
    }
}

fn same(form: &str, at: Member<'_>, profile: FormProfile, limits: &Limits) {
    let native = || {
        let mut decoder = FormDecoder::from_str(form, profile, limits)?;
        Value::decode(at, &mut decoder)
    };
    let reference = || {
        let mut decoder = reference::form::FormDecoder::new(form, profile, limits)?;
        Value::decode(at, &mut decoder)
    };
    let (native, reference) = (native(), reference());
    assert_eq!(
        show(&native),
        show(&reference),
        "{form} {at:?}: {native:?}, {reference:?}"
    );
    let Ok(value) = native else {
        return;
    };
    let native = write(&value, at, profile);
    let mut encoder = reference::form::FormEncoder::new(profile);
    value.encode(at, &mut encoder);
    match (native, encoder.finish()) {
        (Ok(native), Ok(reference)) => {
            assert_eq!(native, String::from_utf8(reference).unwrap());
            fields_of_the_standard(&native);
        }
        (Err(native), Err(reference)) => assert_eq!(native.kind(), reference.kind()),
        other => panic!("{other:?} of {value:?}"),
    }
}

/// What is written is what the URL standard reads, field by field.
fn fields_of_the_standard(form: &str) {
    let peer: Vec<(String, String)> = form_urlencoded::parse(form.as_bytes())
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect();
    let own = polywire_text::form::pairs(form).map(|pair| {
        let pair = pair.unwrap();
        (pair.key.into_owned(), pair.value.into_owned())
    });
    assert_eq!(own.collect::<Vec<_>>(), peer);
}

/// Keys that are nearly right, and values of all kinds.
fn forms() -> impl Strategy<Value = String> {
    let segment = prop::sample::select(vec![
        "Name",
        "Foo",
        "Flat",
        "renamed",
        "Map",
        "FlatMap",
        "Node",
        "Nodes",
        "name",
        "Renamed",
        "children",
        "choice",
        "choices",
        "number",
        "text",
        "list",
        "empty",
        "left",
        "weight",
        "byKey",
        "dense",
        "matrix",
        "counts",
        "sparseCounts",
        "grouped",
        "member",
        "item",
        "entry",
        "key",
        "value",
        "1",
        "2",
        "3",
        "10",
        "01",
        "0",
        "x",
        "",
        "byte",
        "double",
        "float",
        "boolean",
        "time",
        "httpDate",
        "epochSeconds",
        "blob",
        "bigInteger",
        "id",
        "tags",
        "Action",
        "F%6fo",
        "m%2E1",
        "%",
        "+",
        "\u{e9}",
    ]);
    let value = prop::sample::select(vec![
        "",
        "1",
        "a",
        "true",
        "-5",
        "1.5",
        "NaN",
        "1e400",
        "a+b%20c",
        "AAH%2B",
        "%ff",
        "%",
        "=",
        "2026-11-21T20%3A30%3A00Z",
        "2026-11-21T20%3A30%3A00%2B01%3A00",
        "1795293000.25",
        "300",
        "Sat, 21 Nov 2026 20:30:00 GMT",
        "longer than six",
    ]);
    let keys = prop::collection::vec(segment, 1..6).prop_map(|key| key.join("."));
    let field = prop_oneof![
        9 => (keys.clone(), value).prop_map(|(key, value)| format!("{key}={value}")),
        1 => keys,
    ];
    prop::collection::vec(field, 0..8).prop_map(|fields| fields.join("&"))
}

/// Fields that are right or nearly so, in any order, some twice and most left
/// out.
fn fields() -> impl Strategy<Value = String> {
    let near = "Name=a&Name.x=1&Foo.member.1=b&Foo.member.2=c&Foo.member.02=c&Foo=&Flat.1=x\
        &Flat.3=y&Flat=&Flat.1.x=1&renamed.item.1=7&Map.entry.1.key=k&Map.entry.1.value=1\
        &Map.entry.2.key=l&Map.entry.2.value=2&Map.entry.2.x=1&Map.entry.2.key=k&Map=&FlatMap.1.key=k\
        &FlatMap.1.value=2&Node.name=n&Node=&Node.x=1&Nodes.member.1.name=a&Nodes.member.2.name=b\
        &Nodes.member.2.weight=3&Nodes.member.3.x=1&name=n&left.name=l&left.left.name=ll&choice.number=1\
        &choice.text=t&choice.new=1&choices.member.1.new=1&choices.member.2.number=3\
        &choices.member.3.list.member.1.number=1&byKey.entry.1.key=k&byKey.entry.1.value.name=v\
        &byKey.entry.2.key=k2&matrix.member.1.member.1=1&matrix.member.2=&matrix.member.1=\
        &sparseCounts.entry.1.key=a&counts.entry.1.key=a&counts.entry.1.value=1&grouped.entry.1.key=g\
        &grouped.entry.1.value.member.1=x&grouped.entry.1.value=&Action=A&Version=1&x=1&x.y=%41";
    let field = prop::sample::select(near.split('&').collect::<Vec<_>>());
    prop::collection::vec(field, 0..9).prop_map(|fields| fields.join("&"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_reference_reads_the_same(form in prop_oneof![forms(), fields()]) {
        for shape in SHAPES {
            for profile in PROFILES {
                same(&form, root(shape), profile, &Limits::DEFAULT);
                same(&form, root(shape), profile, &SMALL);
            }
        }
    }

    /// One level of fields, any bytes that are text: the same fields.
    #[test]
    fn form_urlencoded_reads_the_same(
        fields in prop::collection::btree_map("[a-z \u{e9}%&=+.]{1,6}", "\\PC{0,12}", 0..6),
        plus in any::<bool>(),
    ) {
        let mut peer = form_urlencoded::Serializer::new(String::new());
        peer.extend_pairs(&fields);
        let form = peer.finish();
        let form = if plus { form } else { form.replace('+', "%20") };
        let decoder = FormDecoder::from_str(&form, QUERY, &Limits::DEFAULT).unwrap();
        let found: BTreeMap<String, String> = fields
            .keys()
            .map(|key| (key.clone(), decoder.find(key).unwrap().unwrap().into_owned()))
            .collect();
        prop_assert_eq!(found, fields);
    }
}

#[test]
fn whole_messages_through_the_reference() {
    let at = root("Node");
    let node = samples::node_for_forms();
    let form = write(&node, at, QUERY).unwrap();
    let value: Value = crate::read(&form, at, QUERY).unwrap();
    for before in [&b""[..], b"Action=A"] {
        let mut native = FormEncoder::new(QUERY, before.to_vec());
        assert!(Dynamic(&value).encode_with(at, &mut native));
        let mut reference = FormEncoder::new(QUERY, before.to_vec());
        assert!(Reference(Dynamic(&value)).encode_with(at, &mut reference));
        assert_eq!(native.finish().unwrap(), reference.finish().unwrap());
    }
    let mut found = ReferenceSink(Map::new());
    let mut decoder = FormDecoder::from_str(&form, QUERY, &Limits::DEFAULT).unwrap();
    let read = found.decode_with(at, &mut decoder);
    read.unwrap().unwrap();
    found.finish(at, &mut decoder).unwrap();
    assert_eq!(Value::Map(found.0), value);
}
