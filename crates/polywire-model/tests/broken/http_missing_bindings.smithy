$version: "2"
namespace example

use aws.protocols#restJson1

@restJson1
service Strict {
    version: "1"
    operations: [WithHttp, WithoutHttp]
    resources: [Thing]
}

service Lenient {
    version: "1"
    operations: [WithHttp, WithoutHttp]
}

service Rpc {
    version: "1"
    operations: [WithoutHttp]
}

resource Thing {
    operations: [OfResource]
}

@http(method: "POST", uri: "/a")
operation WithHttp {}

operation WithoutHttp {}

operation OfResource {}
