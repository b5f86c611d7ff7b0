// Facts about AWS services and their resources.
$version: "2.0"

namespace aws.api

@trait(selector: "resource")
structure arn {
    @required template: String
    absolute: Boolean
    noRegion: Boolean
    noAccount: Boolean
    resourceDelimiter: ResourceDelimiter
    reusable: Boolean
}

@trait(selector: "string")
structure arnReference {
    type: String
    resource: String
    service: String
}

@trait(selector: "blob[trait|streaming]", breakingChanges: [{ change: "remove" }])
structure awsChunked {}

@trait(selector: "operation")
structure clientDiscoveredEndpoint {
    @required required: Boolean
}

@trait(selector: "service")
structure clientEndpointDiscovery {
    @idRef(failWhenMissing: true, selector: "operation") @required operation: String
    @idRef(failWhenMissing: true, selector: "structure[trait|error]")
    @recommended
    error: String
}

@trait(
    selector: """
        operation[trait|aws.api#clientDiscoveredEndpoint] -[input]->
        structure > :test(member[trait|required] > string)"""
)
structure clientEndpointDiscoveryId {}

@trait(selector: ":test(service, resource, operation)", conflicts: [dataPlane])
structure controlPlane {}

@trait(selector: ":test(simpleType, list, structure, union, member)")
enum data {
    CUSTOMER_CONTENT = "content"
    CUSTOMER_ACCOUNT_INFORMATION = "account"
    SERVICE_ATTRIBUTES = "usage"
    TAG_DATA = "tagging"
    PERMISSIONS_DATA = "permissions"
}

@trait(selector: ":test(service, resource, operation)", conflicts: [controlPlane])
structure dataPlane {}

@trait(selector: "service")
structure service {
    @required sdkId: String
    arnNamespace: ArnNamespace
    cloudFormationName: CloudFormationName
    cloudTrailEventSource: String
    docId: String
    endpointPrefix: String
    cloudWatchNamespace: CloudWatchMetricNamespace
}

@unstable
@trait(selector: "service")
structure tagEnabled {
    disableDefaultOperations: Boolean
    apiConfig: TaggableServiceApiConfig
}

@unstable
@trait(selector: "resource")
structure taggable {
    property: String
    apiConfig: TaggableApiConfig
    disableSystemTags: Boolean
}

@private
@pattern("^[a-z0-9.\\-]{1,63}$")
string ArnNamespace

@private
@pattern("^[A-Z][A-Za-z0-9]+$")
string CloudFormationName

@private
@length(min: 1, max: 255)
@pattern("^[^:].*$")
string CloudWatchMetricNamespace

@private
enum ResourceDelimiter {
    FORWARD_SLASH = "/"
    COLON = ":"
}

@idRef(failWhenMissing: true, selector: "service > operation")
string ServiceTagOperationReference

@idRef(failWhenMissing: true, selector: "resource > operation")
string TagOperationReference

structure TaggableApiConfig {
    @required tagApi: TagOperationReference
    @required untagApi: TagOperationReference
    @required listTagsApi: TagOperationReference
}

structure TaggableServiceApiConfig {
    tagApi: ServiceTagOperationReference
    untagApi: ServiceTagOperationReference
    listTagsApi: ServiceTagOperationReference
}
