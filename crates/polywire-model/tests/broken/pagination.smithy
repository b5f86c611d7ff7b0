$version: "2"
namespace example

@paginated(inputToken: "token", outputToken: "token", pageSize: "size")
service Cities {
    version: "1"
    operations: [ListCities, Missing, Wrong, Required, Deep, Paths, Odd, Fine]
}

service Bare {
    version: "1"
    operations: [ListCities]
}

@readonly
@paginated(items: "cities")
operation ListCities {
    input := {
        token: String
        size: Integer
    }
    output := {
        token: String
        cities: Names
    }
}

@readonly
@paginated(inputToken: "tokn", outputToken: "result.token", pageSize: "limit", items: "names")
operation Missing {
    input := {
        token: String
    }
    output := {
        result: String
    }
}

@readonly
@paginated(inputToken: "token", outputToken: "token", pageSize: "size", items: "items")
operation Wrong {
    input := {
        token: Integer
        size: String
    }
    output := {
        token: Names
        items: String
    }
}

@readonly
@paginated(inputToken: "token", outputToken: "token", pageSize: "size")
operation Required {
    input := {
        @required
        token: String
        @required
        size: Integer
    }
    output := {
        @required
        token: String
    }
}

@readonly
@paginated(items: "a.b.names", outputToken: "a.b.token")
operation Deep {
    input := {
        token: String
        size: Integer
    }
    output := {
        a: A
    }
}

@readonly
@paginated(inputToken: "page.token", pageSize: "page.size")
operation Paths {
    input := {
        page: Page
    }
    output := {
        token: String
    }
}

@readonly
@paginated(inputToken: "token", outputToken: "token", pageSize: "size")
operation Odd {
    input := {
        token: Tokens
        size: Long
    }
    output := {
        token: Tokens
    }
}

@readonly
@paginated
operation Fine {
    input := {
        token: String
        size: Integer
    }
    output := {
        token: String
    }
}

structure Page {
    token: String
    size: Integer
}

structure A {
    b: B
}

structure B {
    names: Names
    token: String
}

list Names {
    member: String
}

map Tokens {
    key: String
    value: String
}
