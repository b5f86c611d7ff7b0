$version: "2.0"

// The service of the target `http_request`: few operations, every HTTP binding.
namespace fuzz

use aws.protocols#restJson1
use polywire#xmlRpc
use polywire#xmlRpcMethod
use smithy.protocols#rpcv2Cbor

@restJson1
@rpcv2Cbor
@xmlRpc
service Everything {
    version: "1"
    operations: [Document, Greedy, Headers, Labels, Nothing, Parameters, Positional, Query, Raw, Text]
    errors: [Refused]
}

/// A document of members of every kind, beside a header.
@http(method: "POST", uri: "/document")
operation Document {
    input := with [Members] {
        @httpHeader("X-Token")
        @required
        token: String
    }
    output := with [Members] {
        @httpResponseCode
        status: Integer
    }
}

@http(method: "PUT", uri: "/files/{folder}/{path+}/content?kind=file")
operation Greedy {
    input := {
        @httpLabel
        @required
        folder: String

        @httpLabel
        @required
        path: String

        @httpPayload
        node: Node
    }
    output := {
        @httpPayload
        node: Node
    }
}

@http(method: "GET", uri: "/headers")
@readonly
operation Headers {
    input := with [InHeaders] {}
    output := with [InHeaders] {}
}

@http(method: "GET", uri: "/labels/{string}/{integer}/{boolean}/{double}/{time}/{date}")
@readonly
operation Labels {
    input := {
        @httpLabel
        @required
        string: String

        @httpLabel
        @required
        integer: Integer

        @httpLabel
        @required
        boolean: Boolean

        @httpLabel
        @required
        double: Double

        @httpLabel
        @required
        time: Timestamp

        @httpLabel
        @required
        @timestampFormat("epoch-seconds")
        date: Timestamp
    }
}

@http(method: "DELETE", uri: "/nothing", code: 204)
@idempotent
operation Nothing {}

@http(method: "POST", uri: "/positional")
@xmlRpcMethod(name: "fuzz.positional", positional: true)
operation Positional {
    input := {
        first: String
        second: Long
        @required
        third: Node
        fourth: Strings
    }
    output := {
        sum: BigInteger
    }
}

/// A parameter by name, and all of them in a map.
@http(method: "GET", uri: "/parameters?fixed=1")
@readonly
@suppress(["HttpQueryParamsTrait"])
operation Parameters {
    input := {
        @httpQuery("s")
        string: String

        @httpQueryParams
        all: StringLists
    }
}

@http(method: "GET", uri: "/query?fixed=1")
@readonly
operation Query {
    input := {
        @httpQuery("s")
        string: String

        @httpQuery("n")
        number: Short

        @httpQuery("list")
        list: Strings

        @httpQuery("times")
        times: Timestamps

        @httpQuery("suits")
        suits: Suits

        @httpQuery("floats")
        floats: Floats
    }
}

@http(method: "POST", uri: "/raw")
operation Raw {
    input := {
        // Required, since a client fills in a type where the caller gives none.
        @httpHeader("Content-Type")
        @required
        kind: String

        @httpPayload
        bytes: Blob
    }
    output := {
        @httpPayload
        bytes: Blob
    }
}

@http(method: "POST", uri: "/text")
operation Text {
    input := {
        @httpPayload
        text: Csv
    }
    output := {
        @httpPayload
        suit: Suit
    }
}

@error("client")
@httpError(409)
structure Refused {
    @required
    message: String

    @httpHeader("X-Reason")
    reason: String

    node: Node
}

@mixin
structure Members {
    node: Node

    @jsonName("other name")
    named: String

    choice: Choice

    choices: Choices

    sparse: SparseStrings

    counts: Counts

    sparseCounts: SparseCounts

    blob: Blob

    time: Timestamp

    @timestampFormat("http-date")
    date: Timestamp

    bigInteger: BigInteger

    bigDecimal: BigDecimal

    document: Anything

    float: Float

    byte: Byte

    rank: Rank
}

@mixin
structure InHeaders {
    @httpHeader("X-String")
    string: String

    @httpHeader("X-Strings")
    strings: Strings

    @httpHeader("X-Csv")
    csv: Csv

    @httpHeader("X-Long")
    long: Long

    @httpHeader("X-Integers")
    integers: Integers

    @httpHeader("X-Booleans")
    booleans: Booleans

    @httpHeader("X-Float")
    float: Float

    @httpHeader("X-Time")
    time: Timestamp

    @httpHeader("X-Times")
    times: Timestamps

    @httpHeader("X-Suits")
    suits: Suits

    @httpHeader("X-Rank")
    rank: Rank

    @httpPrefixHeaders("X-Meta-")
    meta: StringMap
}

structure Node {
    @required
    name: String

    children: Nodes

    byKey: NodeMap
}

union Choice {
    text: String
    number: Long
    node: Node
    empty: Empty
    list: Choices
}

structure Empty {}

list Booleans {
    member: Boolean
}

list Choices {
    member: Choice
}

map Counts {
    key: String
    value: Long
}

list Floats {
    member: Float
}

list Integers {
    member: Integer
}

map NodeMap {
    key: String
    value: Node
}

list Nodes {
    member: Node
}

@sparse
map SparseCounts {
    key: String
    value: Long
}

@sparse
list SparseStrings {
    member: String
}

map StringLists {
    key: String
    value: Strings
}

map StringMap {
    key: String
    value: String
}

list Strings {
    member: String
}

list Suits {
    member: Suit
}

list Timestamps {
    member: Timestamp
}

@mediaType("text/csv")
string Csv

document Anything

intEnum Rank {
    ACE = 1
    KING = 13
}

enum Suit {
    CLUBS = "clubs"
    HEARTS = "hearts"
}
