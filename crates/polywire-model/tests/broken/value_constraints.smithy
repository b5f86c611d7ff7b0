$version: "2"
namespace example

@trait
structure station {
    @length(min: 2, max: 4)
    code: Code

    @range(min: 1)
    height: Height

    tags: Tags
    flags: Flags
    color: Color
    level: Level
    kind: Kind
    key: Key
}

@length(max: 3)
@pattern("^[A-Z]+$")
string Code

@range(max: 9000)
integer Height

@length(min: 1)
@uniqueItems
list Tags { member: String }

@length(max: 1)
map Flags { key: Code, value: Boolean }

enum Color { RED, GREEN }
intEnum Level { LOW = 1, HIGH = 2 }

@enum([{ value: "sea", name: "SEA" }, { value: "land", name: "LAND" }])
@suppress(["ModelDeprecation"])
string Kind

@length(max: 2)
blob Key

@station(
    code: "Berne"
    height: 0
    tags: ["a", "b", "a"]
    flags: { AB: true, cd: false }
    color: "REED"
    level: 3
    kind: "air"
    key: "AAAA"
)
structure First {}

@station(code: "\u00e9", height: 9001, tags: [], color: "GREEN", key: "AAA=")
structure Second {}
