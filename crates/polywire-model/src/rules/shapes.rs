//! Rules about shapes, members and what they name.

crate::rules::rules! {
    in ALL_SHAPES;

    DEPRECATED_SHAPE: "DeprecatedShape" + ".SHAPE" [Warning],
        "use of a deprecated shape",
        "Shapes do not use shapes with `@deprecated`.",
        "Use the replacement, if the trait names one.",
        shapes r#"
@deprecated(since: "1.2", message: "use `City` instead")
structure Town {}

structure Country {
    capital: Town
}
"#;
    DUPLICATE_MEMBER: "DuplicateMember" [Error],
        "member defined twice",
        "Each member name occurs once in a shape.",
        "Rename or remove one of the members.",
        shapes r#"
structure City {
    name: String
    name: Integer
}
"#;
    ELIDED_MEMBER: "ElidedMember" [Error],
        "elided member without a source",
        "`$name` takes its target from the resource after `for`, or from a mixin, which has a member or property of that name.",
        "Correct the name, or write the member with its target.",
        shapes r#"
resource City {
    identifiers: { cityId: String }
}

structure GetCityInput for City {
    $cityid
}
"#;
    ENUM_SHAPE: "EnumShape" [Error, Warning],
        "wrong member of an enum",
        "Values of enum members are unique. Those of `enum` are not empty, those of `intEnum` are whole numbers of 32 bits. Names in upper case letters, digits and underscores are recommended, and others are a warning.",
        "Correct the value or the name.",
        shapes r#"
intEnum Level {
    LOW = 1
    HIGH = 1
}
"#;
    MEMBER_CONFLICT: "MemberConflict" [Error],
        "member with two targets",
        "A member that several mixins define, or a mixin and the shape itself, has one target.",
        "Use the same target, or another name.",
        shapes r#"
@mixin
structure Named {
    name: String
}

structure City with [Named] {
    name: Integer
}
"#;
    MISSING_MEMBER: "MissingMember" [Error],
        "list or map without its members",
        "Lists have the member `member`, and maps have `key` and `value`.",
        "Add the member.",
        shapes r#"
list Cities {}
"#;
    MIXIN_CYCLE: "MixinCycle" [Error],
        "cycle of mixins",
        "A mixin does not use itself, neither directly nor through other mixins.",
        "Remove one of the mixins.",
        shapes r#"
@mixin
structure A with [B] {}

@mixin
structure B with [A] {}
"#;
    PRELUDE_SHAPE: "PreludeShape" [Error],
        "change of a shape of Smithy",
        "No traits are applied to shapes of the Smithy prelude.",
        "Define a shape of your own, and apply the trait to it.",
        shapes r#"
apply smithy.api#String @length(min: 1)
"#;
    PRIVATE_ACCESS: "PrivateAccess" [Error, Warning],
        "use of a private shape",
        "Shapes with `@private` are used in their own namespace only. Use of a private trait is a warning.",
        "Use another shape, or remove `@private`.",
        ast r#"
{
    "smithy": "2.0",
    "shapes": {
        "one#Key": { "type": "string", "traits": { "smithy.api#private": {} } },
        "two#City": {
            "type": "structure",
            "members": { "key": { "target": "one#Key" } }
        }
    }
}
"#;
    PRIVATE_MIXIN_MEMBER: "PrivateMixinMember" [Warning],
        "private member of a mixin",
        "`@private` on a member of a mixin has no effect: shapes of other namespaces inherit the member.",
        "Apply `@private` to the mixin, or to the target of the member.",
        shapes r#"
@mixin
structure Base {
    @private
    key: String
}
"#;
    RENAME: "Rename" [Error],
        "invalid name in a rename",
        "The names in `rename` of a service consist of letters, digits and underscores.",
        "Correct the name.",
        ast r#"
{
    "smithy": "2.0",
    "shapes": {
        "example#Weather": {
            "type": "service",
            "version": "1",
            "rename": { "example#City": "big-city" },
            "operations": [{ "target": "example#GetCity" }]
        },
        "example#GetCity": { "type": "operation", "output": { "target": "example#City" } },
        "example#City": { "type": "structure", "members": {} }
    }
}
"#;
    SHAPE_ID_CONFLICT: "ShapeIdConflict" [Error],
        "names that differ only in case",
        "Names of shapes, and names of members in a shape, differ in more than case. Some programming languages and protocols ignore case.",
        "Rename one of them.",
        shapes r#"
structure City {}

structure CITY {}
"#;
    SHAPE_RECURSION: "ShapeRecursion" [Error],
        "shape that contains itself",
        "Every shape has a finite value. Lists and maps that contain themselves, required members that lead back to their structure, and unions without another choice have none.",
        "Put a structure or union between a list and itself. Remove `@required` from one member of the cycle.",
        shapes r#"
structure City {
    @required
    twin: City
}
"#;
    TARGET: "Target" [Error],
        "wrong kind of target",
        "Members target data shapes that are neither traits nor mixins. Keys of maps are strings or enums. Services, resources and operations name shapes of the kind that the property requires.",
        "Use a shape of the expected kind.",
        shapes r#"
operation GetCity {}

structure City {
    get: GetCity
}
"#;
    TARGET_UNRESOLVED_SHAPE: "Target.UnresolvedShape" [Error],
        "unknown shape",
        "The shapes that other shapes name exist.",
        "Correct the name, add a `use` statement, or add the file that defines the shape.",
        shapes r#"
structure City {
    name: Strng
}
"#;
    UNION: "Union" [Error, Warning, Note],
        "wrong union",
        "A union has at least one member. `@box` (a warning) and defaults of targets (a note) have no effect on its members.",
        "Add a member, or remove what has no effect.",
        shapes r#"
union Place {}
"#;
    UNIT_TYPE: "UnitType" [Error],
        "wrong use of `Unit`",
        "`smithy.api#Unit` is the target of members of unions and enums, and the input or output of operations.",
        "Use another target.",
        shapes r#"
structure City {
    nothing: Unit
}
"#;
    UNKNOWN_MEMBER: "UnknownMember" [Error],
        "unknown member of a list or map",
        "Lists have only the member `member`, and maps only `key` and `value`.",
        "Correct the name.",
        shapes r#"
list Cities {
    item: String
}
"#;
    UNRESOLVED_APPLY: "UnresolvedApply" [Error],
        "apply to an unknown shape",
        "`apply` names a shape or member that exists.",
        "Correct the name, or add the file that defines the shape.",
        shapes r#"
structure City {}

apply Citi @sensitive
"#;
    UNRESOLVED_MIXIN: "UnresolvedMixin" [Error],
        "unknown mixin",
        "The mixins of a shape exist.",
        "Correct the name, or add the file that defines the mixin.",
        shapes r#"
structure City with [Named] {}
"#;
    UNRESOLVED_RESOURCE: "UnresolvedResource" [Error],
        "unknown resource after `for`",
        "The resource after `for` exists if a member elides its target.",
        "Correct the name, or add the file that defines the resource.",
        shapes r#"
structure GetCityInput for City {
    $cityId
}
"#;
    WRONG_MIXIN: "WrongMixin" [Error],
        "wrong kind of mixin",
        "A mixin has the same type as the shape that uses it. Mixins of operations have no input and no output.",
        "Use a mixin of the right type.",
        shapes r#"
@mixin
list Names {
    member: String
}

structure City with [Names] {}
"#;
}
