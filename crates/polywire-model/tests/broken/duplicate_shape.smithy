$version: "2"
namespace example

structure City {
    name: String
}

union City {
    name: String
}
