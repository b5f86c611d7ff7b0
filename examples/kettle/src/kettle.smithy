$version: "2"

namespace example.kettle

use aws.protocols#restJson1
use polywire#xmlRpc
use smithy.protocols#rpcv2Cbor

/// How to treat the leaves.
structure Recipe {
    /// How hot the water is, in degrees Celsius.
    @required
    @range(min: 60, max: 100)
    celsius: Integer

    /// How long the leaves stay in.
    @required
    seconds: Integer

    /// What to say when it is poured.
    @length(max: 80)
    note: String
}

/// Makes a pot of tea.
@http(method: "POST", uri: "/brew/{tea}")
@examples([
    {
        title: "Green tea for two"
        input: { tea: "green", cups: 2 }
        output: { recipe: { celsius: 80, seconds: 120 } }
    }
    {
        title: "Not tea at all"
        input: { tea: "coffee", cups: 2 }
        error: {
            shapeId: OnlyTea
            content: { message: "I'm a teapot" }
        }
    }
])
operation Brew {
    input := {
        @required
        @httpLabel
        tea: String

        @required
        @httpQuery("cups")
        @range(min: 1, max: 6)
        cups: Integer
    }
    output := {
        @required
        recipe: Recipe
    }
    errors: [OnlyTea]
}

/// A kettle that knows its teas.
@title("Kettle")
@restJson1
@rpcv2Cbor
@xmlRpc
service Kettle {
    version: "2026-11-22"
    operations: [Brew]
}

/// What was asked for is not tea.
@error("client")
@httpError(418)
structure OnlyTea {
    @required
    message: String
}
