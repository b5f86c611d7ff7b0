// example.other.smithy
$version: "2.0"

namespace example.other

structure Wind {
    speed: Double
}

// example.weather.smithy
$version: "2.0"
$operationOutputSuffix: "Result"

namespace example.weather

use aws.protocols#restJson1
use example.other#Wind

/// Weather of cities.
///
/// It is an example.
@restJson1
@title("Weather")
@cors(
    additionalExposedHeaders: ["X-Weather"]
)
@paginated(inputToken: "token", outputToken: "token", pageSize: "size")
service Weather {
    version: "2026-01-01"
    operations: [
        GetTime
        Ping
        Report
    ]
    resources: [
        City
    ]
    errors: [
        Busy
    ]
    rename: {
        "example.other#Wind": "Breeze"
    }
}

resource City {
    identifiers: {
        cityId: CityId
    }
    properties: {
        name: String
        wind: Wind
    }
    create: CreateCity
    read: GetCity
    list: ListCities
    operations: [
        Rename
    ]
    collectionOperations: [
        Count
    ]
    resources: [
        Street
    ]
}

resource Street {
    identifiers: {
        cityId: CityId
        street: String
    }
}

@http(method: "POST", uri: "/count")
operation Count {
    output: Counted
}

@output
structure Counted {
    count: Long
}

@http(method: "POST", uri: "/cities")
operation CreateCity {
    input := for City {
        $name
    }

    output := for City with [Stamped] {
        @notProperty
        $date

        @required
        $cityId
    }
}

@readonly
@http(method: "GET", uri: "/cities/{cityId}")
operation GetCity {
    input := for City {
        @required
        @httpLabel
        $cityId
    }

    output := for City {
        $name

        @notProperty
        location: Location

        $wind
    }

    errors: [
        NoSuchCity
        Busy
    ]
}

@http(method: "POST", uri: "/time")
operation GetTime {
    input :=
        /// The place whose time is asked for.
        @tags(["time"])
        {
            city: String
        }

    output := with [Stamped] {}
}

@readonly
@paginated(items: "cities")
@http(method: "GET", uri: "/cities")
operation ListCities {
    input := {
        @httpQuery("token")
        token: String

        @httpQuery("size")
        size: Integer = 10
    }

    output := {
        token: String
        cities: CityNames
    }
}

@http(method: "POST", uri: "/ping")
operation Ping {}

@http(method: "POST", uri: "/cities/{cityId}/name")
operation Rename {
    input: RenameIn
}

@input
structure RenameIn for City {
    @required
    @httpLabel
    $cityId

    $name
}

@http(method: "POST", uri: "/report")
operation Report {
    input: Report1
    output: Report1
}

@error("server")
@retryable(throttling: true)
structure Busy {}

@error("client")
@httpError(404)
structure NoSuchCity {
    message: String
}

structure Location {
    latitude: Double
    longitude: Double
}

structure Report1 {
    text: String
}

@mixin
structure Stamped {
    @httpHeader("Date")
    date: Timestamp
}

list CityNames {
    member: String
}

@pattern("^[A-Za-z0-9]+$")
string CityId
