// Settings of clients, which the smoke tests of AWS models name.
$version: "2.0"

namespace aws.test

@mixin
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
list NonEmptyStringList {
    member: String
}

structure AwsVendorParams with [BaseAwsVendorParams] {}

structure S3VendorParams with [BaseAwsVendorParams] {
    useAccelerate: Boolean = false
    useGlobalEndpoint: Boolean = false
    forcePathStyle: Boolean = false
    useArnRegion: Boolean = true
    useMultiRegionAccessPoints: Boolean = true
}
