$version: "2"
namespace example

use smithy.waiters#waitable

service Service {
    version: "1"
    operations: [GetThing, GetOther]
}

@readonly
@waitable(
    ThingExists: {
        acceptors: [
            { state: "retry", matcher: { errorType: "NotFund" } }
            { state: "failure", matcher: { errorType: "other.namespace#NotFound" }, message: "stat" }
            { state: "retry", matcher: { success: true }, message: "state" }
        ]
        minDelay: 10
        maxDelay: 5
    }
    ThingReady: {
        acceptors: [
            {
                state: "success"
                matcher: { output: { path: "ready", comparator: "booleanEquals", expected: "yes" } }
            }
            {
                state: "success"
                matcher: { output: { path: "tags", comparator: "stringEquals", expected: "yes" } }
            }
            {
                state: "success"
                matcher: { output: { path: "stat", comparator: "stringEquals", expected: "yes" } }
            }
            {
                state: "success"
                matcher: { output: { path: "state[", comparator: "stringEquals", expected: "yes" } }
            }
            {
                state: "success"
                matcher: { inputOutput: { path: "state", comparator: "allStringEquals", expected: "yes" } }
            }
        ]
        maxDelay: 1
    }
)
operation GetThing {
    output := {
        ready: Boolean
        state: String
        tags: Tags
    }
    errors: [NotFound]
}

@readonly
@waitable(
    ThingREADY: {
        acceptors: [
            { state: "success", matcher: { success: true } }
        ]
    }
)
operation GetOther {}

list Tags {
    member: String
}

@error("client")
structure NotFound {}
