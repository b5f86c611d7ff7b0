$version: "2"

namespace example.store

@aws.protocols#restXml
@aws.protocols#restJson1
service Store {
    version: "1"
    operations: [Put, Get, Echo, PutSized]
}

@http(method: "PUT", uri: "/objects/{key}")
operation Put {
    input := {
        @required
        @httpLabel
        key: String

        @httpPayload
        body: Stream = ""
    }
    output := {
        @httpHeader("x-count")
        count: Long

        @httpHeader("x-pieces")
        pieces: Integer
    }
}

@readonly
@http(method: "GET", uri: "/objects/{key}")
operation Get {
    input := {
        @required
        @httpLabel
        key: String
    }
    output := {
        @httpHeader("x-key")
        key: String

        @httpPayload
        body: Stream = ""
    }
    errors: [NotThere]
}

@http(method: "POST", uri: "/echo")
operation Echo {
    input := {
        @required
        @httpPayload
        body: Stream
    }
    output := {
        @required
        @httpPayload
        body: Stream
    }
}

@http(method: "PUT", uri: "/sized")
operation PutSized {
    input := {
        @required
        @httpPayload
        body: SizedStream
    }
}

@error("client")
@httpError(404)
structure NotThere {
    message: String
}

@streaming
blob Stream

@streaming
@requiresLength
blob SizedStream
