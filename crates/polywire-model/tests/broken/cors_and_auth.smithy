$version: "2"
namespace example

@cors(origin: "https://a.example", origins: { other: "https://b.example" })
@httpBasicAuth
@httpDigestAuth
service NoPriority {
    version: "1"
    operations: [Public, Wrong]
}

@httpBasicAuth
@auth([httpBearerAuth])
@httpApiKeyAuth(name: "key", in: "query", scheme: "Token")
service Service {
    version: "1"
    operations: [Public]
}

@auth([])
operation Public {}

@auth([httpBearerAuth, httpBasicAuth])
operation Wrong {}
