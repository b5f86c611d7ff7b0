//! Codes: of faults, and of reasons to close.

use std::fmt;

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$code_doc:meta])* $code:ident = $number:literal, $words:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Eq, Hash, PartialEq)]
        pub struct $name(pub u16);

        impl $name {
            $($(#[$code_doc])* pub const $code: Self = Self($number);)*

            /// The words of the page for it, if it has any.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($words),)*
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
        /// The caller cancelled.
        CANCELLED = 0x33, "cancelled";
        /// The time was over.
        DEADLINE = 0x32, "deadline";
        /// Who calls may not.
        FORBIDDEN = 0x06, "forbidden";
        /// Something went wrong in the server.
        INTERNAL = 0x20, "internal";
        /// A value that the model does not allow.
        INVALID = 0x02, "invalid";
        /// The payload could not be read.
        MALFORMED = 0x01, "malformed";
        /// An error of the model.
        MODELLED = 0x10, "modelled";
        /// An error of the service that no model lists.
        NAMED = 0x11, "named";
        /// The server has too much to do.
        OVERLOADED = 0x30, "overloaded";
        /// The payload is beyond a limit.
        TOO_LARGE = 0x04, "too large";
        /// Who calls is not known.
        UNAUTHENTICATED = 0x05, "unauthenticated";
        /// The server is about to stop.
        UNAVAILABLE = 0x31, "unavailable";
        /// There is no such operation, number or topic.
        UNKNOWN_OPERATION = 0x03, "unknown operation";
        /// Such a call cannot be made here.
        UNSUPPORTED = 0x07, "unsupported";
    }
}

codes! {
    /// Why a connection ends: the code of a `GOAWAY`.
    Reason {
        /// The connection is old enough.
        AGE = 0x01, "the connection is old enough";
        /// The sender has as many others as it takes: later, or elsewhere.
        FULL = 0x03, "there is no room for more";
        /// The handshake took too long.
        HANDSHAKE = 0x13, "the handshake took too long";
        /// The connection was idle.
        IDLE = 0x02, "the connection was idle";
        /// A frame is longer than allowed.
        LENGTH = 0x12, "a frame is longer than allowed";
        /// More was under way than allowed.
        LIMIT = 0x15, "more was under way than allowed";
        /// Pings came too often.
        PINGS = 0x16, "pings came too often";
        /// The other side broke a rule.
        PROTOCOL = 0x10, "a rule of the protocol was broken";
        /// Who connected may not.
        REFUSED = 0x17, "who connected may not";
        /// Nothing was heard for too long.
        SILENCE = 0x14, "nothing was heard for too long";
        /// The sender stops.
        STOP = 0x00, "the sender stops";
        /// The token of a datagram is not known.
        TOKEN = 0x18, "the token is not known";
        /// The version is not spoken.
        VERSION = 0x11, "the version is not spoken";
    }
}

impl Reason {
    /// Whether whoever is told so has made a mistake, and gets no answers any more.
    #[must_use]
    pub const fn is_mistake(self) -> bool {
        self.0 >= 0x10
    }
}
