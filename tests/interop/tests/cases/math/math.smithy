$version: "2"

namespace polywire.interop.math

use polywire#jsonRpc

/// What every library of JSON-RPC can serve.
@jsonRpc
service Math {
    operations: [Subtract, Divide, Record, Count, Missing]
}

operation Subtract {
    input := {
        @required
        minuend: Integer
        @required
        subtrahend: Integer
    }
    output := {
        @required
        difference: Integer
    }
}

operation Divide {
    input := {
        @required
        dividend: Integer
        @required
        divisor: Integer
    }
    output := {
        @required
        quotient: Integer
    }
    errors: [DivisionByZero]
}

@error("client")
structure DivisionByZero {
    message: String
    dividend: Integer
}

/// Mostly called as a notification.
operation Record {
    input := {
        @required
        text: String
    }
}

/// How many times Record was called.
operation Count {
    output := {
        @required
        count: Integer
    }
}

/// Servers of others do not have it.
operation Missing {}
