// Where AWS services are.
$version: "2.0"

namespace aws.endpoints

@endpointsModifier
@trait(selector: "service", breakingChanges: [{ change: "any" }])
structure dualStackOnlyEndpoints {}

@trait(selector: "structure[trait|trait]", breakingChanges: [{ change: "presence" }])
structure endpointsModifier {}

@unstable
@endpointsModifier
@trait(selector: "service", breakingChanges: [{ change: "any" }])
structure rulesBasedEndpoints {}

@endpointsModifier
@trait(
    selector: "service"
    conflicts: [standardRegionalEndpoints]
    breakingChanges: [{ change: "any" }]
)
structure standardPartitionalEndpoints {
    @required endpointPatternType: PartitionEndpointPattern
    partitionEndpointSpecialCases: PartitionEndpointSpecialCaseMap
}

@endpointsModifier
@trait(
    selector: "service"
    conflicts: [standardPartitionalEndpoints]
    breakingChanges: [{ change: "remove" }]
)
structure standardRegionalEndpoints {
    partitionSpecialCases: PartitionSpecialCaseMap
    regionSpecialCases: RegionSpecialCaseMap
}

@private
enum PartitionEndpointPattern {
    @deprecated(message: "AWS_RECOMMENDED takes its place", since: "2025-04-01")
    SERVICE_DNSSUFFIX = "service_dnsSuffix"
    @deprecated(message: "AWS_RECOMMENDED takes its place", since: "2025-04-01")
    SERVICE_REGION_DNSSUFFIX = "service_region_dnsSuffix"
    AWS_RECOMMENDED = "aws_recommended"
}

@private
structure PartitionEndpointSpecialCase {
    endpoint: String
    region: String
    dualStack: Boolean
    fips: Boolean
}

@private
list PartitionEndpointSpecialCaseList {
    member: PartitionEndpointSpecialCase
}

@private
map PartitionEndpointSpecialCaseMap {
    key: String
    value: PartitionEndpointSpecialCaseList
}

@private
structure PartitionSpecialCase {
    @required endpoint: String
    dualStack: Boolean
    fips: Boolean
}

@private
list PartitionSpecialCaseList {
    member: PartitionSpecialCase
}

@private
map PartitionSpecialCaseMap {
    key: String
    value: PartitionSpecialCaseList
}

@private
structure RegionSpecialCase {
    @required endpoint: String
    dualStack: Boolean
    fips: Boolean
    signingRegion: String
}

@private
list RegionSpecialCaseList {
    member: RegionSpecialCase
}

@private
map RegionSpecialCaseMap {
    key: String
    value: RegionSpecialCaseList
}
