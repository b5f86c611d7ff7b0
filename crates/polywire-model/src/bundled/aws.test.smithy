// What AWS clients are set to while smoke tests run.
$version: "2.0"

namespace aws.test

@suppress(["UnreferencedShape"])
structure AwsVendorParams with [BaseAwsVendorParams] {}

@mixin
@suppress(["UnreferencedShape"])
structure BaseAwsVendorParams {
    region: String = "us-west-2"
    sigv4aRegionSet: NonEmptyStringList
    uri: String
    useFips: Boolean = false
    useDualstack: Boolean = false
    useAccountIdRouting: Boolean = true
}

@private
@length(min: 1)
@suppress(["UnreferencedShape"])
list NonEmptyStringList {
    member: String
}

@suppress(["UnreferencedShape"])
structure S3VendorParams with [BaseAwsVendorParams] {
    useAccelerate: Boolean = false
    useGlobalEndpoint: Boolean = false
    forcePathStyle: Boolean = false
    useArnRegion: Boolean = true
    useMultiRegionAccessPoints: Boolean = true
}
