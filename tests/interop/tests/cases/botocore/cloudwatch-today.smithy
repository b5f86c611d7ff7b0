$version: "2.0"

// What CloudWatch has learnt since its published model was written.
namespace polywire.interop

use aws.protocols#awsQueryCompatible
use smithy.protocols#rpcv2Cbor

apply com.amazonaws.cloudwatch#GraniteServiceVersion20100801 @awsQueryCompatible
apply com.amazonaws.cloudwatch#GraniteServiceVersion20100801 @rpcv2Cbor
