$version: "2"
namespace example

use smithy.protocols#rpcv2Cbor

@rpcv2Cbor(http: ["http/1.1"], eventStreamHttp: ["h2", "http/1.1"])
service Service {
    version: "1"
}
