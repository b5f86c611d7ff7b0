//! Tests of the built sets.

use super::*;
use crate::{MemberFlags, NameEncoding, NameSource};

#[test]
fn every_name_is_found_by_every_source() {
    let mut builder = SchemaBuilder::new();
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let wide = builder.shape(ShapeKind::Structure, "example#Wide");
    let names: Vec<String> = (0..300)
        .map(|index| format!("someLongCommonPrefix{index}Suffix"))
        .collect();
    for (index, name) in names.iter().enumerate() {
        let mut member = MemberSpec::new(name.clone(), string);
        if index % 3 == 0 {
            member = member
                .json_name(&format!("j{index}"))
                .xml_name(&format!("x:{index}"));
        }
        builder.member(wide, member);
    }
    let set = builder.finish().unwrap();
    let wide = set.shape(wide.index());
    for member in wide.members() {
        for source in NameSource::ALL {
            let name = member.plain(source);
            assert_eq!(
                wide.find(source, name.as_bytes()),
                Some(member.ordinal()),
                "{name}"
            );
        }
    }
    for absent in ["", "j1", "someLongCommonPrefix300Suffix", "some"] {
        assert_eq!(wide.find(NameSource::Member, absent.as_bytes()), None);
    }
}

/// Returns the maximum number of names that a lookup compares: for the names of the shape, and for
/// absent names.
fn max_compared(names: &[String], absent: impl Iterator<Item = String>) -> (u32, u32) {
    let mut builder = SchemaBuilder::new();
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let shape = builder.shape(ShapeKind::Structure, "example#Shape");
    for name in names {
        builder.member(shape, MemberSpec::new(name.clone(), string));
    }
    let set = builder.finish().unwrap();
    let shape = set.shape(shape.index());
    let compared = |(ordinal, name): (usize, &String)| {
        let (found, compared) = shape.search(NameSource::Member, name.as_bytes());
        assert_eq!(found, Some(ordinal as u32), "{name}");
        compared
    };
    let present = names.iter().enumerate().map(compared).max();
    let absent = absent.map(|name| {
        let (found, compared) = shape.search(NameSource::Member, name.as_bytes());
        assert_eq!(found, None, "{name}");
        compared
    });
    (present.unwrap(), absent.max().unwrap())
}

#[test]
fn names_that_differ_in_the_middle_need_few_comparisons() {
    let name = |index: u32| format!("configuration{index:06}Parameters");
    let names: Vec<String> = (0..5000).map(name).collect();
    let (present, absent) = max_compared(&names, (5000..10_000).map(name));
    assert!(present <= 16 && absent <= 16, "{present} {absent}");
}

#[test]
fn usual_names_need_few_comparisons() {
    let name = |index: u32| format!("member{index}");
    let names: Vec<String> = (0..200).map(name).collect();
    let (present, absent) = max_compared(&names, (200..400).map(name));
    assert!(present <= 8 && absent <= 16, "{present} {absent}");
}

#[test]
fn encoded_names_have_the_form_of_the_wire() {
    let mut builder = SchemaBuilder::new();
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let shape = builder.shape(ShapeKind::Structure, "example#Shape");
    builder.member(shape, MemberSpec::new("plain", string));
    builder.member(
        shape,
        MemberSpec::new("kind", string)
            .flag(MemberFlags::XML_ATTRIBUTE)
            .xml_name("xsi:type"),
    );
    let spec = MemberSpec::new("cityId", string)
        .json_name("a\"b")
        .xml_namespace(Some("p"), "http://example.com/?a&b");
    builder.member(shape, spec);
    let set = builder.finish().unwrap();
    let shape = set.shape(shape.index());
    let run = |ordinal, encoding| {
        String::from_utf8(shape.member(ordinal).run(encoding).as_bytes().to_vec()).unwrap()
    };
    // The builder moves attributes to the front.
    assert_eq!(shape.member(0).name(), "kind");
    assert_eq!(run(0, NameEncoding::XmlOpen), " xsi:type=\"");
    assert_eq!(run(2, NameEncoding::JsonMember), "\"cityId\":");
    assert_eq!(run(2, NameEncoding::JsonName), "\"a\\\"b\":");
    assert_eq!(run(2, NameEncoding::Cbor), "\u{66}cityId");
    assert_eq!(
        run(2, NameEncoding::XmlRpc),
        "<member><name>cityId</name><value>"
    );
    assert_eq!(
        run(2, NameEncoding::XmlOpen),
        "<cityId xmlns:p=\"http://example.com/?a&amp;b\">"
    );
    assert_eq!(run(2, NameEncoding::XmlClose), "</cityId>");
    assert_eq!(run(2, NameEncoding::Ec2), "CityId");
}

