//! Rules about the text of a file: IDL, JSON AST, metadata, and how files are joined.

crate::rules::rules! {
    in ALL_SYNTAX;

    CONTROL_STATEMENT: "ControlStatement" [Error, Warning],
        "wrong control statement",
        "Control statements (`$name: value`) have a known name and a value of the right type. An unknown name is a warning.",
        "Correct the name or the value.",
        idl r#"
$version: "2"
$operationInputSuffix: 3

namespace example
"#;
    DUPLICATE_KEY: "DuplicateKey" [Error],
        "duplicate key in an object",
        "Each key occurs once in an object.",
        "Remove one of the two entries.",
        shapes r#"
@externalDocumentation(home: "https://example.com/a", home: "https://example.com/b")
structure City {}
"#;
    DUPLICATE_SHAPE: "DuplicateShape" [Error],
        "shape defined twice",
        "A shape id is defined once. Equal definitions in several files are joined.",
        "Rename one of the shapes, or keep only one.",
        shapes r#"
structure City {}

union City {
    name: String
}
"#;
    DUPLICATE_USE: "DuplicateUse" [Error, Warning],
        "name used twice",
        "Each `use` statement imports a different name. Importing the same shape twice is a warning.",
        "Remove one of the statements, and write the full id of that shape.",
        idl r#"
$version: "2"

namespace example

use smithy.api#String
use smithy.api#String
"#;
    JSON_SYNTAX: "JsonSyntax" [Error],
        "invalid JSON",
        "A file with the extension `.json` is valid JSON.",
        "Correct the syntax at the given place.",
        ast r#"
{
    "smithy": "2.0"
    "shapes": {}
}
"#;
    LINE_BREAK: "LineBreak" [Warning],
        "missing line break",
        "The grammar of Smithy requires a line break after the value that is assigned to a member. Other tools reject the file.",
        "Put the next member or the closing brace on a new line.",
        shapes r#"
structure City { name: String = "Bern" }
"#;
    MEMBER_NAME: "MemberName" [Error],
        "invalid member name",
        "Member names consist of letters, digits and underscores.",
        "Rename the member. A trait such as `@jsonName` can keep its name on the wire.",
        ast r#"
{
    "smithy": "2.0",
    "shapes": {
        "example#City": {
            "type": "structure",
            "members": { "city-name": { "target": "smithy.api#String" } }
        }
    }
}
"#;
    METADATA_CONFLICT: "MetadataConflict" [Error],
        "metadata with two values",
        "Definitions of one metadata key are equal or arrays. Arrays are joined.",
        "Keep one of the values.",
        idl r#"
$version: "2"

metadata team = "maps"
metadata team = "weather"

namespace example
"#;
    MISSING_PROPERTY: "MissingProperty" [Error],
        "missing property in the JSON AST",
        "Each shape has a `type`, and each member and reference has a `target`.",
        "Add the property.",
        ast r#"
{
    "smithy": "2.0",
    "shapes": {
        "example#City": { "members": {} }
    }
}
"#;
    MODEL_VERSION: "ModelVersion" [Error, Warning],
        "wrong version of Smithy",
        "A file states a known version of Smithy, and uses only what that version has. A file without a version is read as Smithy 1.0, with a warning.",
        "State the version in the first line: `$version: \"2\"`. Replace what the version does not have.",
        shapes r#"
@box
integer Count
"#;
    SHAPE_ID: "ShapeId" [Error],
        "invalid shape id",
        "Shape ids have the form `namespace#Name` or `namespace#Name$member`. The JSON AST has absolute ids only.",
        "Write the full id.",
        ast r#"
{
    "smithy": "2.0",
    "shapes": {
        "City": { "type": "structure", "members": {} }
    }
}
"#;
    SYNTAX: "Syntax" [Error],
        "invalid Smithy IDL",
        "A file with the extension `.smithy` matches the grammar of the Smithy IDL.",
        "Correct the syntax at the given place.",
        shapes r#"
structure City {
    name String
}
"#;
    UNKNOWN_PROPERTY: "UnknownProperty" [Warning],
        "unknown property",
        "Objects of the JSON AST, and services and resources in IDL, have only properties that Smithy defines for them. Others are ignored.",
        "Correct the name, or remove the property.",
        shapes r#"
resource City {
    identifier: { cityId: String }
}
"#;
    UNKNOWN_SHAPE_TYPE: "UnknownShapeType" [Error],
        "unknown shape type",
        "The `type` of a shape in the JSON AST is one that Smithy defines.",
        "Correct the type.",
        ast r#"
{
    "smithy": "2.0",
    "shapes": {
        "example#City": { "type": "strucure", "members": {} }
    }
}
"#;
    UNRESOLVED_SHAPE_ID: "UnresolvedShapeId" [Warning],
        "unquoted word that is not a shape",
        "A word without quotes in a value of the IDL is the name of a shape. Otherwise it is read as text.",
        "Put text in quotes, or correct the name of the shape.",
        shapes r#"
@tags([maps])
structure City {}
"#;
    UNRESOLVED_USE: "UnresolvedUse" [Warning],
        "use of an unknown shape",
        "`use` statements name shapes that exist.",
        "Correct the id, add the file that defines the shape, or remove the statement.",
        idl r#"
$version: "2"

namespace example

use smithy.api#Strin
"#;
    USE_CONFLICT: "UseConflict" [Error],
        "use of a name that the namespace defines",
        "`use` statements do not import names that the namespace of the file defines.",
        "Remove the statement, and write the full id of the other shape.",
        idl r#"
$version: "2"

namespace example

use smithy.api#Integer

integer Integer
"#;
    WRONG_NODE: "WrongNode" [Error],
        "value of the wrong type",
        "Parts of a model have the type that Smithy defines for them, such as an object for a member in the JSON AST.",
        "Write a value of the expected type.",
        ast r#"
{
    "smithy": "2.0",
    "shapes": []
}
"#;
    WRONG_TARGET: "WrongTarget" [Error],
        "target of an enum member",
        "Members of enums target `smithy.api#Unit` in the JSON AST.",
        "Write `smithy.api#Unit` as the target.",
        ast r#"
{
    "smithy": "2.0",
    "shapes": {
        "example#Color": {
            "type": "enum",
            "members": { "RED": { "target": "smithy.api#String" } }
        }
    }
}
"#;
    METADATA_TRAIT: "MetadataTrait" [Error],
        "metadata key described twice",
        "A key is described by at most one shape with `@metadata`, and not if Smithy itself describes it.",
        "Use another key.",
        shapes r#"
@metadata(key: "validators")
list Validators {
    member: String
}
"#;
    SEVERITY_OVERRIDES: "SeverityOverrides" [Error, Warning],
        "invalid metadata `severityOverrides`",
        "Entries of the metadata `severityOverrides` have an `id`, a `namespace` and the `severity` WARNING or DANGER. Unknown keys are a warning.",
        "Correct the entry.",
        idl r#"
$version: "2"

metadata severityOverrides = [
    { id: "UnstableTrait", namespace: "example", severity: "NOTE" }
]

namespace example
"#;
    SUPPRESSIONS: "Suppressions" [Error, Warning],
        "invalid metadata `suppressions`",
        "Entries of the metadata `suppressions` have an `id` and a `namespace`. Unknown keys are a warning.",
        "Correct the entry.",
        idl r#"
$version: "2"

metadata suppressions = [
    { id: "UnstableTrait" }
]

namespace example
"#;
    TYPED_METADATA: "TypedMetadata" [Error, Warning],
        "metadata that does not match its shape",
        "A metadata value matches the shape that describes its key with `@metadata`. An object for a union without a member is a warning.",
        "Correct the value.",
        idl r#"
$version: "2"

metadata owner = 3

namespace example

@metadata(key: "owner")
string Owner
"#;
    TYPED_METADATA_UNKNOWN_MEMBER: "TypedMetadata.UnknownMember" [Error, Warning],
        "unknown member in metadata",
        "Objects in metadata have only members of the structure that describes them. It is an error for a union.",
        "Correct the name, or remove the member.",
        idl r#"
$version: "2"

metadata owner = { nam: "maps" }

namespace example

@metadata(key: "owner")
structure Owner {
    name: String
}
"#;
    UNKNOWN_VALIDATOR: "UnknownValidator" + "_NAME" [Warning],
        "unknown validator",
        "The metadata `validators` names `EmitEachSelector` or `EmitNoneSelector`. Other validators are not run.",
        "Use one of these validators, or run the other one with its own tool.",
        idl r#"
$version: "2"

metadata validators = [
    { name: "CamelCase" }
]

namespace example
"#;
    VALIDATORS: "Validators" [Error, Warning],
        "invalid metadata `validators`",
        "Entries of the metadata `validators` have a `name`, a `configuration` with a `selector`, and values of the right type. Unknown keys are a warning.",
        "Correct the entry.",
        idl r#"
$version: "2"

metadata validators = [
    { name: "EmitEachSelector", configuration: { selector: "structure > membr" } }
]

namespace example
"#;
}
