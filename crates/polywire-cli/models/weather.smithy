$version: "2.0"

// A weather service: the example that `polywire serve` offers when it is given no
// model of its own. It is also a tour of Smithy. Between them its operations use
// every kind of shape and nearly every HTTP binding, and the comments say why one
// would choose each of them.
//
// Three slashes make a doc comment, which belongs to the shape or member below it
// and ends up in generated code and in help texts. Two slashes, as here, are for
// the reader of this file only.
namespace example.weather

use aws.protocols#restJson1
use polywire#xmlRpc
use polywire#xmlRpcMethod
use smithy.protocols#rpcv2Cbor

// ---------------------------------------------------------------------------
// The service
// ---------------------------------------------------------------------------
/// Cities, their weather stations, and the observations of the stations.
///
/// One service with several protocols, among them JSON over REST-like HTTP, CBOR over HTTP, and
/// XML-RPC. All protocols use the same handlers.
@title("Weather")
@restJson1
@rpcv2Cbor
@xmlRpc
@paginated(inputToken: "nextToken", outputToken: "nextToken", pageSize: "pageSize")
service Weather {
    version: "2026-11-01"
    operations: [
        DeleteCity
        DescribeRegion
        GetCity
        GetCurrentTime
        GetForecast
        GetStationImage
        GetStatistics
        ListCities
        PutObservation
        ReportStorm
        SearchStations
    ]
    // Errors named here may come from any operation.
    errors: [
        Throttled
    ]
}

// ---------------------------------------------------------------------------
// Cities
// ---------------------------------------------------------------------------
/// The data of a city.
///
/// The simplest useful operation: a label in the path, a structure in the body, one modelled error.
/// `@readonly` means that a call changes nothing, so clients may repeat it.
@readonly
@http(method: "GET", uri: "/cities/{cityId}")
@examples([
    {
        title: "A city that exists"
        input: { cityId: "oslo" }
        output: {
            cityId: "oslo"
            name: "Oslo"
            coordinates: { latitude: 59.9139, longitude: 10.7522 }
            climate: "continental"
            population: 717710
            elevation: 23
            capital: true
            founded: "1048-01-01T00:00:00Z"
            tags: ["fjord", "harbour"]
            localNames: { nb: "Oslo", ja: "オスロ" }
            revision: "\"r-17\""
        }
    }
    {
        title: "A city that does not exist"
        input: { cityId: "atlantis" }
        error: {
            shapeId: NoSuchResource
            content: { message: "there is no city \"atlantis\"", resourceKind: "city", resourceId: "atlantis" }
        }
    }
])
operation GetCity {
    input := {
        // A label fills the `{cityId}` of the URI. It must be there, hence @required.
        @required
        @httpLabel
        cityId: CityId
    }

    output := {
        @required
        cityId: CityId

        @required
        name: String

        @required
        coordinates: Coordinates

        @required
        climate: Climate

        /// Inhabitants. 64 bits; XML-RPC writes `int` or `i8`, whichever fits.
        population: Long

        /// Metres above the sea. 16 bits.
        elevation: Short

        capital: Boolean

        /// Written as text even where the protocol prefers numbers.
        @timestampFormat("date-time")
        founded: Timestamp

        tags: TagList

        /// The city's name by language.
        localNames: NameByLanguage

        /// The version of the record: an entity tag, in quotes (RFC 9110, section 8.8.3). A header
        /// over REST. CBOR and XML-RPC have no headers, so there it is an ordinary member.
        @httpHeader("ETag")
        revision: String
    }

    errors: [
        NoSuchResource
    ]
}

/// The cities, sorted by identifier, in pages.
///
/// The service declares the names of the members for the token and the page size. The operation
/// declares only the member with the items. A client that supports `@paginated` can offer all pages
/// as one stream.
@readonly
@paginated(items: "cities")
@http(method: "GET", uri: "/cities")
@examples([
    {
        title: "The first page"
        input: { pageSize: 2 }
        output: {
            cities: [
                {
                    cityId: "kyoto"
                    name: "Kyoto"
                    climate: "temperate"
                }
                {
                    cityId: "oslo"
                    name: "Oslo"
                    climate: "continental"
                }
            ]
            nextToken: "oslo"
        }
    }
    {
        title: "The page after it, which is the last"
        input: { pageSize: 2, nextToken: "oslo" }
        output: {
            cities: [
                {
                    cityId: "quito"
                    name: "Quito"
                    climate: "tropical"
                }
            ]
        }
    }
])
operation ListCities {
    input := {
        /// Where to continue: the `nextToken` of the previous page.
        @httpQuery("nextToken")
        nextToken: String

        @httpQuery("pageSize")
        @range(min: 1, max: 100)
        pageSize: Integer
    }

    output := {
        @required
        cities: CitySummaryList

        /// Absent on the last page.
        nextToken: String
    }
}