#[test]
fn lists_and_maps_are_checked() {
    let mut builder = SchemaBuilder::new();
    builder.shape(ShapeKind::List, "example#List");
    assert_eq!(
        builder.finish().unwrap_err().to_string(),
        "example#List: a List cannot have 0 members"
    );
}

/// Creates a builder with a structure with one member, whose name has `len` bytes.
pub(super) fn named(len: usize) -> SchemaBuilder {
    let mut builder = SchemaBuilder::new();
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let shape = builder.shape(ShapeKind::Structure, "example#Shape");
    builder.member(shape, MemberSpec::new("n".repeat(len), string));
    builder
}

#[test]
fn a_name_fits_its_cbor_head() {
    let set = named(65_535).finish().unwrap();
    let run = set.shape(1).member(0).run(NameEncoding::Cbor).as_bytes();
    assert_eq!(&run[..4], b"\x79\xff\xffn");
    assert_eq!(run.len(), 3 + 65_535);

    let error = named(65_536).finish().unwrap_err().to_string();
    assert!(error.starts_with("example#Shape: the name `nnn"), "{error}");
    assert!(error.len() < 200, "{error}");
    // The limit applies to the names of all sources.
    let mut builder = named(1);
    builder.root(ShapeRef(1)).json_name = Some("j".repeat(65_536));
    assert!(builder.finish().is_err());
}

#[test]
fn invalid_references_are_rejected() {
    let mut other = named(1);
    for _ in 0..5 {
        other.shape(ShapeKind::Structure, "example#Other");
    }
    let invalid = ShapeRef(6);
    let check = |change: &dyn Fn(&mut SchemaBuilder), expected: &str| {
        let mut builder = named(1);
        change(&mut builder);
        let error = builder.finish().unwrap_err().to_string();
        assert_eq!(error, expected);
    };
    let out_of_bounds = "shape 6 does not exist: the builder has 2 shapes";
    check(
        &|builder| builder.member(invalid, MemberSpec::new("a", ShapeRef(0))),
        out_of_bounds,
    );
    check(
        &|builder| builder.root(invalid).xml_name = None,
        out_of_bounds,
    );
    check(
        &|builder| builder.error(invalid, 400, true, None, None),
        out_of_bounds,
    );
    check(
        &|builder| builder.member(ShapeRef(1), MemberSpec::new("a", invalid)),
        "example#Shape$a: shape 6 does not exist",
    );
    check(
        &|builder| {
            builder.operation(OperationSpec::new("example#Do", ShapeRef(1), invalid));
        },
        "example#Do: shape 6 does not exist",
    );
    check(
        &|builder| {
            let mut spec = OperationSpec::new("example#Do", ShapeRef(1), ShapeRef(1));
            spec.errors = vec![invalid];
            builder.operation(spec);
        },
        "example#Do: shape 6 does not exist",
    );
    check(
        &|builder| {
            builder.service(ServiceSpec {
                id: "example#Service".to_owned(),
                operations: vec![0],
                ..ServiceSpec::default()
            });
        },
        "example#Service: operation 0 does not exist",
    );
}
