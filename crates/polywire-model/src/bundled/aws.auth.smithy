// How AWS requests are signed.
$version: "2.0"

namespace aws.auth

@internal
@authDefinition
@tags(["internal"])
@trait(selector: "service")
structure cognitoUserPools {
    @required providerArns: StringList
}

@internal
@length(min: 1)
@tags(["internal"])
@trait(selector: "service[trait|aws.auth#cognitoUserPools] ~> operation")
list cognitoUserPoolsScopes {
    member: String
}

@authDefinition(traits: [unsignedPayload])
@trait(selector: "service", breakingChanges: [{ change: "remove" }])
structure sigv4 {
    @length(min: 1) @required name: String
}

@authDefinition(traits: [unsignedPayload])
@trait(selector: "service[trait|aws.auth#sigv4]", breakingChanges: [{ change: "remove" }])
structure sigv4a {
    @length(min: 1) @required name: String
}

@trait(selector: "operation")
structure unsignedPayload {}

@private
list StringList {
    member: String
}
