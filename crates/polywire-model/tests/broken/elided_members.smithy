$version: "2"
namespace example

resource City {
    identifiers: { cityId: String }
    properties: { population: Integer }
}

structure GetCityInput for City {
    $cityid
    $population
}

structure Lost {
    $name
}

structure Other for Weather {
    $name
}
