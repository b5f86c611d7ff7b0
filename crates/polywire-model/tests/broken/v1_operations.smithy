$version: "1.0"

namespace example

operation GetCity {
    input := {
        name: String
    }
    output: City
}

structure City {}
