$version: "2"

namespace example.aws

use aws.protocols#httpChecksum
use aws.protocols#restXml

@restXml(noErrorWrapping: true)
@aws.auth#sigv4(name: "s3")
service Store {
    version: "1"
    operations: [Put, Get, Copy, Describe, Log]
}

@httpChecksum(requestAlgorithmMember: "algorithm")
@http(method: "PUT", uri: "/{key+}")
operation Put {
    input := {
        @required
        @httpLabel
        key: String

        @httpHeader("x-amz-sdk-checksum-algorithm")
        algorithm: Algorithm

        @httpHeader("Content-Encoding")
        encoding: String

        @httpHeader("Content-Length")
        length: Long

        @httpPayload
        body: Stream = ""
    }
    output := {
        @httpHeader("x-caller")
        caller: String

        @httpHeader("x-encoding")
        encoding: String

        @httpHeader("x-length")
        length: Long

        @httpHeader("x-crc32")
        crc32: String
    }
}

@httpChecksum(requestValidationModeMember: "mode", responseAlgorithms: ["CRC32", "SHA256"])
@readonly
@http(method: "GET", uri: "/{key+}")
operation Get {
    input := {
        @required
        @httpLabel
        key: String

        @httpHeader("x-amz-checksum-mode")
        mode: String
    }
    output := {
        @httpHeader("x-amz-checksum-crc32")
        crc32: String

        @httpPayload
        body: Stream = ""
    }
}

@http(method: "PUT", uri: "/{key+}?copy")
operation Copy {
    input := {
        @required
        @httpLabel
        key: String
    }
    output := {
        etag: String
    }
}

@requestCompression(encodings: ["gzip"])
@http(method: "POST", uri: "/log")
operation Log {
    input := {
        @httpPayload
        body: Stream = ""
    }
}

@http(method: "POST", uri: "/describe")
operation Describe {
    input := {
        name: String
    }
    output := {
        name: String
    }
    errors: [Busy, Conflict]
}

@error("client")
@httpError(400)
@retryable
structure Busy {
    message: String
}

@error("client")
@httpError(409)
structure Conflict {
    message: String
}

enum Algorithm {
    CRC32
    CRC32C
    CRC64NVME
    SHA1
    SHA256
}

@streaming
blob Stream
