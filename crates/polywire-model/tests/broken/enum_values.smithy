$version: "2"
namespace example

enum Kind {
    A = 1
    B = "b"
    C = "b"
}

intEnum Level {
    LOW
    HIGH = 2
    TOP = 2
    HUGE = 4294967296
    HALF = 1.5
}
