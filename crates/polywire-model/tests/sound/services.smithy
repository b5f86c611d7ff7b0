$version: "2"

namespace example

use aws.protocols#restJson1
use smithy.waiters#waitable

@restJson1
@httpBearerAuth
@httpBasicAuth
@auth([httpBearerAuth, httpBasicAuth])
@cors(origin: "https://example.com")
@paginated(inputToken: "token", outputToken: "page.token", pageSize: "size")
service Cities {
    version: "1"
    operations: [Ping, Upload, Watch]
    resources: [City]
    errors: [Busy]
}

resource City {
    identifiers: { cityId: CityId }
    properties: { name: String, size: Integer }
    create: CreateCity
    put: PutCity
    read: GetCity
    update: RenameCity
    delete: DeleteCity
    list: ListCities
    collectionOperations: [CountCities]
    resources: [House]
}

resource House {
    identifiers: { cityId: CityId, houseId: String }
    read: GetHouse
}

string CityId

@http(method: "POST", uri: "/cities", code: 201)
operation CreateCity {
    input := for City {
        @required
        $name

        $size

        @idempotencyToken
        @notProperty
        token: String
    }
    output := for City {
        @required
        $cityId
    }
}

@idempotent
@http(method: "PUT", uri: "/cities/{cityId}")
operation PutCity {
    input := for City {
        @required
        @httpLabel
        $cityId

        $name
    }
}

@readonly
@http(method: "GET", uri: "/cities/{id}")
@examples([
    {
        title: "a city"
        input: { id: "bern" }
        output: { name: "Bern", size: 134000 }
    }
    {
        title: "no city"
        input: { id: "" }
        error: { shapeId: NotFound, content: { reason: "no id" } }
        allowConstraintErrors: true
    }
])
@waitable(
    CityExists: {
        acceptors: [
            { state: "success", matcher: { output: { path: "name", comparator: "stringEquals", expected: "Bern" } } }
            { state: "retry", matcher: { errorType: "NotFound" } }
            { state: "failure", matcher: { inputOutput: { path: "input.id == output.name", comparator: "booleanEquals", expected: "true" } } }
        ]
    }
)
operation GetCity {
    input := for City {
        @required
        @httpLabel
        @resourceIdentifier("cityId")
        id: CityId
    }
    output := for City {
        $name
        $size

        @httpHeader("x-revision")
        @notProperty
        revision: String
    }
    errors: [NotFound]
}

@http(method: "PATCH", uri: "/cities/{cityId}")
operation RenameCity {
    input := for City {
        @required
        @httpLabel
        $cityId

        @property(name: "name")
        newName: String
    }
}

@idempotent
@http(method: "DELETE", uri: "/cities/{cityId}", code: 204)
operation DeleteCity {
    input := for City {
        @required
        @httpLabel
        $cityId
    }
}

@readonly
@paginated(items: "page.cities")
@http(method: "GET", uri: "/cities?sorted")
operation ListCities {
    input := {
        @httpQuery("token")
        token: String

        @httpQuery("size")
        size: Integer

        @httpPrefixHeaders("x-filter-")
        filters: Filters
    }
    output := {
        page: Page
    }
}

structure Page {
    token: String
    cities: Names
}

list Names {
    member: String
}

map Filters {
    key: String
    value: String
}

@readonly
@http(method: "GET", uri: "/cities/count")
operation CountCities {
    output := {
        count: Integer
    }
}

@readonly
@http(method: "GET", uri: "/cities/{cityId}/houses/{houseId}")
operation GetHouse {
    input := for House {
        @required
        @httpLabel
        $cityId

        @required
        @httpLabel
        $houseId
    }
}

@endpoint(hostPrefix: "{region}.")
@http(method: "POST", uri: "/ping")
operation Ping {
    input := {
        @required
        @hostLabel
        region: String
    }
}

@requestCompression(encodings: ["gzip"])
@http(method: "POST", uri: "/files/{path+}")
operation Upload {
    input := {
        @required
        @httpLabel
        path: String

        @httpHeader("x-kind")
        kind: String

        @required
        @httpPayload
        body: Stream
    }
}

@http(method: "POST", uri: "/watch")
operation Watch {
    output := {
        @httpPayload
        events: Events
    }
}

@streaming
blob Stream

@streaming
union Events {
    change: Change
    end: End
}

structure Change {
    @eventHeader
    kind: String

    @eventPayload
    body: Blob
}

structure End {
    reason: String
}

@error("client")
@httpError(404)
structure NotFound {
    @httpHeader("x-reason")
    reason: String
}

@error("server")
@httpError(503)
structure Busy {}
