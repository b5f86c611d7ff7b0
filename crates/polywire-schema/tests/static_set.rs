//! Tests of a set in a `static`, written by hand in the form of generated code.

use polywire_schema::{
    Location, MemberDef, MemberFlags, MemberSpec, NameEncoding, NameSource, SchemaBuilder,
    SchemaParts, SchemaSet, ShapeDef, ShapeFlags, ShapeKind, Span,
};
use polywire_text::scan::Name;

const EMPTY: Span = span(0, 0);

const fn span(start: u32, len: u32) -> Span {
    Span { start, len }
}

const fn name(run: &[u8]) -> Name {
    match Name::short(run) {
        Some(name) => name,
        None => panic!("the name is too long"),
    }
}

const fn shape(id: Span, kind: ShapeKind, first_member: u32, member_count: u32) -> ShapeDef {
    ShapeDef {
        id,
        kind,
        root: first_member + member_count,
        first_member,
        member_count,
        required: 0,
        lookup: [0; NameSource::COUNT],
        lookup_bits: 0,
        lookup_whole: false,
        variants: [0; 2],
        variant_bits: 0,
        error: 0,
        flags: ShapeFlags::NONE,
    }
}

const fn member(container: u32, target: u32, kind: ShapeKind, ordinal: u32) -> MemberDef {
    MemberDef {
        container,
        target,
        kind,
        location: Location::Body,
        timestamp_format: None,
        flags: MemberFlags::REQUIRED,
        ordinal,
        location_name: EMPTY,
        media_type: EMPTY,
        constraint: 0,
        default: EMPTY,
    }
}

/// The names of the root members of the string and the long, then those of the members of the city
/// and of its root member.
const PLAIN: &[Span] = &[
    span(11, 6),
    span(28, 4),
    span(45, 4),
    span(49, 10),
    span(41, 4),
];

/// The names of all members in one encoding. The names of root members are not used.
macro_rules! names {
    ($name:literal, $population:literal) => {
        &[
            name(b""),
            name(b""),
            name($name),
            name($population),
            name(b""),
        ]
    };
}

static SET: SchemaSet<'static> = SchemaSet::from_parts(SchemaParts {
    shapes: &[
        shape(span(0, 17), ShapeKind::String, 0, 0),
        shape(span(17, 15), ShapeKind::Long, 1, 0),
        shape(span(32, 13), ShapeKind::Structure, 2, 2),
    ],
    members: &[
        member(0, 0, ShapeKind::String, u32::MAX),
        member(1, 1, ShapeKind::Long, u32::MAX),
        member(2, 0, ShapeKind::String, 0),
        member(2, 1, ShapeKind::Long, 1),
        member(2, 2, ShapeKind::Structure, u32::MAX),
    ],
    plain: [PLAIN; NameSource::COUNT],
    names: [
        names!(b"\"name\":", b"\"population\":"),
        names!(b"\"name\":", b"\"population\":"),
        names!(b"\x64name", b"\x6apopulation"),
        names!(b"<name>name", b"<name>population"),
        names!(b"<name", b"<population"),
        names!(b"</name>", b"</population>"),
        names!(b"name", b"population"),
        names!(b"Name", b"Population"),
    ],
    text: "smithy.api#Stringsmithy.api#Longexample1#Citynamepopulation",
    ..SchemaParts::EMPTY
});

#[test]
fn a_static_set_works_like_a_built_set() {
    assert_eq!(SET.shapes().len(), 3);
    let city = SET.find_shape("example1#City").unwrap();
    assert_eq!(city.kind(), ShapeKind::Structure);
    let names: Vec<&str> = city.members().map(|member| member.name()).collect();
    assert_eq!(names, ["name", "population"]);
    let population = city.member(1);
    assert_eq!(population.target().id(), "smithy.api#Long");
    assert_eq!(population.kind(), ShapeKind::Long);
    assert!(population.is_required());
    let run = population.run(NameEncoding::JsonName);
    assert_eq!(run.as_bytes(), b"\"population\":");
    assert_eq!(city.find(NameSource::Member, b"population"), Some(1));
    assert_eq!(city.find(NameSource::Json, b"mayor"), None);
    assert_eq!(city.root().target(), city);
}

#[test]
fn a_set_can_be_copied_by_its_parts() {
    let mut builder = SchemaBuilder::new();
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let wide = builder.shape(ShapeKind::Structure, "example#Wide");
    for index in 0..20 {
        // Includes names that are too long for the name table.
        let name = format!("member{index}{}", "x".repeat(index * 3));
        builder.member(wide, MemberSpec::new(name, string));
    }
    let built = builder.finish().unwrap();
    let copied = SchemaSet::from_parts(built.parts());
    let (built, copied) = (built.shape(1), copied.shape(1));
    for (one, other) in built.members().zip(copied.members()) {
        assert_eq!(one.name(), other.name());
        let run = other.run(NameEncoding::XmlRpc).as_bytes();
        assert_eq!(one.run(NameEncoding::XmlRpc).as_bytes(), run);
        let found = copied.find(NameSource::Member, one.name().as_bytes());
        assert_eq!(found, Some(one.ordinal()));
    }
}

#[test]
fn inconsistent_parts_are_rejected() {
    let parts = SET.parts();
    let is_rejected = |parts: SchemaParts<'static>| {
        std::panic::catch_unwind(|| SchemaSet::from_parts(parts)).is_err()
    };
    assert!(!is_rejected(parts));
    assert!(is_rejected(SchemaParts {
        shapes: &parts.shapes[..2],
        ..parts
    }));
    assert!(is_rejected(SchemaParts {
        members: &parts.members[..4],
        ..parts
    }));
    let mut fewer = parts;
    fewer.plain[4] = &parts.plain[4][..4];
    assert!(is_rejected(fewer));
    let mut fewer = parts;
    fewer.names[7] = &[];
    assert!(is_rejected(fewer));
}
