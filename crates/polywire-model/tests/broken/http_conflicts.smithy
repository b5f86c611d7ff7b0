$version: "2"
namespace example

service Weather {
    operations: [GetCity, FindCity, PatchCity, GetCityOnHost, FindCityOnHost, ListCities, Whole]
    resources: [Forecast]
}

// The same operations in another service are not reported again.
service Again {
    operations: [GetCity, FindCity]
}

// Apart from those that share its request.
service Alone {
    operations: [GetCity]
    resources: []
}

resource Forecast {
    identifiers: { day: String }
    read: GetForecast
    resources: [Hourly]
}

resource Hourly {
    identifiers: { day: String, hour: String }
    collectionOperations: [ListHourly]
}

@http(method: "POST", uri: "/cities/{name}?b=2&a=1")
operation GetCity { input := { @required @httpLabel name: String } }

@http(method: "POST", uri: "/cities/{id}?a=1&b=2")
operation FindCity { input := { @required @httpLabel id: String } }

@http(method: "PATCH", uri: "/cities/{name}?b=2&a=1")
operation PatchCity { input := { @required @httpLabel name: String } }

@endpoint(hostPrefix: "{host}.data.")
@http(method: "POST", uri: "/cities/{name}?b=2&a=1")
operation GetCityOnHost {
    input := { @required @httpLabel name: String, @required @hostLabel host: String }
}

@endpoint(hostPrefix: "{region}.data.")
@http(method: "POST", uri: "/cities/{name}?b=2&a=1")
operation FindCityOnHost {
    input := { @required @httpLabel name: String, @required @hostLabel region: String }
}

@http(method: "POST", uri: "/cities/{names+}?b=2&a=1")
operation ListCities { input := { @required @httpLabel names: String } }

@http(method: "POST", uri: "/")
operation Whole {}

@readonly
@http(method: "GET", uri: "/forecast/{day}")
operation GetForecast { input := { @required @httpLabel day: String } }

@readonly
@http(method: "GET", uri: "/forecast/{day}/")
operation ListHourly {
    input := for Hourly { @required @httpLabel day: String }
    output := with [TwoBodies] {
        @httpPayload
        third: Blob
    }
}

@mixin
structure TwoBodies {
    @httpPayload
    first: Blob

    @httpPayload
    second: Blob
}

@mixin
structure OneBody {
    @httpPayload
    body: Blob

    other: Blob
}

structure Message with [OneBody] {}

// Neither the mixin nor the structure alone has two.
apply Message$other @httpPayload
