$version: "1.0"

namespace example

enum Color {
    RED
    BLUE = "blue"
}

intEnum Rank {
    FIRST = 1
}
