$version: "2"
namespace example

enum Color {
    red
    RED = "rouge"
    Green
    _BLUE
    EMPTY = ""
    LIGHT_BLUE_2
}

intEnum Level {
    low = 1
    HIGH = 2
}
