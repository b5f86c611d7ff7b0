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
/// Cities, their weather stations, and what the stations see.
///
/// One service on several wires, among them JSON over REST-like HTTP, CBOR over
/// HTTP, and XML-RPC. The same handlers answer all of them.
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
/// Everything that is known about one city.
///
/// The simplest useful operation: a label in the path, a structure in the body,
/// one modelled error. `@readonly` promises that a call changes nothing, so
/// clients may repeat it freely.
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

        /// Which edition of the record this is: an entity tag, in quotes (RFC 9110,
        /// section 8.8.3). A header over REST; over CBOR and XML-RPC, which know no
        /// headers, a member like the others.
        @httpHeader("ETag")
        revision: String
    }

    errors: [
        NoSuchResource
    ]
}

/// The cities in the order of their identifiers, page by page.
///
/// The names of the members that carry the token and the size of a page stand on
/// the service; here it suffices to say where the items are. A client that knows
/// `@paginated` can offer all pages as one stream.
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
        /// Where to go on: the `nextToken` of the page before.
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

/// Forgets a city.
///
/// `@idempotent` promises that doing it twice leaves things as doing it once, so
/// that a client may try again after a broken connection. There is nothing to
/// return: REST answers 204 without a body, XML-RPC an empty struct.
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

/// What a list of cities shows of each.
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
/// The climate of a city, coarsely.
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
/// Over XML-RPC this method has a name of its own and takes its arguments one by
/// one, as methods of older services do: `weather.forecast("oslo", 3)`.
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

        /// How far ahead to look. A byte is a signed integer of 8 bits; the value
        /// after the equals sign stands in where a caller sends none.
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

        /// Seconds since 1970, as a number, on wires that have a choice.
        @required
        @timestampFormat("epoch-seconds")
        issuedAt: Timestamp

        /// A timestamp in a header has the form of an HTTP date unless told otherwise.
        @httpHeader("Expires")
        @timestampFormat("http-date")
        expiresAt: Timestamp

        /// From 0 to 1.
        chanceOfRain: Float

        /// By hour, with null where nothing is known.
        temperatures: HourlyTemperatures

        /// What deserves attention most.
        outlook: Reading

        days: DayForecastList
    }

    errors: [
        NoSuchResource
    ]
}

/// What time it is here, in every form that Smithy has for a timestamp.
///
/// An operation may go without input.
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
        /// In the form that the protocol prefers.
        @required
        time: Timestamp

        @timestampFormat("date-time")
        dateTime: Timestamp

        @timestampFormat("http-date")
        httpDate: Timestamp

        @timestampFormat("epoch-seconds")
        epochSeconds: Timestamp

        /// The same once more as a header, where REST prefers an HTTP date.
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

/// In which units numbers are given.
enum Units {
    METRIC = "metric"
    IMPERIAL = "imperial"
}

/// What the sky looks like.
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
/// Files what a station has seen.
///
/// The same observation may arrive twice, because a client tried again. The token
/// tells the service so; a client fills it in by itself when the caller does not.
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
        /// The status of the HTTP response: 201 for a new observation, 200 for one
        /// that had come before.
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

/// The latest picture that a station took.
///
/// `@httpPayload` makes the bytes themselves the body of the HTTP response, with
/// the rest in headers. Over XML-RPC they are base64 in a struct like any blob.
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

        /// Only a picture that was taken after this, if there is one.
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

        /// Whatever else the station says: each entry is one header whose name
        /// begins with the prefix.
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

/// Looks for stations.
///
/// Query parameters bind to members by name, and a list may repeat one. Parameters
/// that no member stands for are not lost: a map takes them.
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

        /// How many stations were looked at.
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

    /// Stations that have reported since then.
    @httpQuery("since")
    @timestampFormat("date-time")
    since: Timestamp

    /// In degrees from the equator.
    @httpQuery("maxLatitude")
    maxLatitude: Double

    /// In which languages to answer, the best first. A list in a header is one line
    /// with commas.
    @httpHeader("X-Languages")
    languages: TagList

    /// Conditions by name, such as `owner=met` or `sensor=wind&sensor=rain`. A client
    /// adds the entries of the map to the query; a server finds all parameters of the
    /// query in it, also those that have a member of their own.
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

    /// What a sensor sent, as it came.
    raw: Blob

    /// The sensor is there but asleep. `Unit` is a structure without members, for
    /// a choice that has nothing more to say.
    asleep: Unit
}

structure Wind {
    /// Metres a second.
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
/// How far an observation can be trusted.
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
/// A region and all that lies in it.
///
/// The label takes the rest of the path, slashes and all: that is what the plus
/// sign says, and why such a label comes last.
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

        /// How many levels the answer has.
        depth: Integer
    }

    errors: [
        NoSuchResource
    ]
}

// A shape may hold itself, as long as a list, a map or an optional member lets the
// recursion end.
/// A region, which may have parts that are regions too.
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
/// Neither read-only nor idempotent by nature, so clients do not repeat it on
/// their own; the token makes a repetition by the caller harmless.
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

        /// A drawing, an audio note, anything.
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

/// A year of a city in numbers.
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

        /// A label need not be a string.
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

        /// As many digits as it takes.
        rainfallLitres: BigInteger

        /// A decimal fraction that is kept exactly.
        meanTemperature: BigDecimal

        rainfallByMonth: RainfallByMonth

        extremes: Extremes

        // The CBOR protocol advises against documents, since not every
        // implementation can carry them. Polywire writes a document as the CBOR of
        // the value that it holds.
        /// Anything that JSON could say: a document has no shape of its own.
        @suppress(["rpcv2Cbor.NoDocuments"])
        notes: Document
    }

    errors: [
        NoSuchResource
    ]
}

/// A place of a storm at a time.
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

/// How bad a storm is.
intEnum Severity {
    WATCH = 1
    WARNING = 2
    EMERGENCY = 3
}

// A map without @sparse never holds null; this one may.
/// Millimetres by month, with null for a month that was not measured.
@sparse
map RainfallByMonth {
    key: String
    value: Double
}

/// The extremes of a year by name.
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
/// What was asked for is not there.
@error("client")
@httpError(404)
structure NoSuchResource {
    @required
    message: String

    /// What kind of thing was looked for: `city`, `station` or `region`.
    @required
    resourceKind: String

    @required
    resourceId: String
}

// No @httpError here: a client error is 400 by default.
/// The report of a storm makes no sense.
@error("client")
structure InvalidReport {
    @required
    message: String

    /// What is wrong, by member.
    problems: ProblemByMember
}

map ProblemByMember {
    key: String
    value: String
}

/// The service has too much to do at the moment; try again a little later.
@error("server")
@httpError(503)
@retryable(throttling: true)
structure Throttled {
    @required
    message: String

    @httpHeader("Retry-After")
    retryAfterSeconds: Integer
}
