// metadata.smithy
$version: "2.0"

metadata a = [
    {
        id: "X"
        namespace: "one"
    }
]

metadata b = 1

// one.smithy
$version: "2.0"

namespace one

use three#Same
use two#Free

service structure {
    version: "1"
    operations: [
        one#null
        operation
    ]
}

operation null {}

operation operation {}

structure String {
    own: String
    prelude: smithy.api#String
    other: two#String
    same: two#Same
    again: Same
    most: Same
    free: Free
    word: two#true
    list: list
}

list Integers {
    member: Integer
}

list list {
    member: two#Integer
}

// three.smithy
$version: "2.0"

namespace three

string Same

@trait
string tag

// two.smithy
$version: "2.0"

namespace two

@tag
string Free

integer Integer

@tag
@three#tag("x")
string Same

string String

boolean true

@trait
structure tag {}
