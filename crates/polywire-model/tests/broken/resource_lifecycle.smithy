$version: "2"
namespace example

resource City {
    identifiers: { id: String }
    create: CreateCity
    put: PutCity
    read: GetCity
    update: UpdateCity
    delete: DeleteCity
    list: ListCities
}

@readonly
operation CreateCity {}

@readonly
operation PutCity with [WithId] {
    input := {
        @required
        id: String
    }
}

operation GetCity {
    input := {
        @required
        id: String
    }
}

@readonly
operation UpdateCity {
    input := {
        @required
        id: String
    }
}

operation DeleteCity {
    input := {
        @required
        id: String
    }
}

operation ListCities {}

@mixin
operation WithId {}
