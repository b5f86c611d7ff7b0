//! Sets as they come out of the builder.

use super::*;
use crate::{Encoding, MemberFlags, NameSource};

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
        for source in [
            NameSource::Member,
            NameSource::Json,
            NameSource::Xml,
            NameSource::Query,
            NameSource::Ec2,
        ] {
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

/// The most names that a look-up compares, by name and for names that the
/// shape does not have.
fn most_compared(names: &[String], absent: impl Iterator<Item = String>) -> (u32, u32) {
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
fn names_that_differ_in_the_middle_are_told_apart() {
    let name = |index: u32| format!("configuration{index:06}Parameters");
    let names: Vec<String> = (0..5000).map(name).collect();
    let (present, absent) = most_compared(&names, (5000..10_000).map(name));
    assert!(present <= 16 && absent <= 16, "{present} {absent}");
}

#[test]
fn usual_names_are_compared_a_few_times() {
    let name = |index: u32| format!("member{index}");
    let names: Vec<String> = (0..200).map(name).collect();
    let (present, absent) = most_compared(&names, (200..400).map(name));
    assert!(present <= 8 && absent <= 16, "{present} {absent}");
}

#[test]
fn runs_are_what_stands_on_the_wire() {
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
    // The attribute has moved to the front.
    assert_eq!(shape.member(0).name(), "kind");
    assert_eq!(run(0, Encoding::XmlOpen), " xsi:type=\"");
    assert_eq!(run(2, Encoding::JsonMember), "\"cityId\":");
    assert_eq!(run(2, Encoding::JsonName), "\"a\\\"b\":");
    assert_eq!(run(2, Encoding::Cbor), "\u{66}cityId");
    assert_eq!(
        run(2, Encoding::XmlRpc),
        "<member><name>cityId</name><value>"
    );
    assert_eq!(
        run(2, Encoding::XmlOpen),
        "<cityId xmlns:p=\"http://example.com/?a&amp;b\">"
    );
    assert_eq!(run(2, Encoding::XmlClose), "</cityId>");
    assert_eq!(run(2, Encoding::Ec2), "CityId");
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

/// A builder with a structure of one member, whose name is of this length.
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
    let run = set.shape(1).member(0).run(Encoding::Cbor).as_bytes();
    assert_eq!(&run[..4], b"\x79\xff\xffn");
    assert_eq!(run.len(), 3 + 65_535);

    let error = named(65_536).finish().unwrap_err().to_string();
    assert!(error.starts_with("example#Shape: the name `nnn"), "{error}");
    assert!(error.len() < 200, "{error}");
    // The name of any wire counts.
    let mut builder = named(1);
    builder.root(ShapeRef(1)).json_name = Some("j".repeat(65_536));
    assert!(builder.finish().is_err());
}

#[test]
fn shapes_of_another_builder_are_refused() {
    let mut other = named(1);
    for _ in 0..5 {
        other.shape(ShapeKind::Structure, "example#Other");
    }
    let stray = ShapeRef(6);
    let check = |wrong: &dyn Fn(&mut SchemaBuilder), expected: &str| {
        let mut builder = named(1);
        wrong(&mut builder);
        let error = builder.finish().unwrap_err().to_string();
        assert_eq!(error, expected);
    };
    let elsewhere = "a shape of another builder: number 6, of 2";
    check(
        &|builder| builder.member(stray, MemberSpec::new("a", ShapeRef(0))),
        elsewhere,
    );
    check(&|builder| builder.root(stray).xml_name = None, elsewhere);
    check(
        &|builder| builder.error(stray, 400, true, None, None),
        elsewhere,
    );
    check(
        &|builder| builder.member(ShapeRef(1), MemberSpec::new("a", stray)),
        "example#Shape$a: there is no shape number 6",
    );
    check(
        &|builder| {
            builder.operation(OperationSpec::new("example#Do", ShapeRef(1), stray));
        },
        "example#Do: there is no shape number 6",
    );
    check(
        &|builder| {
            let mut spec = OperationSpec::new("example#Do", ShapeRef(1), ShapeRef(1));
            spec.errors = vec![stray];
            builder.operation(spec);
        },
        "example#Do: there is no shape number 6",
    );
    check(
        &|builder| {
            builder.service(ServiceSpec {
                id: "example#Service".to_owned(),
                operations: vec![0],
                ..ServiceSpec::default()
            });
        },
        "example#Service: there is no operation number 0",
    );
}