/// Deletes a city.
///
/// `@idempotent` means that two calls have the same effect as one, so a client may retry after a
/// lost connection. There is no output: REST answers 204 without a body, XML-RPC an empty struct.
@idempotent
@http(method: "DELETE", uri: "/cities/{cityId}", code: 204)
@examples([
    {
        title: "A city that exists"
        input: { cityId: "quito" }
    }
    {
        title: "A city that does not exist"
        input: { cityId: "atlantis" }
        error: {
            shapeId: NoSuchResource
            content: { message: "there is no city \"atlantis\"", resourceKind: "city", resourceId: "atlantis" }
        }
    }
])
operation DeleteCity {
    input := {
        @required
        @httpLabel
        cityId: CityId
    }

    errors: [
        NoSuchResource
    ]
}

/// A place on Earth, in degrees.
structure Coordinates {
    @required
    @range(min: -90, max: 90)
    latitude: Double

    @required
    @range(min: -180, max: 180)
    longitude: Double
}

/// An entry in a list of cities.
structure CitySummary {
    @required
    cityId: CityId

    @required
    name: String

    climate: Climate
}

/// A short name of a city in lower case, such as `oslo`.
@length(min: 1, max: 64)
@pattern("^[a-z][a-z0-9-]*$")
string CityId

// An enum is a string that takes one of a few values. Clients keep values that
// they do not know, so that the service can add some later.
/// The climate of a city, in broad classes.
enum Climate {
    ARID = "arid"
    CONTINENTAL = "continental"
    POLAR = "polar"
    TEMPERATE = "temperate"
    TROPICAL = "tropical"
}

list CitySummaryList {
    member: CitySummary
}

list TagList {
    member: String
}

map NameByLanguage {
    key: String
    value: String
}

// ---------------------------------------------------------------------------
// Forecasts and time
// ---------------------------------------------------------------------------
/// The forecast for a city.
///
/// Over XML-RPC, this method has its own name and takes positional arguments, like methods of older
/// services: `weather.forecast("oslo", 3)`.
@readonly
@http(method: "GET", uri: "/cities/{cityId}/forecast")
@xmlRpcMethod(name: "weather.forecast", positional: true)
@examples([
    {
        title: "Two days"
        input: { cityId: "oslo", days: 2 }
        output: {
            cityId: "oslo"
            units: "metric"
            issuedAt: 1793534400
            expiresAt: "Sun, 01 Nov 2026 18:00:00 GMT"
            chanceOfRain: 0.25
            temperatures: [3.5, 4.25, 2.0]
            outlook: {
                wind: { speed: 7.5, direction: 225, gusts: true }
            }
            days: [
                {
                    date: "2026-11-01T00:00:00Z"
                    low: 1.5
                    high: 6.0
                    sky: "cloudy"
                    cloudCover: 80
                }
                {
                    date: "2026-11-02T00:00:00Z"
                    low: -0.5
                    high: 4.5
                    sky: "snow"
                    cloudCover: 100
                }
            ]
        }
    }
    {
        title: "A city that does not exist"
        input: { cityId: "atlantis" }
        error: {
            shapeId: NoSuchResource
            content: { message: "there is no city \"atlantis\"", resourceKind: "city", resourceId: "atlantis" }
        }
    }
])
operation GetForecast {
    input := {
        @required
        @httpLabel
        cityId: CityId

        /// The number of days. A byte is a signed integer of 8 bits. The value after the equals
        /// sign is the default.
        @httpQuery("days")
        @range(min: 1, max: 14)
        days: Byte = 3

        @httpQuery("units")
        units: Units = "metric"
    }

    output := {
        @required
        cityId: CityId

        @required
        units: Units

        /// Seconds since 1970, as a number, in protocols that support several formats.
        @required
        @timestampFormat("epoch-seconds")
        issuedAt: Timestamp

        /// By default, a timestamp in a header is an HTTP date.
        @httpHeader("Expires")
        @timestampFormat("http-date")
        expiresAt: Timestamp

        /// From 0 to 1.
        chanceOfRain: Float

        /// By hour. Null means unknown.
        temperatures: HourlyTemperatures

        /// The most important reading.
        outlook: Reading

        days: DayForecastList
    }

    errors: [
        NoSuchResource
    ]
}

