$version: "2.0"

namespace example.other

structure Item {
    name: String
}
