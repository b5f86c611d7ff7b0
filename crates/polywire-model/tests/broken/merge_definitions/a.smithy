$version: "2"
namespace example

structure Reordered {
    name: String
    population: Long
}

structure Longer {
    name: String
}

structure Retargeted {
    name: String
}

string Retyped

@mixin
structure Named {
    name: String
}

structure Mixed with [Named] {}

operation GetCity {
    output: Longer
}

service Weather {
    version: "1"
    operations: [GetCity]
}

resource CityResource {
    identifiers: { id: String }
}

structure Elided for CityResource {
    $id
}

list Names {
    member: String
}
