$version: "2"
$operationOutputSuffix: "Result"
namespace example.weather
use aws.protocols#restJson1

/// Weather of cities.
///
/// It is an example.
@restJson1 @title("Weather") @cors(additionalExposedHeaders: ["X-Weather"])
@paginated(inputToken: "token", outputToken: "token", pageSize: "size")
service Weather { resources: [City], version: "2026-01-01", errors: [Busy], operations: [GetTime, Ping, Report],
    rename: { "example.other#Wind": "Breeze" } }
resource City { identifiers: { cityId: CityId } properties: { name: String, wind: example.other#Wind }
  read: GetCity, list: ListCities, create: CreateCity, operations: [Rename], resources: [Street], collectionOperations: [Count] }
resource Street { identifiers: { cityId: CityId, "street": String } }

@readonly @http(method: "GET", uri: "/cities/{cityId}")
operation GetCity { input := for City { @required @httpLabel $cityId }
  output := for City { $name, @notProperty location: Location, $wind }
  errors: [NoSuchCity, Busy] }
@readonly @paginated(items: "cities") @http(method: "GET", uri: "/cities")
operation ListCities { input := { @httpQuery("token") token: String, @httpQuery("size") size: Integer = 10
}
  output := { token: String, cities: CityNames } }
@http(method: "POST", uri: "/cities")
operation CreateCity { input := for City { $name }, output := for City with [Stamped] { @required $cityId } }
@http(method: "POST", uri: "/count")
operation Count { output: Counted }
@http(method: "POST", uri: "/cities/{cityId}/name")
operation Rename { input: RenameIn }
@input structure RenameIn for City { @required @httpLabel $cityId, $name }
@output structure Counted { count: Long }
@http(method: "POST", uri: "/ping")
operation Ping {}
@http(method: "POST", uri: "/time")
operation GetTime { input :=
    /// The place whose time is asked for.
    @tags(["time"])
    { city: String }
  output := with [Stamped] {} }
@http(method: "POST", uri: "/report")
operation Report { input: Report1, output: Report1 }
@mixin structure Stamped { @httpHeader("Date") date: Timestamp }
apply CreateCityResult$date @notProperty
structure Report1 { text: String }
structure Location { latitude: Double, longitude: Double }
@error("client") @httpError(404)
structure NoSuchCity { message: String }
@error("server") @retryable(throttling: true)
structure Busy {}
@pattern("^[A-Za-z0-9]+$") string CityId
list CityNames { member: String }
