$version: "2"

namespace example.chat

@aws.protocols#restJson1
@aws.protocols#restXml
@aws.protocols#awsJson1_0
@aws.protocols#awsJson1_1
@smithy.protocols#rpcv2Cbor
service Chat {
    version: "1"
    operations: [Talk, Watch, Send]
}

@http(method: "POST", uri: "/talk")
operation Talk {
    input := {
        @required
        @httpHeader("x-room")
        room: String

        @required
        @httpPayload
        said: Said
    }
    output := {
        @httpHeader("x-welcome")
        welcome: String

        @httpPayload
        heard: Heard
    }
}

@http(method: "POST", uri: "/watch")
operation Watch {
    input := {
        @httpHeader("x-count")
        count: Integer
    }
    output := {
        @httpPayload
        heard: Heard
    }
}

@http(method: "POST", uri: "/send")
operation Send {
    input := {
        @httpPayload
        said: Said
    }
    output := {
        @httpHeader("x-count")
        count: Integer
    }
}

@streaming
union Said {
    line: Line
    left: Left
}

@streaming
union Heard {
    line: Line
    closed: Closed
}

structure Line {
    @eventHeader
    by: String

    @length(max: 100)
    text: String
}

structure Left {}

@error("client")
structure Closed {
    message: String
    seconds: Integer
}
