$version: "2"
namespace example

structure City {
    byte: Byte = 128
    integer: Integer = "x"
    fraction: Integer = 1.5
    long: Long = 9223372036854775808
    bigInteger: BigInteger = "1.5"
    bigDecimal: BigDecimal = "one"
    boolean: Boolean = 0
    text: String = true
    blob: Blob = "not base64"
    float: Float = "nan"
    time: Timestamp = "yesterday"
    noTime: Timestamp = false
    color: Color = "RED "
    kind: Color = 1
    level: Level = 3
    names: Names = ["x"]
    noNames: Names = {}
    tags: Tags = { a: "x" }
    noTags: Tags = []
    document: Document = [1]
    parts: Parts = {}
    choice: Choice = {}
}

@default("x")
integer Count

apply Applied$late @default("three")

structure Applied {
    late: Integer
}

@mixin
structure Common {
    common: Integer = "reported once"
}

structure User with [Common] {}

enum Color { RED, GREEN }
intEnum Level { LOW = 1, HIGH = 2 }
list Names { member: String }
map Tags { key: String, value: String }
structure Parts {}
union Choice { a: String }