/// The current time, in every timestamp format of Smithy.
///
/// An operation may have no input.
@readonly
@http(method: "GET", uri: "/time")
@examples([
    {
        title: "Noon on the first of November 2026"
        output: {
            time: 1793534400
            dateTime: "2026-11-01T12:00:00Z"
            httpDate: "Sun, 01 Nov 2026 12:00:00 GMT"
            epochSeconds: 1793534400
            lastModified: "Sun, 01 Nov 2026 12:00:00 GMT"
        }
    }
])
operation GetCurrentTime {
    output := {
        /// In the default format of the protocol.
        @required
        time: Timestamp

        @timestampFormat("date-time")
        dateTime: Timestamp

        @timestampFormat("http-date")
        httpDate: Timestamp

        @timestampFormat("epoch-seconds")
        epochSeconds: Timestamp

        /// The same time as a header, for which REST uses an HTTP date by default.
        @httpHeader("Last-Modified")
        @timestampFormat("http-date")
        lastModified: Timestamp
    }
}

/// One day of a forecast.
structure DayForecast {
    @required
    @timestampFormat("date-time")
    date: Timestamp

    @required
    low: Float

    @required
    high: Float

    sky: Sky

    /// In percent.
    @range(min: 0, max: 100)
    cloudCover: Byte
}

list DayForecastList {
    member: DayForecast
}

// A list without @sparse never holds null; this one may.
@sparse
list HourlyTemperatures {
    member: Float
}

/// The units of numbers.
enum Units {
    METRIC = "metric"
    IMPERIAL = "imperial"
}

/// The state of the sky.
enum Sky {
    CLEAR = "clear"
    CLOUDY = "cloudy"
    RAIN = "rain"
    SNOW = "snow"
    THUNDER = "thunder"
}

// ---------------------------------------------------------------------------
// Stations
// ---------------------------------------------------------------------------
/// Stores an observation of a station.
///
/// The same observation may arrive twice because a client retried. The service detects that by the
/// token, which clients generate if the caller does not set it.
@idempotent
@http(method: "PUT", uri: "/stations/{stationId}/observations", code: 201)
@examples([
    {
        title: "A gust of wind"
        input: {
            stationId: "oslo-blindern"
            clientToken: "7f1f5b52-6d0e-4e1c-9c57-0d3a4f0d9a11"
            observedAt: "2026-11-01T11:50:00Z"
            reading: {
                wind: { speed: 12.5, direction: 270, gusts: true }
            }
            quality: 3
        }
        output: {
            status: 201
            observationId: 20261101000001
            reading: {
                wind: { speed: 12.5, direction: 270, gusts: true }
            }
        }
    }
    {
        title: "Raw bytes from a sensor that nobody can read yet"
        input: {
            stationId: "oslo-blindern"
            clientToken: "1c9f5a86-0f43-4c86-8a53-93c5a1f3c7f2"
            observedAt: "2026-11-01T11:55:00Z"
            reading: { raw: "AAECAwQ=" }
        }
        output: {
            status: 201
            observationId: 20261101000002
            reading: { raw: "AAECAwQ=" }
        }
    }
    {
        title: "A station that does not exist"
        input: {
            stationId: "moon-base"
            clientToken: "f7b0c1de-3f0a-4f6e-8f0f-5e0d2a9b6c33"
            observedAt: "2026-11-01T11:50:00Z"
            reading: { temperature: -173.0 }
        }
        error: {
            shapeId: NoSuchResource
            content: { message: "there is no station \"moon-base\"", resourceKind: "station", resourceId: "moon-base" }
        }
    }
])
operation PutObservation {
    input := {
        @required
        @httpLabel
        stationId: StationId

        @idempotencyToken
        @httpHeader("Idempotency-Key")
        clientToken: String

        @required
        @timestampFormat("date-time")
        observedAt: Timestamp

        @required
        reading: Reading

        quality: Quality
    }

    output := {
        /// The status of the HTTP response: 201 for a new observation, 200 for a repeated one.
        @required
        @httpResponseCode
        status: Integer

        /// More than 32 bits.
        @required
        observationId: Long

        reading: Reading
    }

    errors: [
        NoSuchResource
    ]
}

