$version: "2"

// Each constraint trait once, and what nests.
namespace fuzz

service Constrained {
    version: "1"
    operations: [Put, Compressed]
}

operation Put {
    input := with [Members] {
        letters: Letters

        @range(min: -5, max: 5)
        int: Integer

        @range(min: 0.5)
        double: Double

        @range(max: 10)
        big: BigInteger

        @length(max: 3)
        blob: Blob

        suit: Suit

        level: Level

        items: Items

        named: Named

        choice: Choice

        free: String
    }
}

@mixin
structure Members {
    @length(min: 2, max: 4)
    text: String

    inner: Inner
}

structure Inner with [Members] {}

union Choice {
    @length(min: 2, max: 4)
    text: String

    inner: Inner
}

@pattern("^[a-c]*$")
string Letters

enum Suit {
    CLUBS
    HEARTS
}

intEnum Level {
    LOW = 1
    HIGH = 7
}

@uniqueItems
@length(max: 3)
list Items {
    member: Item
}

@length(max: 2)
string Item

@length(min: 1)
map Named {
    key: Name
    value: Inner
}

@pattern("^[a-z]")
string Name

// Whose requests are compressed by clients.
@requestCompression(encodings: ["gzip"])
operation Compressed {
    input := {
        data: Blob
    }
}
