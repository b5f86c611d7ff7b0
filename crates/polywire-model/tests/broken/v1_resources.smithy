$version: "1.0"

namespace example

resource City {
    identifiers: { id: String }
    properties: { name: String }
}

structure CityData for City {
    $id
}
