// When to stop polling.
$version: "2.0"

namespace smithy.waiters

@trait(selector: "operation")
map waitable {
    key: WaiterName
    value: Waiter
}

@private
@pattern("^[A-Z]+[A-Za-z0-9]*$")
string WaiterName

@private
structure Waiter {
    documentation: String

    @required
    acceptors: Acceptors

    minDelay: Integer
    maxDelay: Integer
    deprecated: Boolean
    tags: WaiterTags
}

@private
list WaiterTags {
    member: String
}

@private
list Acceptors {
    member: Acceptor
}

@private
structure Acceptor {
    @required
    state: AcceptorState

    @required
    matcher: Document
}

@private
enum AcceptorState {
    SUCCESS = "success"
    FAILURE = "failure"
    RETRY = "retry"
}
