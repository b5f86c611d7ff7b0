$version: "2"
namespace example

service Service {
    version: "1"
    operations: [GetCity, ListTowns, Other]
    resources: [City]
}

resource City {
    identifiers: { cityId: String }
    resources: [House]
}

resource House {
    identifiers: { cityId: String, houseId: String }
}

operation GetCity {
    input := {
        @required
        cityId: String
    }
}

operation ListTowns {
    output := {
        @required
        houseId: String
    }
}

operation Other {
    input := {
        cityId: String
        @required
        houseId: Integer
    }
}
