//! The table of the protocols.

/// Calls a macro with the table of the protocols: one row per protocol.
///
/// A row contains the name of the type in `polywire-protocol`, the namespace and name of the
/// protocol trait, and the formats of its messages (variants of `Format` in `polywire-codec`). To
/// add a protocol, add a row here and a file with the type in `polywire-protocol`. The type
/// implements `FromService`, `ServerProtocol` and `ClientProtocol`.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_protocol {
    ($callback:ident!($($argument:tt)*)) => {
        $callback! {
            ($($argument)*)
            AwsJson1_0 "aws.protocols" "awsJson1_0" [Json]
            AwsJson1_1 "aws.protocols" "awsJson1_1" [Json]
            AwsQuery "aws.protocols" "awsQuery" [Form Xml]
            Ec2Query "aws.protocols" "ec2Query" [Form Xml]
            Frame "polywire" "frame" [Cbor]
            JsonRpc "polywire" "jsonRpc" [Json]
            RestJson1 "aws.protocols" "restJson1" [Json]
            RestXml "aws.protocols" "restXml" [Xml]
            RpcV2Cbor "smithy.protocols" "rpcv2Cbor" [Cbor]
            RpcV2Json "smithy.protocols" "rpcv2Json" [Json]
            XmlRpc "polywire" "xmlRpc" [XmlRpc]
        }
    };
}
