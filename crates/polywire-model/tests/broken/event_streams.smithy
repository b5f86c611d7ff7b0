$version: "2"
namespace example

operation Subscribe {
    input := {
        events: Events
    }
    output := {
        events: Events
        nested: Holder
    }
}

structure Holder {
    events: Events
}

@streaming
union Events {
    message: Message
    text: String
    list: Names
}

list Names {
    member: String
}

structure Message {
    @eventPayload
    body: Blob

    @eventHeader
    kind: String

    loose: String
    lost: String
}
