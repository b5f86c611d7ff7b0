//! Rules about resources.

crate::rules::rules! {
    in ALL_RESOURCES;

    DEFAULT_VALUE_IN_UPDATE: "DefaultValueInUpdate" [Warning],
        "default in the input of an update",
        "Inputs of update operations have no defaults. With a default, a member that the caller omits overwrites the stored value.",
        "Remove the default.",
        shapes r#"
operation UpdateCity {
    input := {
        name: String = ""
    }
}
"#;
    MEMBER_SHOULD_REFERENCE_RESOURCE: "MemberShouldReferenceResource" [Warning],
        "member like an identifier, without a reference",
        "A structure has `@references` for a member whose name and target are those of the identifier of a resource.",
        "Apply `@references` to the structure, or rename the member.",
        shapes r#"
resource City {
    identifiers: { cityId: String }
}

structure Report {
    cityId: String
}
"#;
    REFERENCES_TRAIT: "ReferencesTrait" [Error],
        "wrong reference",
        "`@references` names resources, and `ids` names members for all their identifiers. A string can reference resources with one identifier only.",
        "Correct the reference.",
        shapes r#"
resource City {
    identifiers: { country: String, name: String }
}

@references([{ resource: City }])
string CityName
"#;
    RESOURCE_CYCLE: "ResourceCycle" [Error],
        "cycle of resources",
        "A resource is not its own descendant.",
        "Remove one of the resources from `resources`.",
        shapes r#"
resource A {
    resources: [B]
}

resource B {
    resources: [A]
}
"#;
    RESOURCE_IDENTIFIER: "ResourceIdentifier" [Error],
        "wrong identifiers of a resource",
        "A resource has the identifiers of its parent with the same targets, and no identifier is also a property.",
        "Correct the identifiers.",
        shapes r#"
resource Country {
    identifiers: { country: String }
    resources: [City]
}

resource City {
    identifiers: { cityId: String }
}
"#;
    RESOURCE_IDENTIFIER_BINDING: "ResourceIdentifierBinding" [Error, Warning],
        "wrong identifiers in the input of an operation",
        "Operations of an instance take all identifiers of the resource as required members with the same targets. Operations of the collection do not take all of them. A second member for one identifier is a warning.",
        "Correct the members of the input. A member of another name has `@resourceIdentifier`.",
        shapes r#"
resource City {
    identifiers: { cityId: String }
    operations: [PaintCity]
}

operation PaintCity {}
"#;
    RESOURCE_LIFECYCLE: "ResourceLifecycle" [Error],
        "lifecycle operation with the wrong trait",
        "`read` and `list` have `@readonly`, `put` and `delete` have `@idempotent`, and the operations that write do not have `@readonly`.",
        "Correct the traits of the operation.",
        shapes r#"
resource City {
    identifiers: { cityId: String }
    create: CreateCity
}

@readonly
operation CreateCity {}
"#;
    RESOURCE_OPERATION_INPUT_OUTPUT: "ResourceOperationInputOutput" [Error],
        "properties that do not match the operations",
        "Members of inputs and outputs of a resource are its properties or identifiers, with the same targets. Each property is used by one of the operations.",
        "Correct the properties of the resource. A member that is neither has `@notProperty`.",
        shapes r#"
resource City {
    identifiers: { cityId: String }
    properties: { population: Integer }
}
"#;
}
