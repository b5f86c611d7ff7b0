$version: "2.0"

// What the behaviour tests serve: every binding of HTTP once, every kind of
// error, and little else. Most operations answer what they were asked.
namespace example.wire

use aws.protocols#restJson1
use polywire#xmlRpc
use polywire#xmlRpcMethod
use smithy.protocols#rpcv2Cbor

@restJson1
@rpcv2Cbor
@xmlRpc
service Wire {
    version: "1"
    operations: [
        Add
        BlobPayload
        Create
        Deep
        DocumentPayload
        EnumPayload
        Fail
        Greedy
        Headers
        Hosted
        Labels
        Names
        Nothing
        PlainBlob
        Query
        StatusCode
        StructurePayload
        TextPayload
        UnionPayload
    ]
    errors: [
        Busy
    ]
}

// ---------------------------------------------------------------------------
// Bindings
// ---------------------------------------------------------------------------
@readonly
@http(method: "GET", uri: "/labels/{text}/{number}/{flag}/{real}/{when}/{epoch}/{httpDate}/{color}")
operation Labels {
    input := with [LabelMembers] {}

    output := {
        text: String

        number: Long

        flag: Boolean

        real: Double

        when: Timestamp

        epoch: Timestamp

        httpDate: Timestamp

        color: Color
    }
}

@mixin
structure LabelMembers {
    @required
    @httpLabel
    text: String

    @required
    @httpLabel
    number: Long

    @required
    @httpLabel
    flag: Boolean

    @required
    @httpLabel
    real: Double

    @required
    @httpLabel
    when: Timestamp

    @required
    @httpLabel
    @timestampFormat("epoch-seconds")
    epoch: Timestamp

    @required
    @httpLabel
    @timestampFormat("http-date")
    httpDate: Timestamp

    @required
    @httpLabel
    color: Color
}

@readonly
@http(method: "GET", uri: "/files/{bucket}/{path+}/end?download")
operation Greedy {
    input := {
        @required
        @httpLabel
        bucket: String

        @required
        @httpLabel
        path: String

        @httpQuery("r")
        revision: Integer
    }

    output := {
        bucket: String

        path: String

        revision: Integer
    }
}

@readonly
@http(method: "GET", uri: "/query?kind=test")
@suppress(["HttpQueryParamsTrait"])
operation Query {
    input := {
        @httpQuery("t")
        text: String

        @httpQuery("n")
        numbers: IntegerList

        @httpQuery("flag")
        flag: Boolean

        @httpQuery("real")
        real: Float

        @httpQuery("when")
        when: Timestamp

        @httpQuery("epochs")
        epochs: EpochList

        @httpQuery("colors")
        colors: ColorList

        @httpQueryParams
        rest: QueryMap
    }

    output := {
        text: String

        numbers: IntegerList

        flag: Boolean

        real: Float

        when: Timestamp

        epochs: EpochList

        colors: ColorList

        rest: QueryMap
    }
}

@http(method: "POST", uri: "/headers")
operation Headers {
    input := with [HeaderMembers] {}

    output := with [HeaderMembers] {}
}

@mixin
structure HeaderMembers {
    @httpHeader("X-Text")
    text: String

    @httpHeader("X-Number")
    number: Byte

    @httpHeader("X-Flag")
    flag: Boolean

    @httpHeader("X-Real")
    real: Double

    @httpHeader("X-When")
    when: Timestamp

    @httpHeader("X-Date-Time")
    @timestampFormat("date-time")
    dateTime: Timestamp

    @httpHeader("X-Epoch")
    @timestampFormat("epoch-seconds")
    epoch: Timestamp

    @httpHeader("X-Texts")
    texts: StringList

    @httpHeader("X-Numbers")
    numbers: IntegerList

    @httpHeader("X-Flags")
    flags: BooleanList

    @httpHeader("X-Dates")
    dates: TimestampList

    @httpHeader("X-Colors")
    colors: ColorList

    @httpHeader("X-Json")
    json: JsonText

    @httpPrefixHeaders("X-Meta-")
    meta: StringMap

    note: String
}

/// The type of the payload is a header that the caller sets.
@idempotent
@http(method: "PUT", uri: "/payload/plain-blob")
operation PlainBlob {
    input := {
        @httpHeader("Content-Type")
        type: String

        @httpPayload
        data: Blob
    }

    output := {
        @httpHeader("Content-Type")
        type: String

        @httpPayload
        data: Blob
    }
}

@idempotent
@http(method: "PUT", uri: "/payload/blob/{name}")
operation BlobPayload {
    input := {
        @required
        @httpLabel
        name: String

        @httpPayload
        picture: Picture
    }

    output := {
        @httpHeader("X-Name")
        name: String

        @httpPayload
        picture: Picture
    }
}

@idempotent
@http(method: "PUT", uri: "/payload/text")
operation TextPayload {
    input := {
        @httpPayload
        text: String
    }

    output := {
        @httpPayload
        text: String
    }
}

