$version: "2"
namespace example

service Service {
    version: "1"
    operations: [Visit]
    resources: [City]
}

resource City {
    identifiers: { cityId: CityId }
    read: GetCity
}

@readonly
operation GetCity {
    input := for City {
        @required
        $cityId
    }
}

operation Visit {
    input := {
        cityId: CityId
        other: CityId
        stop: Stop
    }
}

structure Stop {
    cityId: CityId
}

@references([{ resource: City }])
structure Known {
    @required
    cityId: CityId
}

string CityId
