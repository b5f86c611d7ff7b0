$version: "2"
namespace example

resource City {
    identifiers: { cityId: String }
    properties: { name: String, size: Integer, unused: String, mayor: String }
    create: CreateCity
    read: GetCity
    update: UpdateCity
    list: ListCities
}

operation CreateCity {
    input := {
        name: String
        size: Long
        token: String
        @notProperty
        other: String
    }
    output := {
        @required
        cityId: String
    }
}

@readonly
operation GetCity {
    input := for City {
        @required
        $cityId
    }
    output := {
        @nestedProperties
        @required
        city: CityData
        extra: String
    }
}

operation UpdateCity {
    input := for City {
        @required
        $cityId

        $name

        @property(name: "name")
        newName: String

        @property(name: "chief")
        head: String
    }
}

structure CityData {
    name: String
    kind: String
    @property(name: "mayor")
    major: String
}

@readonly
operation ListCities {
    input := {
        filter: String
    }
    output := {
        cities: CityItems
    }
}

// Members of the items of a list are not checked.
list CityItems {
    member: CityItem
}

structure CityItem {
    cityId: String
    name: Integer
    other: String
    @property(name: "nothing")
    code: String
}
