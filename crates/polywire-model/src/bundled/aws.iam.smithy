// What permissions need to know.
$version: "2.0"

namespace aws.iam

@deprecated(message: "iamAction has it as `name`", since: "2023-11-10")
@trait(selector: "operation")
string actionName

@deprecated(message: "iamAction has it as `documentation`", since: "2023-11-10")
@trait(selector: "operation")
string actionPermissionDescription

@pattern("^(([A-Za-z0-9][A-Za-z0-9-\\.]{0,62}:)?[^:\\s]+)$")
@trait(selector: "member")
string conditionKeyValue

@trait(selector: ":test(resource, operation)")
list conditionKeys {
    member: ConditionKeyName
}

@trait(selector: "service")
map defineConditionKeys {
    key: ConditionKeyName
    value: ConditionKeyDefinition
}

@trait(selector: ":test(service, resource)")
structure disableConditionKeyInference {}

@trait(selector: "operation")
structure iamAction {
    name: String
    documentation: String
    relativeDocumentation: String
    requiredActions: RequiredActionsList
    resources: ActionResources
    createsResources: ResourceNameList
}

@trait(selector: "resource")
structure iamResource {
    name: String
    relativeDocumentation: String
    disableConditionKeyInheritance: Boolean
}

@deprecated(message: "iamAction has it as `requiredActions`", since: "2023-11-10")
@trait(selector: "operation")
list requiredActions {
    member: IamIdentifier
}

@trait(selector: "service")
list serviceResolvedConditionKeys {
    member: ConditionKeyName
}

@trait(selector: ":test(service, operation)")
list supportedPrincipalTypes {
    member: PrincipalType
}

@private
structure ActionResource {
    conditionKeys: ConditionKeysList
}

@private
map ActionResourceMap {
    key: ResourceName
    value: ActionResource
}

@private
structure ActionResources {
    required: ActionResourceMap
    optional: ActionResourceMap
}

@private
structure ConditionKeyDefinition {
    @required type: ConditionKeyType
    documentation: String
    externalDocumentation: String
    relativeDocumentation: String
    required: Boolean
}

@private
@pattern("^(([A-Za-z0-9][A-Za-z0-9-\\.]{0,62}:)?[^:\\s]+)$")
string ConditionKeyName

@private
enum ConditionKeyType {
    ARN
    ARRAY_OF_ARN = "ArrayOfARN"
    BINARY = "Binary"
    ARRAY_OF_BINARY = "ArrayOfBinary"
    STRING = "String"
    ARRAY_OF_STRING = "ArrayOfString"
    NUMERIC = "Numeric"
    ARRAY_OF_NUMERIC = "ArrayOfNumeric"
    DATE = "Date"
    ARRAY_OF_DATE = "ArrayOfDate"
    BOOL = "Bool"
    ARRAY_OF_BOOL = "ArrayOfBool"
    IP_ADDRESS = "IPAddress"
    ARRAY_OF_IP_ADDRESS = "ArrayOfIPAddress"
}

@private
@uniqueItems
list ConditionKeysList {
    member: String
}

@private
@pattern("^([A-Za-z0-9][A-Za-z0-9-\\.]{0,62}:[^:]+)$")
string IamIdentifier

@private
enum PrincipalType {
    ROOT = "Root"
    IAM_USER = "IAMUser"
    IAM_ROLE = "IAMRole"
    FEDERATED_USER = "FederatedUser"
}

@private
@uniqueItems
list RequiredActionsList {
    member: IamIdentifier
}

@private
string ResourceName

@private
@uniqueItems
list ResourceNameList {
    member: ResourceName
}
