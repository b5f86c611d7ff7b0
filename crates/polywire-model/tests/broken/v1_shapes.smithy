$version: "1.0"

namespace example

set Names {
    member: String
    value: String
}

sets Ages {
    member: Integer
}

structure City {
    $name
    count: PrimitiveInt
}
