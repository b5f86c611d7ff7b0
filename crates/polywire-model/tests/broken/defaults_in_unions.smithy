$version: "2"
namespace example

union Choice {
    a: String = "x"
    b: Integer
}

structure Fine {
    a: String = "x"
}
