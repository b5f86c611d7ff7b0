$version: "2"

namespace example

/// Has a shape that is called as `smithy.api#Unit`, which operations without input refer to.
service Metrics {
    version: "1"
    operations: [Put, Reset]
}

operation Put {
    input := {
        unit: Unit
    }
}

operation Reset {}

enum Unit {
    SECONDS
    COUNT
}
