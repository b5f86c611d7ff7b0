// Facts about AWS services and their resources.
$version: "2.0"

namespace aws.api

@trait(selector: "service")
structure service {
    @required
    sdkId: String

    arnNamespace: String
    cloudFormationName: String
    cloudTrailEventSource: String
    docId: String
    endpointPrefix: String
}

@trait(selector: "resource")
structure arn {
    @required
    template: String

    absolute: Boolean
    noAccount: Boolean
    noRegion: Boolean
    reusable: Boolean
    resourceDelimiter: String
}

@trait(selector: ":test(string, member > string)")
structure arnReference {
    type: String
    resource: String
    service: String
}

@trait(selector: "service")
structure clientEndpointDiscovery {
    @required
    operation: String

    error: String
}

@trait(selector: "operation")
structure clientDiscoveredEndpoint {
    @required
    required: Boolean
}

@trait(selector: "structure > :test(member[trait|required] > string)")
structure clientEndpointDiscoveryId {}

@trait(selector: "service, resource, operation")
structure controlPlane {}

@trait(selector: "service, resource, operation")
structure dataPlane {}

@trait(selector: ":is(simpleType, list, structure, union, member)")
enum data {
    CUSTOMER_CONTENT = "content"
    CUSTOMER_ACCOUNT_INFORMATION = "account"
    SERVICE_ATTRIBUTES = "usage"
    TAG_DATA = "tagging"
    PERMISSIONS_DATA = "permissions"
}

@trait(selector: "service")
structure tagEnabled {
    disableDefaultOperations: Boolean
}

@trait(selector: "resource")
structure taggable {
    property: String
    apiConfig: Document
    disableSystemTags: Boolean
}
