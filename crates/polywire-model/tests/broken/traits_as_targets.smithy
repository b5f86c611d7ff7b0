$version: "2"
namespace example

@trait
structure mark {}

@trait
@error("client")
structure failure {}

structure City {
    mark: mark
    nothing: Unit
}

list Marks { member: mark }
list Nothings { member: Unit }
union Choice { nothing: Unit }

operation GetCity { input: mark, errors: [failure] }

resource Place {
    identifiers: { id: Unit }
    properties: { nothing: Unit, mark: mark }
}
