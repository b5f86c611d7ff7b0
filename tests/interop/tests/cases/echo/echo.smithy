$version: "2.0"

// Everything that every wire of botocore can carry, there and back.
namespace polywire.interop.echo

use aws.protocols#awsJson1_0
use aws.protocols#awsJson1_1
use aws.protocols#awsQuery
use aws.protocols#ec2Query
use aws.protocols#restJson1
use aws.protocols#restXml
use smithy.protocols#rpcv2Cbor

@awsJson1_0
@awsJson1_1
@awsQuery
@ec2Query
@restJson1
@restXml
@rpcv2Cbor
@xmlNamespace(uri: "https://echo.example/")
service Echo {
    version: "2026-11-22"
    operations: [
        Lines
        Refuse
        Say
    ]
}

/// Answers what it is told.
@http(method: "POST", uri: "/say/{name}/{path+}")
operation Say {
    input := {
        @required
        @httpLabel
        name: String

        @required
        @httpLabel
        path: String

        @httpQuery("count")
        count: Long

        @httpQuery("tag")
        tags: Words

        @httpHeader("x-moment")
        moment: Timestamp

        @httpHeader("x-words")
        heard: Words

        content: Content
    }

    output := {
        name: String

        path: String

        @httpHeader("x-count")
        count: Long

        @httpHeader("x-tags")
        tags: Words

        @httpHeader("x-moment")
        moment: Timestamp

        heard: Words

        content: Content
    }
}

@http(method: "POST", uri: "/refuse")
operation Refuse {
    input := {
        reason: String
    }

    errors: [
        Refused
    ]
}

@error("client")
@httpError(409)
structure Refused {
    message: String
    reason: String
    count: Long
    until: Timestamp
    details: Pairs
}

@readonly
@paginated(inputToken: "token", outputToken: "next", pageSize: "size", items: "lines")
@http(method: "GET", uri: "/lines")
operation Lines {
    input := {
        @httpQuery("token")
        token: String

        @httpQuery("size")
        size: Integer
    }

    output := {
        lines: Words
        next: String
    }
}

structure Content {
    text: String

    empty: String

    flag: Boolean

    off: Boolean

    small: Integer

    big: Long

    least: Long

    float: Float

    double: Double

    notANumber: Double

    infinite: Double

    negative: Float

    blob: Blob

    moment: Timestamp

    @timestampFormat("date-time")
    day: Timestamp

    @timestampFormat("http-date")
    header: Timestamp

    @timestampFormat("epoch-seconds")
    seconds: Timestamp

    words: Words

    @xmlFlattened
    flat: Words

    blobs: Blobs

    lists: Lists

    parts: Parts

    @xmlName("Renamed")
    @jsonName("Renamed")
    named: String

    pairs: Pairs

    @xmlFlattened
    flatPairs: Pairs

    partsByName: PartsByName

    color: Color

    choice: Choice

    inner: Content
}

structure Part {
    @xmlAttribute
    id: String

    size: Long

    words: Words
}

union Choice {
    text: String
    part: Part
    number: Long
}

enum Color {
    RED = "red"
    DEEP_BLUE = "deep blue"
}

list Words {
    member: String
}

list Blobs {
    member: Blob
}

list Lists {
    member: Words
}

list Parts {
    @xmlName("Part")
    member: Part
}

map Pairs {
    key: String
    value: String
}

map PartsByName {
    key: String
    value: Part
}
