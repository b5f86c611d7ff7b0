$version: "2"
namespace example

structure Reordered {
    population: Long
    name: String
}

structure Longer {
    name: String
    population: Long
}

structure Retargeted {
    name: Retyped
}

integer Retyped

structure Mixed {
    name: String
}

operation GetCity {
    output: Retargeted
}

service Weather {
    version: "2"
    operations: [GetCity]
}

resource CityResource {
    identifiers: { id: Retyped }
}

structure Elided {
    id: String
}

list Names {
    member: String
}
