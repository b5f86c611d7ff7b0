//! The protocols as values.

use std::fmt;

use polywire_codec::Format;
use polywire_schema::{Service, for_each_protocol};

use crate::protocol::{ClientProtocol, FromService, MountError, Protocol, ServerProtocol};

macro_rules! define {
    ($arguments:tt $($kind:ident $namespace:literal $name:literal [$($format:ident)+])+) => {
        /// A protocol: how the operations of a service become messages.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum ProtocolKind {
            $(
                #[doc = concat!("`", $namespace, "#", $name, "`.")]
                $kind,
            )+
        }

        impl ProtocolKind {
            /// All protocols, by name.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$kind,)+];

            /// The name of the trait without its namespace: `restJson1`, `xmlRpc`, `frame`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// The id of the trait: `aws.protocols#restJson1`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($namespace, "#", $name),)+
                }
            }

            /// The formats of its messages.
            #[must_use]
            pub const fn formats(self) -> &'static [Format] {
                match self {
                    $(Self::$kind => &[$(Format::$format),+],)+
                }
            }
        }
    };
}

for_each_protocol!(define!());

/// The protocol of a kind, as the trait object that the function returns.
macro_rules! boxed {
    (($value:expr, $service:expr) $($kind:ident $namespace:literal $name:literal $formats:tt)+) => {
        Ok(match $value {
            $(ProtocolKind::$kind => Box::new(crate::$kind::from_service($service)?),)+
        })
    };
}

impl ProtocolKind {
    /// Whether its messages are requests and responses of HTTP. Those of
    /// [`Frame`](Self::Frame) are payloads of frames.
    #[must_use]
    pub const fn is_http(self) -> bool {
        !matches!(self, Self::Frame)
    }

    /// The protocols whose messages are requests and responses of HTTP.
    pub fn http() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.is_http())
    }

    /// The protocol with a name, in upper or lower case, or with an id.
    ///
    /// ```
    /// use polywire_protocol::ProtocolKind;
    ///
    /// let kind = ProtocolKind::from_name("restjson1");
    /// assert_eq!(kind, Some(ProtocolKind::RestJson1));
    /// assert_eq!(kind, ProtocolKind::from_name("aws.protocols#restJson1"));
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let is = |kind: &Self| kind.name().eq_ignore_ascii_case(name) || kind.id() == name;
        Self::ALL.into_iter().find(is)
    }

    /// Both sides of the protocol for a service.
    ///
    /// # Errors
    ///
    /// The protocol does not support the service. The message names the operation.
    pub fn build(self, service: Service<'_>) -> Result<Box<dyn Protocol>, MountError> {
        for_each_protocol!(boxed!(self, service))
    }

    /// The client side.
    ///
    /// A program that calls this links all protocols. One that needs a single protocol
    /// boxes that one: `RestXml::new`.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn client(self, service: Service<'_>) -> Result<Box<dyn ClientProtocol>, MountError> {
        for_each_protocol!(boxed!(self, service))
    }

    /// The server side.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn server(self, service: Service<'_>) -> Result<Box<dyn ServerProtocol>, MountError> {
        for_each_protocol!(boxed!(self, service))
    }
}

impl fmt::Display for ProtocolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