@idempotent
@http(method: "PUT", uri: "/payload/enum")
operation EnumPayload {
    input := {
        @httpPayload
        color: Color
    }

    output := {
        @httpPayload
        color: Color
    }
}

@idempotent
@http(method: "PUT", uri: "/payload/structure")
operation StructurePayload {
    input := {
        @httpHeader("X-Name")
        name: String

        @httpPayload
        person: Person
    }

    output := {
        @httpHeader("X-Name")
        name: String

        @httpPayload
        person: Person
    }
}

@idempotent
@http(method: "PUT", uri: "/payload/union")
operation UnionPayload {
    input := {
        @httpPayload
        choice: Choice
    }

    output := {
        @httpPayload
        choice: Choice
    }
}

@idempotent
@http(method: "PUT", uri: "/payload/document")
@suppress(["rpcv2Cbor.NoDocuments"])
operation DocumentPayload {
    input := {
        @httpPayload
        document: Document
    }

    output := {
        @httpPayload
        document: Document
    }
}

@readonly
@http(method: "GET", uri: "/status/{status}")
operation StatusCode {
    input := {
        @required
        @httpLabel
        status: Integer
    }

    output := {
        @required
        @httpResponseCode
        status: Integer

        note: String
    }
}

@http(method: "POST", uri: "/hosted")
@endpoint(hostPrefix: "{tenant}.data.")
operation Hosted {
    input := {
        @required
        @hostLabel
        tenant: String

        note: String
    }

    output := {
        tenant: String

        note: String
    }
}

/// Everything that stands in a body.
@http(method: "POST", uri: "/names")
@suppress(["rpcv2Cbor.NoDocuments"])
operation Names {
    input := with [NamesMembers] {}

    output := with [NamesMembers] {}
}

@mixin
structure NamesMembers {
    @jsonName("renamed-text")
    text: String

    byte: Byte

    long: Long

    float: Float

    double: Double

    bigInteger: BigInteger

    bigDecimal: BigDecimal

    blob: Blob

    plain: Timestamp

    @timestampFormat("date-time")
    dateTime: Timestamp

    @timestampFormat("epoch-seconds")
    epoch: Timestamp

    @timestampFormat("http-date")
    httpDate: Timestamp

    color: Color

    size: Size

    choice: Choice

    sparse: SparseList

    people: PersonMap

    document: Document
}

// ---------------------------------------------------------------------------
// Calls
// ---------------------------------------------------------------------------
/// Positional over XML-RPC.
@http(method: "POST", uri: "/add")
@xmlRpcMethod(name: "math.add", positional: true)
operation Add {
    input := {
        @required
        left: Integer

        @required
        right: Integer

        note: String
    }

    output := {
        @required
        sum: Long

        note: String
    }
}

@http(method: "POST", uri: "/things", code: 201)
operation Create {
    input := {
        @required
        name: String

        tags: StringList

        when: Timestamp
    }

    output := {
        @required
        id: Long

        @required
        name: String

        tags: StringList

        when: Timestamp
    }
}

@http(method: "POST", uri: "/deep")
operation Deep {
    input := {
        person: Person
    }

    output := {
        person: Person
    }
}

@idempotent
@http(method: "POST", uri: "/nothing", code: 204)
operation Nothing {}

/// Ends in whatever `how` says.
@http(method: "POST", uri: "/fail")
operation Fail {
    input := {
        @required
        how: String
    }

    output := {
        how: String
    }

    errors: [
        NotThere
    ]
}

@error("client")
@httpError(404)
structure NotThere {
    message: String

    @jsonName("what-kind")
    kind: String

    count: Integer
}

@error("server")
@httpError(503)
structure Busy {
    message: String

    @httpHeader("Retry-After")
    retryAfter: Integer
}

// ---------------------------------------------------------------------------
// Shapes
// ---------------------------------------------------------------------------
enum Color {
    RED = "red"
    GREEN = "green"
}

intEnum Size {
    SMALL = 1
    LARGE = 2
}

union Choice {
    text: String

    @jsonName("the-number")
    number: Integer

    person: Person

    nothing: Unit
}

structure Person {
    @required
    name: String

    age: Short

    friends: PersonList
}

@mediaType("image/png")
blob Picture

@mediaType("application/json")
string JsonText

list PersonList {
    member: Person
}

map PersonMap {
    key: String
    value: Person
}

list StringList {
    member: String
}

list IntegerList {
    member: Integer
}

list BooleanList {
    member: Boolean
}

list TimestampList {
    member: Timestamp
}

list EpochList {
    @timestampFormat("epoch-seconds")
    member: Timestamp
}

list ColorList {
    member: Color
}

@sparse
list SparseList {
    member: Integer
}

map StringMap {
    key: String
    value: String
}

map QueryMap {
    key: String
    value: StringList
}
