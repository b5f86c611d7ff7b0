//! Rules about traits: where they are applied, and their values.

crate::rules::rules! {
    in ALL_TRAITS;

    DEFAULT_TRAIT: "DefaultTrait" [Error, Warning],
        "wrong default",
        "A default matches its shape and its constraints. A member repeats the default of its target, or has the default `null`. A blob whose default is not base64 is a warning.",
        "Correct the value.",
        shapes r#"
structure City {
    name: String = 3
}
"#;
    DEFAULT_TRAIT_MEMBER_INVALID_RANGE: "DefaultTrait.Member.InvalidRange" [Error, Warning],
        "default out of the range of the member",
        "A default is in the range of `@range` on the member. The default 0 is a warning, because models of Smithy 1.0 often have it.",
        "Change the default or the range.",
        shapes r#"
structure City {
    @range(min: 5)
    size: Integer = 1
}
"#;
    DEFAULT_TRAIT_TARGET_INVALID_RANGE: "DefaultTrait.Target.InvalidRange" [Error, Warning],
        "default out of the range of the target",
        "A default is in the range of `@range` on the target. The default 0 is a warning, because models of Smithy 1.0 often have it.",
        "Change the default or the range.",
        shapes r#"
@range(min: 5)
integer Size

structure City {
    size: Size = 1
}
"#;
    DEPRECATED_TRAIT: "DeprecatedTrait" [Warning],
        "use of a deprecated trait",
        "Traits whose definition has `@deprecated` are not applied.",
        "Use the replacement, if the definition names one.",
        shapes r#"
@trait
@deprecated
structure mark {}

@mark
structure City {}
"#;
    ENUM_NAMES_PRESENT: "EnumNamesPresent" [Warning],
        "`@enum` without names",
        "Entries of `@enum` have a `name`, which code generators use.",
        "Add names, or write an `enum` shape.",
        idl r#"
$version: "1.0"

namespace example

@enum([{ value: "red" }])
string Color
"#;
    ENUM_TRAIT: "EnumTrait" [Error, Warning],
        "wrong value of `@enum`",
        "Values and names of `@enum` are unique, and either all entries have a name or none has. Names in upper case letters, digits and underscores are recommended, and others are a warning.",
        "Correct the entries, or write an `enum` shape.",
        idl r#"
$version: "1.0"

namespace example

@enum([
    { value: "red", name: "RED" }
    { value: "red", name: "CRIMSON" }
])
string Color
"#;
    EXCLUSIVE_STRUCTURE_MEMBER_TRAIT: "ExclusiveStructureMemberTrait" [Error],
        "trait that only one member can have",
        "A trait that is defined with `structurallyExclusive` is applied to at most one member of a structure, or to the target of at most one.",
        "Keep the trait on one member.",
        shapes r#"
@trait(selector: "structure > member", structurallyExclusive: "member")
structure main {}

structure City {
    @main
    name: String

    @main
    title: String
}
"#;
    JSON_NAME: "JsonName" [Error],
        "two members with one name in JSON",
        "Members of a structure or union have different names in JSON.",
        "Change one of the names.",
        shapes r#"
structure City {
    name: String

    @jsonName("name")
    title: String
}
"#;
    LENGTH_TRAIT: "LengthTrait" [Error],
        "wrong bounds of `@length`",
        "`@length` has `min`, `max` or both. They are not negative, and `min` is not greater than `max`.",
        "Correct the bounds.",
        shapes r#"
@length(min: 3, max: 2)
string Name
"#;
    MEDIA_TYPE: "MediaType" [Error],
        "malformed media type",
        "The value of `@mediaType` is a media type.",
        "Write a media type such as `image/png` or `text/plain; charset=utf-8`.",
        shapes r#"
@mediaType("json")
string Text
"#;
    MODEL_DEPRECATION: "ModelDeprecation" [Warning],
        "deprecated feature of Smithy",
        "`@enum` is deprecated.",
        "Write an `enum` shape.",
        shapes r#"
@enum([{ value: "red", name: "RED" }])
string Color
"#;
    NOT_A_TRAIT: "NotATrait" [Error],
        "shape applied that is not a trait",
        "Only shapes with `@trait` are applied to shapes.",
        "Add `@trait` to the definition, or apply another shape.",
        shapes r#"
structure mark {}

@mark
structure City {}
"#;
    PATTERN_TRAIT: "PatternTrait" [Error, Warning],
        "wrong regular expression",
        "The value of `@pattern` is a regular expression of ECMA 262. One without `^` and `$` is a warning, because it matches any part of a text.",
        "Correct the expression. Write `.*` where the rest of the text may be anything.",
        shapes r#"
@pattern("^(abc$")
string Code
"#;
    RANGE_TRAIT: "RangeTrait" [Error],
        "wrong bounds of `@range`",
        "`@range` has `min`, `max` or both. `min` is not greater than `max`, and the bounds of integers are whole numbers.",
        "Correct the bounds.",
        shapes r#"
@range(min: 3, max: 2)
integer Size
"#;
    TRAIT_BREAKING_CHANGES: "TraitBreakingChanges" [Error],
        "wrong path in `breakingChanges`",
        "The paths in `breakingChanges` of a trait definition lead to a part of the trait.",
        "Correct the path.",
        shapes r#"
@trait(breakingChanges: [{ path: "/sise", change: "any" }])
structure part {
    size: Integer
}
"#;
    TRAIT_CONFLICT: "TraitConflict" [Error],
        "trait applied twice, or conflicting traits",
        "A trait has one value on a shape, and arrays are joined. Traits that exclude each other by `conflicts` are not on one shape.",
        "Remove one of the traits.",
        shapes r#"
@documentation("A town.")
structure City {}

apply City @documentation("A city.")
"#;
    TRAIT_SELECTOR: "TraitSelector" [Error],
        "invalid selector of a trait",
        "The `selector` of a trait definition is a valid selector.",
        "Correct the selector.",
        shapes r#"
@trait(selector: "structure > membr")
structure mark {}
"#;
    TRAIT_TARGET: "TraitTarget" [Error],
        "trait on the wrong shape",
        "A trait is applied to shapes that the selector of its definition matches.",
        "Remove the trait, or apply it to another shape.",
        shapes r#"
@readonly
structure City {}
"#;
    TRAIT_VALUE: "TraitValue" [Error, Warning],
        "wrong value of a trait",
        "The value of a trait matches the shape that defines the trait, with its constraints. An object for a union without a member is a warning.",
        "Correct the value.",
        shapes r#"
@documentation(3)
structure City {}
"#;
    TRAIT_VALUE_MEMBER_INVALID_RANGE: "TraitValue.Member.InvalidRange" [Error],
        "number out of the range of the member",
        "Numbers in the value of a trait are in the range of `@range` on the member.",
        "Correct the number.",
        shapes r#"
@trait
structure size {
    @range(min: 1)
    meters: Integer
}

@size(meters: 0)
structure City {}
"#;
    TRAIT_VALUE_TARGET_INVALID_RANGE: "TraitValue.Target.InvalidRange" [Error],
        "number out of the range of the target",
        "Numbers in the value of a trait are in the range of `@range` on the target.",
        "Correct the number.",
        shapes r#"
@range(min: 1)
integer Meters

@trait
structure size {
    meters: Meters
}

@size(meters: 0)
structure City {}
"#;
    TRAIT_VALUE_UNKNOWN_MEMBER: "TraitValue.UnknownMember" [Error, Warning],
        "unknown member in the value of a trait",
        "Objects in the value of a trait have only members of the structure that defines them. It is an error for a union.",
        "Correct the name, or remove the member.",
        shapes r#"
@length(min: 1, maximum: 3)
string Name
"#;
    UNKNOWN_TRAIT: "UnknownTrait" [Error, Warning],
        "unknown trait",
        "The traits that are applied have definitions. It is an error with the option `--deny-unknown-traits`.",
        "Correct the name, add a `use` statement, or add the file that defines the trait.",
        shapes r#"
@sensitiv
string Password
"#;
    UNSTABLE_TRAIT: "UnstableTrait" + ".TRAIT" [Warning],
        "use of an unstable trait",
        "Traits whose definition has `@unstable` can change or disappear.",
        "Replace the trait, or suppress the finding.",
        shapes r#"
@trait
@unstable
structure draft {}

@draft
structure City {}
"#;
    XML_FLATTENED_TRAIT: "XmlFlattenedTrait" [Warning],
        "name in XML without effect",
        "`@xmlFlattened` names items by the member of the structure. `@xmlName` on the member of the list has no effect then.",
        "Apply `@xmlName` to the member of the structure.",
        shapes r#"
structure City {
    @xmlFlattened
    names: Names
}

list Names {
    @xmlName("Name")
    member: String
}
"#;
    XML_NAMESPACE_TRAIT: "XmlNamespaceTrait" [Error],
        "invalid namespace in XML",
        "The `uri` of `@xmlNamespace` is a URI.",
        "Write a URI such as `http://example.com/weather`.",
        shapes r#"
@xmlNamespace(uri: "not a uri")
structure City {}
"#;
}
