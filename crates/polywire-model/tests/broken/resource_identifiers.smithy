$version: "2"
namespace example

resource Country {
    identifiers: { country: String }
    resources: [City]
}

resource City {
    identifiers: { country: CountryCode, cityId: String }
    resources: [House]
    properties: { cityId: String }
    read: GetCity
}

resource House {
    identifiers: { houseId: String }
    read: GetHouse
    list: ListHouses
    operations: [Paint]
    collectionOperations: [CountHouses]
}

@readonly
operation GetCity {
    input := for City {
        @required
        $country

        $cityId
    }
}

@readonly
operation GetHouse {
    input := {
        @required
        @resourceIdentifier("houseId")
        id: String
    }
}

@readonly
operation ListHouses {
    input := for House {
        @required
        $houseId
    }
}

operation Paint {
    input := {
        @required
        @resourceIdentifier("houseId")
        a: String

        @required
        @resourceIdentifier("houseId")
        b: String

        @required
        houseId: String
    }
}

operation CountHouses {}

string CountryCode
