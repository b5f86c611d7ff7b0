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
        names: Names
    }
}

list Names {
    member: String
}
