$version: "2"
namespace example

resource City {
    identifiers: { country: String, cityId: String }
}

resource House {
    identifiers: { houseId: String }
}

@references([{ resource: City }, { resource: House, ids: { houseId: "x" } }, { resource: Structure }])
string Id

@references([
    { resource: City }
    { resource: City, ids: { country: "land" } }
    { resource: City, ids: { country: "land", cityId: "number", other: "land" } }
    { resource: House, ids: { house: "id" } }
    { resource: House }
])
structure Structure {
    land: String
    number: Integer
    cityId: String
}