/// The latest image of a station.
///
/// With `@httpPayload`, the body of the HTTP response consists of the bytes, and the other members
/// are headers. Over XML-RPC, the bytes are base64 in a struct, like any blob.
@readonly
@http(method: "GET", uri: "/stations/{stationId}/image")
@examples([
    {
        title: "A picture of one pixel"
        input: { stationId: "oslo-blindern" }
        output: {
            width: 1
            height: 1
            takenAt: "Sun, 01 Nov 2026 11:45:00 GMT"
            metadata: { camera: "north", exposure: "1/250" }
            image: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        }
    }
    {
        title: "A station that does not exist"
        input: { stationId: "moon-base" }
        error: {
            shapeId: NoSuchResource
            content: { message: "there is no station \"moon-base\"", resourceKind: "station", resourceId: "moon-base" }
        }
    }
])
operation GetStationImage {
    input := {
        @required
        @httpLabel
        stationId: StationId

        /// Return only an image that was taken after this time.
        @httpHeader("If-Modified-Since")
        ifModifiedSince: Timestamp
    }

    output := {
        @required
        @httpHeader("X-Image-Width")
        width: Short

        @required
        @httpHeader("X-Image-Height")
        height: Short

        @httpHeader("Last-Modified")
        @timestampFormat("http-date")
        takenAt: Timestamp

        /// Additional data of the station. Each entry is a header whose name starts with the
        /// prefix.
        @httpPrefixHeaders("X-Meta-")
        metadata: ImageMetadata

        @required
        @httpPayload
        image: PngImage
    }

    errors: [
        NoSuchResource
    ]
}

/// Searches for stations.
///
/// Query parameters bind to members by name, and a list may repeat one. All other parameters are
/// collected in a map.
@readonly
@http(method: "GET", uri: "/stations")
@examples([
    {
        title: "Stations whose name holds a word"
        input: {
            text: "blindern"
            kinds: ["automatic", "manned"]
            active: true
        }
        output: {
            stations: [
                {
                    stationId: "oslo-blindern"
                    name: "Oslo Blindern"
                    kind: "manned"
                    elevation: 94
                    coordinates: { latitude: 59.9423, longitude: 10.72 }
                }
            ]
            searched: 3
        }
    }
    {
        title: "Nothing found"
        input: { text: "moon" }
        output: {
            stations: []
            searched: 3
        }
    }
])
operation SearchStations {
    input: SearchStationsInput

    output := {
        @required
        stations: StationList

        /// The number of stations searched.
        searched: Integer
    }
}

// Input and output may also stand outside their operation, as ordinary structures.
// The suppressed note says that a server cannot tell the parameters of the map from
// those of the other members; here it need not.
@input
@suppress(["HttpQueryParamsTrait"])
structure SearchStationsInput {
    @required
    @httpQuery("text")
    @length(min: 1, max: 200)
    text: String

    /// Repeat the parameter for several: `kind=manned&kind=automatic`.
    @httpQuery("kind")
    kinds: StationKindList

    @httpQuery("minElevation")
    minElevation: Short

    @httpQuery("active")
    active: Boolean

    /// Stations that have reported since this time.
    @httpQuery("since")
    @timestampFormat("date-time")
    since: Timestamp

    /// In degrees from the equator.
    @httpQuery("maxLatitude")
    maxLatitude: Double

    /// The preferred languages of the output, best first. A list in a header is one line with
    /// commas.
    @httpHeader("X-Languages")
    languages: TagList

    /// Conditions by name, such as `owner=met` or `sensor=wind&sensor=rain`. Clients add the
    /// entries of the map to the query. On the server, the map contains all query parameters,
    /// including those with their own member.
    @httpQueryParams
    parameters: QueryParameters
}

