$version: "2"
namespace example

@paginated(inputToken: "token", pageSize: "max")
service Cities {
    version: "1"
    operations: [ListCities, ListBoth]
    resources: [City]
}

resource City {
    collectionOperations: [ListMore]
}

@readonly
@paginated
operation ListCities {
    input := {
        next: String
    }
    output := {
        token: String
    }
}

@readonly
@paginated(inputToken: "next", outputToken: "token")
operation ListBoth {
    input := {
        next: String
        @required
        max: Integer
    }
    output := {
        token: String
    }
}

@readonly
@paginated(outputToken: "token")
operation ListMore {
    input := {
        token: String
        max: String
    }
    output := {
        token: String
    }
}
