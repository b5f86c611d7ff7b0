$version: "2"
namespace example

@requestCompression(encodings: ["gzip"])
operation NoInput {}

@requestCompression(encodings: [])
operation NoEncodings {
    input := {}
}

@requestCompression(encodings: ["brotli", "GZIP", "zip"])
operation UnknownEncodings {
    input := {}
}

@requestCompression(encodings: ["gzip"])
operation Sized {
    input := {
        @required
        body: SizedStream
    }
}

@streaming
@requiresLength
blob SizedStream
