$version: "2"
namespace example.other

use example#Name

apply Name @color("blue")

@trait
string color
