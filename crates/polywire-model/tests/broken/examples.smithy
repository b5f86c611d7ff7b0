$version: "2"
namespace example

@examples([
    {
        title: "wrong values"
        input: { name: 1, kinds: "town", limit: 1.5, level: "low", color: "gren", size: "huge" }
        output: { cities: [{ name: "Bern" }, { nmae: "Basel" }, {}] }
    }
    {
        title: "unknown member"
        input: { name: "Bern", nam: "x" }
    }
    {
        title: "both"
        input: { name: "Bern" }
        output: {}
        error: { shapeId: NotFound, content: { message: "none" } }
    }
    {
        title: "other error"
        input: { name: "Bern" }
        error: { shapeId: Other, content: {} }
    }
    {
        title: "wrong error"
        input: { name: "Bern" }
        error: { shapeId: NotFound, content: { message: 1 } }
    }
    {
        title: "constraint without error"
        input: { name: "" }
        allowConstraintErrors: true
    }
    {
        title: "constraint"
        input: { name: "B", limit: 1000, ratio: "NaN", when: "yesterday", blob: "%", choice: { a: "1", b: "2" } }
    }
    {
        title: "missing"
        input: { limit: 10 }
    }
    {
        title: "fine"
        input: { name: "Bern", limit: 10, when: 1700000000, ratio: 0.5, color: "green", size: 1, doc: { a: [1] }, choice: { a: "1" } }
        output: { cities: [{ name: "Bern" }] }
    }
])
operation Find {
    input := {
        @required
        @length(min: 2)
        name: String
        kinds: Names
        @range(max: 100)
        limit: Integer
        level: Integer
        color: Color
        size: Size
        ratio: Double
        when: Timestamp
        blob: Blob
        choice: Choice
        doc: Document
    }
    output := {
        cities: Cities
    }
    errors: [NotFound]
}

@examples([{ title: "nothing to give", input: { a: 1 }, output: { b: 2 } }])
operation Empty {}

enum Color {
    GREEN = "green"
    RED = "red"
}

intEnum Size {
    SMALL = 1
    LARGE = 2
}

union Choice {
    a: String
    b: String
}

list Names {
    member: String
}

list Cities {
    member: City
}

structure City {
    @required
    name: String
}

@error("client")
structure NotFound {
    message: String
}

@error("client")
structure Other {}
