$version: "2"
namespace example

use aws.protocols#restJson1

@restJson1
service Files {
    version: "1"
    operations: [Put, Get]
}

@idempotent
@http(method: "PUT", uri: "/files")
operation Put {
    input := {
        @required
        @httpPayload
        body: Sized
    }
    output := {
        @required
        @httpPayload
        body: Sized
    }
}

@readonly
@http(method: "GET", uri: "/files")
operation Get {
    output := {
        @httpPayload
        body: Stream
    }
    errors: [Partial]
}

@error("server")
structure Partial {
    @required
    @httpPayload
    rest: Stream
}

structure Wrapper {
    inner: Inner
}

structure Inner {
    @required
    body: Stream
}

@http(method: "POST", uri: "/post")
operation Post {
    input := {
        @required
        body: Stream
    }
}

service Wrapping {
    version: "1"
    operations: [Post, Wrap]
}

@restJson1
service Unbound {
    version: "1"
    operations: [Post]
}

@http(method: "POST", uri: "/wrap")
operation Wrap {
    input := {
        wrapper: Wrapper
    }
}

@streaming
@requiresLength
blob Sized

@streaming
blob Stream
