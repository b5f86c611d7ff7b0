$version: "2"
namespace example

structure City {
    @range(min: 1)
    zero: Integer = 0

    @range(min: 1)
    minus: Integer = -1

    @length(min: 1)
    empty: String = ""

    code: Code = "abc"

    @length(min: 1)
    list: Names = []

    @timestampFormat("epoch-seconds")
    time: Timestamp = "2026-11-22T00:00:00Z"

    @length(max: 1)
    bytes: Blob = "YWI="
}

@pattern("^[A-Z]$")
string Code

list Names { member: String }

@default("x")
@length(min: 2)
string Root

@mixin
structure Common { name: String = "a" }

structure Narrower with [Common] {}

apply Narrower$name @length(min: 2)

structure Same with [Common] {}
