// example.smithy
$version: "2.0"

metadata block = """
first
  second
"""

metadata empty = {}
metadata flat = { a: 1, b: "two" }

metadata nested = [
    {
        a: [
            1
            [2]
        ]
        b: """
            x
            y"""
    }
    {}
    []
]

metadata "odd key" = {
    a: 1
    "b c": "d"
    e: []
    f: {}
}

metadata short = [1, -2.50, 1e3, true, false, null, "x"]

metadata wide = [
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "cccccccccccccccccccccccc"
]

namespace example

@noted
@plain(a: "x")
@Texts([])
@Map({})
@anything({})
@word("a\\b\"c\u0001\té")
@flag(false)
@number(1)
@pointers(
    ids: [A, String, A$a]
    byName: { a: A, "b c": A }
)
structure A {
    a: String
}

/// Docs of several lines,
///
///   indented, "quoted" and \escaped.
@plain(
    a: """
        one
        two"""
    map: { x: "1", "y z": "2" }
    node: [
        {
            deep: {
                deeper: []
            }
        }
    ]
    shape: B
)
@Texts(["a", "b"])
@Map(a: "b")
@anything([1])
@word(
    """
    some "quoted" \"\"\" text
     \\ and more\""""
)
structure B {
    @documentation("ends with space \nhere")
    a: String = ""

    ///
    b: Boolean = false

    @documentation("a\r\nb")
    c: TextList = []

    d: Document = {}

    e: Blob = ""

    f: Document = null

    g: String = """
    a
    b"""

    h: Double = 1.50
}

structure EventX {}

@streaming
union Events {
    x: EventX
}

structure plainInner {
    b: String
}

map RefMap {
    key: String
    value: Ref
}

list Refs {
    member: Ref
}

list TextList {
    member: String
}

map TextMap {
    key: String
    value: String
}

bigDecimal Big

@anything("x")
@anything2
@unit(
    a: {}
)
blob Data

enum E {
    A

    B = "b"

    /// Doc.
    C
}

bigInteger Huge

intEnum I {
    ONE = 1
    TWO = 2
}

@idRef(selector: "*")
string Ref

@plain(
    a: "a text that is long enough to be broken, with the rest"
    inner: { b: "c" }
    list: ["a", "b"]
)
@default(7)
integer Seven

timestamp When

@default("x")
string X

@trait
map Map {
    key: String
    value: String
}

@trait
list Texts {
    member: String
}

@trait
document anything

@trait
structure anything2 {}

@trait(
    selector: ":test(structure, union)"
    conflicts: ["example#noted", "example#missing"]
    structurallyExclusive: "member"
)
structure exclusive {}

@trait
boolean flag

@trait
structure noted {}

@trait
integer number

@trait
structure plain {
    a: String

    list: TextList

    map: TextMap

    node: Document

    inner: plainInner

    @idRef
    shape: String
}

@trait
structure pointers {
    ids: Refs
    byName: RefMap
}

@trait
union unit {
    a: Unit
}

@trait
string word
