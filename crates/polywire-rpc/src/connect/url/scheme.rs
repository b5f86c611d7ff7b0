//! The table of schemes.

/// How the client and the server talk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wire {
    Http {
        tls: bool,
    },
    /// SCGI, with one connection per request.
    Scgi,
    /// Frames over a byte stream: TCP, TLS, a Unix socket or memory.
    Frames {
        tls: bool,
    },
    /// Frames over UDP.
    Datagrams,
    #[cfg_attr(
        not(feature = "websocket"),
        expect(dead_code, reason = "no scheme of the table has it")
    )]
    WebSocket {
        tls: bool,
    },
}

impl Wire {
    pub(crate) const fn is_tls(self) -> bool {
        match self {
            Self::Http { tls } | Self::Frames { tls } | Self::WebSocket { tls } => tls,
            Self::Scgi | Self::Datagrams => false,
        }
    }

    /// The port of a URL that names none.
    pub(super) const fn default_port(self) -> Option<u16> {
        match self {
            Self::Http { tls } | Self::WebSocket { tls } => Some(if tls { 443 } else { 80 }),
            Self::Scgi | Self::Frames { .. } | Self::Datagrams => None,
        }
    }
}

/// The kinds of clients. Each accepts its own schemes, and `unix` has a meaning per kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ClientKind {
    Http,
    Frames,
    #[cfg(feature = "websocket")]
    WebSocket,
}

/// What follows the `://` of a URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// A host and a port, and perhaps a path.
    Host,
    /// The path of a socket, and perhaps a path of requests.
    Unix,
    /// The name of a server in this process.
    InProcess,
}

/// One row of the table: a scheme as one kind of client reads it.
pub(super) struct Scheme {
    name: &'static str,
    kind: ClientKind,
    pub(super) wire: Wire,
    pub(super) form: Form,
    /// The URL in lists of what is expected. Empty for a second spelling.
    example: &'static str,
}

const fn http(name: &'static str, wire: Wire, form: Form, example: &'static str) -> Scheme {
    Scheme {
        name,
        kind: ClientKind::Http,
        wire,
        form,
        example,
    }
}

const fn frames(name: &'static str, wire: Wire, form: Form, example: &'static str) -> Scheme {
    Scheme {
        name,
        kind: ClientKind::Frames,
        wire,
        form,
        example,
    }
}

#[cfg(feature = "websocket")]
const fn websocket(name: &'static str, tls: bool, form: Form, example: &'static str) -> Scheme {
    Scheme {
        name,
        kind: ClientKind::WebSocket,
        wire: Wire::WebSocket { tls },
        form,
        example,
    }
}

const HTTP: Wire = Wire::Http { tls: false };
const FRAMES: Wire = Wire::Frames { tls: false };

const SCHEMES: &[Scheme] = &[
    http("http", HTTP, Form::Host, "http://HOST"),
    http(
        "https",
        Wire::Http { tls: true },
        Form::Host,
        "https://HOST",
    ),
    http("http+unix", HTTP, Form::Unix, "http+unix://SOCKET"),
    http("unix", HTTP, Form::Unix, ""),
    http("scgi", Wire::Scgi, Form::Host, "scgi://HOST:PORT"),
    http("scgi+unix", Wire::Scgi, Form::Unix, "scgi+unix://SOCKET"),
    frames("tcp", FRAMES, Form::Host, "tcp://HOST:PORT"),
    frames(
        "tcp+tls",
        Wire::Frames { tls: true },
        Form::Host,
        "tcp+tls://HOST:PORT",
    ),
    #[cfg(feature = "udp")]
    frames("udp", Wire::Datagrams, Form::Host, "udp://HOST:PORT"),
    frames("unix", FRAMES, Form::Unix, "unix:///PATH"),
    frames("inproc", FRAMES, Form::InProcess, "inproc://NAME"),
    #[cfg(feature = "websocket")]
    websocket("ws", false, Form::Host, "ws://HOST/PATH"),
    #[cfg(feature = "websocket")]
    websocket("wss", true, Form::Host, "wss://HOST/PATH"),
    #[cfg(feature = "websocket")]
    websocket("ws+unix", false, Form::Unix, "ws+unix://SOCKET"),
];

impl ClientKind {
    fn accepts(self, scheme: &Scheme) -> bool {
        match self {
            #[cfg(feature = "websocket")]
            // Frames can be the payload of a WebSocket.
            Self::Frames if scheme.kind == Self::WebSocket => true,
            _ => scheme.kind == self,
        }
    }

    /// Finds the row of a scheme in lower case. The error is the reason for a [`UrlError`](super::UrlError).
    pub(super) fn scheme(self, name: &str) -> Result<&'static Scheme, String> {
        let mut named = SCHEMES.iter().filter(|scheme| scheme.name == name);
        if let Some(scheme) = named.clone().find(|scheme| self.accepts(scheme)) {
            return Ok(scheme);
        }
        if self == Self::Http && named.any(|scheme| scheme.kind == Self::Frames) {
            let reason =
                "a scheme of frames: use ProtocolKind::Frame or the client of polywire_rpc::frames";
            return Err(reason.to_owned());
        }
        Err(format!("unknown scheme; {}", self.expected()))
    }

    /// Lists the URLs that this kind of client accepts.
    pub(super) fn expected(self) -> String {
        let rows = SCHEMES.iter().filter(|scheme| self.accepts(scheme));
        let examples = rows.map(|scheme| scheme.example);
        let examples: Vec<_> = examples.filter(|example| !example.is_empty()).collect();
        match examples.split_last() {
            Some((last, others)) => format!("expected {} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}
