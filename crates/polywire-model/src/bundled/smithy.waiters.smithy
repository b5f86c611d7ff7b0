// When to stop polling.
$version: "2.0"

namespace smithy.waiters

@length(min: 1)
@trait(selector: "operation :not(-[input, output]-> structure > member > union[trait|streaming])")
map waitable {
    key: WaiterName
    value: Waiter
}

@private
structure Acceptor {
    @required state: AcceptorState
    @required matcher: Matcher
    message: String
}

@private
enum AcceptorState {
    SUCCESS = "success"
    FAILURE = "failure"
    RETRY = "retry"
}

@private
@length(min: 1)
list Acceptors {
    member: Acceptor
}

@private
union Matcher {
    output: PathMatcher
    inputOutput: PathMatcher
    errorType: String
    success: Boolean
}

@private
@length(min: 1)
string NonEmptyString

@private
list NonEmptyStringList {
    member: NonEmptyString
}

@private
enum PathComparator {
    STRING_EQUALS = "stringEquals"
    BOOLEAN_EQUALS = "booleanEquals"
    ALL_STRING_EQUALS = "allStringEquals"
    ANY_STRING_EQUALS = "anyStringEquals"
}

@private
structure PathMatcher {
    @required path: String
    @required expected: String
    @required comparator: PathComparator
}

@private
structure Waiter {
    documentation: String
    @required acceptors: Acceptors
    minDelay: WaiterDelay = 2
    maxDelay: WaiterDelay = 120
    deprecated: Boolean
    tags: NonEmptyStringList
}

@range(min: 1)
integer WaiterDelay

@pattern("^[A-Z]+[A-Za-z0-9]*$")
string WaiterName
