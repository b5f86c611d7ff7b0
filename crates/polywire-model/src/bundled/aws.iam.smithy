// What permissions need to know. The details are kept as documents.
$version: "2.0"

namespace aws.iam

@trait(selector: ":is(service, resource, operation)")
string actionPermissionDescription

@trait(selector: ":is(resource, operation)")
string actionName

@trait(selector: ":is(service, resource, operation)")
list conditionKeys {
    member: String
}

@trait(selector: "service")
document defineConditionKeys

@trait(selector: "resource")
structure disableConditionKeyInference {}

@trait(selector: "service, resource")
structure disableConditionKeyInferenceForResources {}

@trait(selector: "operation")
document iamAction

@trait(selector: "resource")
document iamResource

@trait(selector: "operation")
list requiredActions {
    member: String
}

@trait(selector: "service")
list supportedPrincipalTypes {
    member: String
}

@trait(selector: "service")
list serviceResolvedConditionKeys {
    member: String
}

@trait(selector: "structure > member")
string conditionKeyValue
