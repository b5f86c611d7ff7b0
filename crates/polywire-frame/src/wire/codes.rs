//! Codes of faults, and reasons for closing a connection.

use std::fmt;

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$code_doc:meta])* $code:ident = $number:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Eq, Hash, PartialEq)]
        pub struct $name(pub u16);

        impl $name {
            $($(#[$code_doc])* pub const $code: Self = Self($number);)*

            /// Its text in `docs/frame.md`, if it is known.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($text),)*
                    _ => None,
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "code 0x{:04x}", self.0),
                }
            }
        }
    };
}

codes! {
    /// Why a call failed: the code of a `FAULT`.
    FaultCode {
        /// The caller cancelled the call.
        CANCELLED = 0x33, "cancelled";
        /// The deadline has passed.
        DEADLINE = 0x32, "deadline";
        /// The caller is not allowed to make this call.
        FORBIDDEN = 0x06, "forbidden";
        /// An error in the server.
        INTERNAL = 0x20, "internal";
        /// A value violates a constraint of the model.
        INVALID = 0x02, "invalid";
        /// The payload could not be decoded.
        MALFORMED = 0x01, "malformed";
        /// An error of the model.
        MODELLED = 0x10, "modelled";
        /// An error of the service that is not in the model.
        NAMED = 0x11, "named";
        /// The server is overloaded.
        OVERLOADED = 0x30, "overloaded";
        /// The payload is above a limit.
        TOO_LARGE = 0x04, "too large";
        /// The caller is not authenticated.
        UNAUTHENTICATED = 0x05, "unauthenticated";
        /// The server is stopping.
        UNAVAILABLE = 0x31, "unavailable";
        /// There is no such operation, number or topic.
        UNKNOWN_OPERATION = 0x03, "unknown operation";
        /// The transport does not support such a call.
        UNSUPPORTED = 0x07, "unsupported";
    }
}

codes! {
    /// Why a connection ends: the code of a `GOAWAY`.
    Reason {
        /// The connection has reached its maximum age.
        AGE = 0x01, "the connection has reached its maximum age";
        /// The sender has reached its limit of connections.
        FULL = 0x03, "the limit of connections is reached";
        /// The handshake took too long.
        HANDSHAKE = 0x13, "the handshake took too long";
        /// The connection was idle.
        IDLE = 0x02, "the connection was idle";
        /// A frame is above the limit.
        LENGTH = 0x12, "a frame is above the limit";
        /// A limit of calls, bytes or credit was exceeded.
        LIMIT = 0x15, "a limit was exceeded";
        /// Pings were too frequent.
        PINGS = 0x16, "pings were too frequent";
        /// The peer violated the protocol.
        PROTOCOL = 0x10, "the protocol was violated";
        /// The peer is not allowed to connect.
        REFUSED = 0x17, "the client is not allowed to connect";
        /// Nothing was received for too long.
        SILENCE = 0x14, "nothing was received for too long";
        /// The sender stops.
        STOP = 0x00, "the sender stops";
        /// The token of a datagram is unknown.
        TOKEN = 0x18, "the token is unknown";
        /// The version is not supported.
        VERSION = 0x11, "the version is not supported";
    }
}

impl Reason {
    /// Whether the receiver of this code has violated the protocol. Its open calls are not answered.
    #[must_use]
    pub const fn is_error(self) -> bool {
        self.0 >= 0x10
    }
}
