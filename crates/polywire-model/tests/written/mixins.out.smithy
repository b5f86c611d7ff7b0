// example.smithy
$version: "2.0"

namespace example

@mixin
service BaseService {
    version: "1"
    operations: [
        Get
    ]
}

service S with [BaseService] {
    errors: [
        Bad
    ]
}

@mixin
@tags(["r"])
resource BaseResource {}

resource R with [BaseResource] {
    identifiers: {
        id: String
    }
}

@mixin
operation Base {
    errors: [
        Bad
    ]
}

operation Get with [Base] {
    output := with [Named, Dated, ARatherLongNameOfAMixin, AnotherRatherLongNameOfAMixin, TheLastLongNameOfAMixin] {}
}

@error("client")
structure Bad {}

@mixin
structure ARatherLongNameOfAMixin {}

@mixin
structure AnotherRatherLongNameOfAMixin {}

@mixin
union Choice {
    a: String
}

union Chosen with [Choice] {
    b: Unit
}

structure City with [Dated] {
    @required
    $name

    $rank = 5

    @deprecated(message: "late", since: "1")
    @tags(["b", "c"])
    $date

    population: Long
}

@mixin
@tags(["a"])
structure Dated with [Named] {
    date: Timestamp
}

@mixin(
    localTraits: [sensitive]
)
@sensitive
structure Named {
    /// A name.
    name: String

    rank: Integer = 0
}

structure Odd with [WithId] {
    @tags(["id"])
    $id

    id2: String
}

@mixin
structure TheLastLongNameOfAMixin {}

@mixin
structure WithId {
    id: Name
}

@mixin
map Ages {
    key: String
    value: Integer
}

map MoreAges with [Ages] {
    @range(min: 1)
    $value
}

list Names with [Strings] {
    @pattern("^a")
    $member
}

map SameAges with [Ages] {}

@mixin
list Strings {
    @length(min: 1)
    member: String
}

enum AllColors with [Colors] {
    GREEN
}

apply AllColors$RED @deprecated

apply AllColors$BLUE {
    @tags(["y"])
    @documentation("Sky.")
}

@mixin
enum Colors {
    RED

    @tags(["x"])
    BLUE = "blue"
}

string Name with [Short]

@mixin
@length(min: 1)
string Short