/// One thing that a station can measure: exactly one member is set.
union Reading {
    /// Degrees.
    temperature: Float

    /// Hectopascals.
    pressure: Double

    /// In percent.
    humidity: Byte

    /// Millimetres, without rounding.
    rainfall: BigDecimal

    wind: Wind

    sky: Sky

    /// The data of a sensor, unmodified.
    raw: Blob

    /// The sensor is present but inactive. `Unit` is a structure without members, for variants
    /// without data.
    asleep: Unit
}

structure Wind {
    /// Metres per second.
    @required
    speed: Double

    /// In degrees, 0 is north.
    @range(min: 0, max: 359)
    direction: Short

    gusts: Boolean
}

structure Station {
    @required
    stationId: StationId

    @required
    name: String

    @required
    kind: StationKind

    elevation: Short

    coordinates: Coordinates
}

@length(min: 1, max: 64)
@pattern("^[a-z][a-z0-9-]*$")
string StationId

enum StationKind {
    AUTOMATIC = "automatic"
    MANNED = "manned"
    SHIP = "ship"
}

// An intEnum is an integer that takes one of a few values.
/// The reliability of an observation.
intEnum Quality {
    SUSPECT = 1
    PLAUSIBLE = 2
    CHECKED = 3
}

@mediaType("image/png")
blob PngImage

list StationList {
    member: Station
}

list StationKindList {
    member: StationKind
}

map ImageMetadata {
    key: String
    value: String
}

map QueryParameters {
    key: String
    value: ParameterValues
}

list ParameterValues {
    member: String
}

// ---------------------------------------------------------------------------
// Regions
// ---------------------------------------------------------------------------
/// A region and everything in it.
///
/// The label takes the rest of the path, including slashes. That is the meaning of the plus sign,
/// and the reason why such a label must be last.
@readonly
@http(method: "GET", uri: "/regions/{path+}")
@examples([
    {
        title: "A region with parts"
        input: { path: "europe/norway" }
        output: {
            region: {
                name: "Norway"
                center: { latitude: 61.0, longitude: 8.5 }
                cities: []
                parts: [
                    {
                        name: "Eastern Norway"
                        cities: ["oslo"]
                        parts: []
                    }
                ]
            }
            depth: 2
        }
    }
    {
        title: "A region that does not exist"
        input: { path: "atlantis" }
        error: {
            shapeId: NoSuchResource
            content: { message: "there is no region \"atlantis\"", resourceKind: "region", resourceId: "atlantis" }
        }
    }
])
operation DescribeRegion {
    input := {
        @required
        @httpLabel
        path: String
    }

    output := {
        @required
        region: Region

        /// The number of levels in the output.
        depth: Integer
    }

    errors: [
        NoSuchResource
    ]
}

// A shape may hold itself, as long as a list, a map or an optional member lets the
// recursion end.
/// A region, which may contain other regions.
structure Region {
    @required
    name: String

    center: Coordinates

    cities: CityIdList

    parts: RegionList
}

list RegionList {
    member: Region
}

list CityIdList {
    member: CityId
}

// ---------------------------------------------------------------------------
// Storms and statistics
// ---------------------------------------------------------------------------
/// Warns of a storm.
///
/// Neither read-only nor idempotent, so clients do not retry it. The token allows callers to repeat
/// a call safely.
@http(method: "POST", uri: "/storms", code: 201)
@xmlRpcMethod(name: "storm.report")
@examples([
    {
        title: "A storm over two cities"
        input: {
            name: "Ylva"
            severity: 2
            track: [
                {
                    at: 1793527200
                    position: { latitude: 58.0, longitude: 7.0 }
                    pressure: 968.5
                }
                {
                    at: 1793534400
                    position: { latitude: 59.5, longitude: 10.0 }
                    pressure: 972.0
                }
            ]
            affectedCities: ["oslo", "kyoto"]
            clientToken: "0b9c3c7e-8f1c-4b7c-9d35-6a2f6f1f7a10"
        }
        output: { stormId: "storm-2026-1", acceptedAt: 1793534400 }
    }
    {
        title: "A report without a track"
        input: {
            name: "Ylva"
            severity: 2
            track: []
            clientToken: "5a9d4f0e-2b0a-4c58-8a50-0c3f6f0d7e21"
        }
        error: {
            shapeId: InvalidReport
            content: {
                message: "the report has nothing to go by"
                problems: { track: "at least one point is needed" }
            }
        }
    }
])
operation ReportStorm {
    input := {
        @required
        name: String

        @required
        severity: Severity

        @required
        track: StormTrack

        /// Each city once: `@uniqueItems` makes a list a set.
        affectedCities: CityIdSet

        /// Any file, such as a drawing or a recording.
        attachment: Blob

        @idempotencyToken
        clientToken: String
    }

    output := {
        @required
        stormId: String

        @required
        acceptedAt: Timestamp
    }

    errors: [
        InvalidReport
    ]
}

