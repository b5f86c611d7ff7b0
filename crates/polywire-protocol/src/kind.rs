//! The enum of all protocols.

use std::fmt;

use polywire_codec::Format;
use polywire_schema::{Service, for_each_protocol};

use crate::protocol::{ClientProtocol, FromService, MountError, Protocol, ServerProtocol};

macro_rules! define {
    ($arguments:tt $($kind:ident $namespace:literal $name:literal [$($format:ident)+])+) => {
        /// A protocol.
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

            /// Returns the name of the trait without its namespace: `restJson1`, `xmlRpc`, `frame`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// Returns the shape id of the trait: `aws.protocols#restJson1`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($namespace, "#", $name),)+
                }
            }

            /// Returns the formats of its messages.
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

/// Creates the protocol of a kind as the trait object that the function returns.
macro_rules! boxed {
    (($value:expr, $service:expr) $($kind:ident $namespace:literal $name:literal $formats:tt)+) => {
        Ok(match $value {
            $(ProtocolKind::$kind => Box::new(crate::$kind::from_service($service)?),)+
        })
    };
}

impl ProtocolKind {
    /// Returns whether the protocol uses HTTP. [`Frame`](Self::Frame) does not.
    #[must_use]
    pub const fn is_http(self) -> bool {
        !matches!(self, Self::Frame)
    }

    /// Returns the protocols that use HTTP.
    pub fn http() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.is_http())
    }

    /// Returns the protocol with a name, ignoring case, or with a shape id.
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
        let matches = |kind: &Self| kind.name().eq_ignore_ascii_case(name) || kind.id() == name;
        Self::ALL.into_iter().find(matches)
    }

    /// Creates both sides of the protocol for a service.
    ///
    /// # Errors
    ///
    /// The protocol does not support the service. The message names the operation.
    pub fn build(self, service: Service<'_>) -> Result<Box<dyn Protocol>, MountError> {
        for_each_protocol!(boxed!(self, service))
    }

    /// Creates the client side of the protocol for a service.
    ///
    /// A program that calls this function contains the code of all protocols. Create a single
    /// protocol with its constructor instead, for example `RestXml::new`.
    ///
    /// # Errors
    ///
    /// The same as [`build`](Self::build).
    pub fn client(self, service: Service<'_>) -> Result<Box<dyn ClientProtocol>, MountError> {
        for_each_protocol!(boxed!(self, service))
    }

    /// Creates the server side of the protocol for a service.
    ///
    /// # Errors
    ///
    /// The same as [`build`](Self::build).
    pub fn server(self, service: Service<'_>) -> Result<Box<dyn ServerProtocol>, MountError> {
        for_each_protocol!(boxed!(self, service))
    }
}

impl fmt::Display for ProtocolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
