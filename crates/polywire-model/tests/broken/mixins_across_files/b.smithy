$version: "2"
namespace other

use example#Base

@mixin
structure Named {
    name: Name
    population: Long
}

string Name

@mixin
structure Round with [Trip] {}

@mixin
structure Trip with [Round, Base] {}