/// Statistics of a city in a year.
@readonly
@http(method: "GET", uri: "/cities/{cityId}/statistics/{year}")
@examples([
    {
        title: "A year"
        input: { cityId: "oslo", year: 2025 }
        output: {
            cityId: "oslo"
            year: 2025
            observations: 4294967296
            rainfallLitres: 123456789012345678901234567890
            meanTemperature: 7.125
            rainfallByMonth: { "2025-01": 54.5, "2025-02": 48.0, "2025-03": 41.25 }
            extremes: {
                coldest: { at: "2025-01-12T06:00:00Z", value: -17.5 }
                warmest: { at: "2025-07-20T14:00:00Z", value: 31.0 }
            }
            notes: {
                reviewed: true
                authors: ["Ada", "Grace"]
                gaps: { february: "sensor under snow" }
            }
        }
    }
    {
        title: "A city that does not exist"
        input: { cityId: "atlantis", year: 2025 }
        error: {
            shapeId: NoSuchResource
            content: { message: "there is no city \"atlantis\"", resourceKind: "city", resourceId: "atlantis" }
        }
    }
])
operation GetStatistics {
    input := {
        @required
        @httpLabel
        cityId: CityId

        /// Labels need not be strings.
        @required
        @httpLabel
        year: Short
    }

    output := {
        @required
        cityId: CityId

        @required
        year: Short

        observations: Long

        /// An integer of any size.
        rainfallLitres: BigInteger

        /// A decimal number without rounding.
        meanTemperature: BigDecimal

        rainfallByMonth: RainfallByMonth

        extremes: Extremes

        // The CBOR protocol advises against documents, since not every
        // implementation can carry them. Polywire writes a document as the CBOR of
        // the value that it holds.
        /// Any JSON value: a document has no schema.
        @suppress(["rpcv2Cbor.NoDocuments"])
        notes: Document
    }

    errors: [
        NoSuchResource
    ]
}

/// The position of a storm at a time.
structure TrackPoint {
    @required
    at: Timestamp

    @required
    position: Coordinates

    /// Hectopascals.
    pressure: Double
}

list StormTrack {
    member: TrackPoint
}

@uniqueItems
list CityIdSet {
    member: CityId
}

/// The severity of a storm.
intEnum Severity {
    WATCH = 1
    WARNING = 2
    EMERGENCY = 3
}

// A map without @sparse never holds null; this one may.
/// Millimetres by month. Null means that the month was not measured.
@sparse
map RainfallByMonth {
    key: String
    value: Double
}

/// The extreme values of a year by name.
map Extremes {
    key: String
    value: Extreme
}

structure Extreme {
    @required
    @timestampFormat("date-time")
    at: Timestamp

    @required
    value: Float
}

// ---------------------------------------------------------------------------
// Errors
// ---------------------------------------------------------------------------
/// The requested resource does not exist.
@error("client")
@httpError(404)
structure NoSuchResource {
    @required
    message: String

    /// The kind of resource: `city`, `station` or `region`.
    @required
    resourceKind: String

    @required
    resourceId: String
}

// No @httpError here: a client error is 400 by default.
/// The report of a storm is invalid.
@error("client")
structure InvalidReport {
    @required
    message: String

    /// The problems, by member.
    problems: ProblemByMember
}

map ProblemByMember {
    key: String
    value: String
}

/// The service is overloaded. Retry later.
@error("server")
@httpError(503)
@retryable(throttling: true)
structure Throttled {
    @required
    message: String

    @httpHeader("Retry-After")
    retryAfterSeconds: Integer
}
