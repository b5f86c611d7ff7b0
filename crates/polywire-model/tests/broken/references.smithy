$version: "2"
namespace example

resource City { identifiers: { country: String, name: String } }
resource Weather { identifiers: { id: String } }
structure Plain {}

@references([{ resource: City }])
string CityName

@references([{ resource: Weather, ids: { id: "x" } }])
string WeatherId

@references([
    { resource: City }
    { resource: City, ids: { country: "land", nam: "title" } }
    { resource: City, ids: { country: "country" } }
    { resource: Weather, ids: { id: "count" } }
    { resource: Plain }
    { resource: "City" }
    { resource: "elsewhere#City" }
])
structure Report {
    @required
    country: String

    @required
    land: String

    count: Integer
}

structure Member {
    @references([{ resource: Weather }])
    weather: String
}
