// How AWS requests are signed.
$version: "2.0"

namespace aws.auth

@authDefinition
@trait(selector: "service")
structure sigv4 {
    @required
    name: String
}

@authDefinition
@trait(selector: "service")
structure sigv4a {
    @required
    name: String
}

@trait(selector: "operation")
structure unsignedPayload {}

@authDefinition
@trait(selector: "service")
structure cognitoUserPools {
    @required
    providerArns: ProviderArns
}

@private
list ProviderArns {
    member: String
}
