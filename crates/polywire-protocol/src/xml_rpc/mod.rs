//! `polywire#xmlRpc`.
//!
//! <http://xmlrpc.com/spec.md>. `docs/xmlrpc-mapping.md` defines how Smithy shapes are written.

mod client;
mod code;
mod server;

use std::collections::HashMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_codec::xmlrpc::{
    Envelope, FaultDetail, ForbiddenText, Style, XmlRpcEncoder, XmlRpcProfile, to_utf8,
};
use polywire_schema::{Body, Error, Limits, Member, MemberFlags, OperationFlags, Service};

pub use self::code::{fault_code, fault_of_code};
use crate::endpoint_path::EndpointPath;
use crate::protocol::{FromService, MountError, ProtocolInfo, ProtocolKind};
use crate::{Fault, media};

const NAME: &str = "XML-RPC";
const TEXT_XML: HeaderValue = HeaderValue::from_static("text/xml");

/// XML-RPC: one path, the method name in the body, and one struct or positional parameters.
///
/// The quoted sections are those of [the specification](http://xmlrpc.com/spec.md), and of
/// `docs/xmlrpc-mapping.md` where the specification leaves something open.
///
/// - Clients send calls as `POST` with `text/xml` to `/RPC2` or [another path](Self::at_path).
///   "Header requirements" leaves the path to the server.
/// - A server rejects calls as `text/plain` and as HTML forms with status 415, because any web page
///   can make a browser send them: "Over HTTP" of the mapping.
/// - The input is one struct, or with `@xmlRpcMethod` a list of positional parameters: "Payload
///   format", and "Input" of the mapping.
/// - Numbers that do not fit in `int` are written as `i8`, and missing values of sparse lists as
///   `nil`. Both are extensions of the specification: "Scalar values", and "Types" of the mapping.
/// - All responses to calls have the status 200, also faults: "Response format". Faults have the
///   codes of the [interoperability
///   specification](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php).
///   [`Style::fault_detail`] controls whether a third member, `detail`, contains the error
///   structure: "Modelled errors" of the mapping.
#[derive(Debug)]
pub struct XmlRpc {
    path: EndpointPath,
    methods: HashMap<String, u32>,
    profile: XmlRpcProfile,
    style: Style,
}

/// The member of a fault that contains a modelled error.
const DETAIL: &str = "detail";

/// The header and the value with which a client requests that member.
const DETAIL_HEADER: HeaderName = HeaderName::from_static("polywire-fault-detail");
const YES: HeaderValue = HeaderValue::from_static("yes");

impl XmlRpc {
    /// Creates the protocol for a service, at the path `/RPC2`.
    ///
    /// # Errors
    ///
    /// Two operations have the same method name, or an input is positional and has members with
    /// `@xmlAttribute`, which would be moved to the front.
    pub fn new(service: Service<'_>) -> Result<Self, MountError> {
        let mut methods = HashMap::new();
        for operation in service.operations() {
            let method = operation.xmlrpc_method().to_owned();
            let is_attribute = |member: Member<'_>| member.has(MemberFlags::XML_ATTRIBUTE);
            if operation.has(OperationFlags::POSITIONAL)
                && operation.input().members().any(is_attribute)
            {
                let name = operation.name();
                return Err(MountError(format!(
                    "{name}: its parameters are positional, and @xmlAttribute moves members of \
                     its input to the front"
                )));
            }
            if methods.insert(method.clone(), operation.index()).is_some() {
                let name = operation.name();
                return Err(MountError(format!(
                    "{name}: another operation also has the method name {method}"
                )));
            }
        }
        Ok(Self {
            path: EndpointPath::new("/RPC2", NAME),
            methods,
            profile: XmlRpcProfile::DEFAULT,
            style: Style::DEFAULT,
        })
    }

    /// Returns the protocol with another path, which starts with a slash.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.path = EndpointPath::new(path, NAME);
        self
    }

    /// Sets how messages are decoded, including the leniencies for nonconforming peers. A client
    /// adds those of [`XmlRpcProfile::for_client`].
    ///
    /// ```
    /// use polywire_codec::xmlrpc::{Leniency, Style, XmlRpcProfile};
    /// use polywire_protocol::{MountError, XmlRpc};
    /// use polywire_schema::Service;
    ///
    /// /// For clients in PHP, and for clients that accept fractions of a second.
    /// fn protocol(service: Service<'_>) -> Result<XmlRpc, MountError> {
    ///     let leniency = Leniency::STRICT.with_foreign_encodings(true);
    ///     let protocol = XmlRpc::new(service)?
    ///         .with_profile(XmlRpcProfile::DEFAULT.with_leniency(leniency))
    ///         .with_style(Style::DEFAULT.with_fractions(true));
    ///     Ok(protocol)
    /// }
    /// # let _ = protocol;
    /// ```
    #[must_use]
    pub const fn with_profile(mut self, profile: XmlRpcProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets how calls, results and faults are written where the specification allows several forms.
    #[must_use]
    pub const fn with_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    fn encoder(&self, envelope: Envelope<'_>) -> XmlRpcEncoder {
        XmlRpcEncoder::new(envelope, Vec::with_capacity(512)).with_style(self.style)
    }

    /// Returns whether to write the member `detail` of a fault.
    fn includes_detail(&self, fault: &Fault) -> bool {
        match self.style.fault_detail {
            FaultDetail::Always => true,
            FaultDetail::Never => false,
            _ => fault.wants_detail(),
        }
    }

    /// Creates an encoder for a fault. The text is always a string, because clients show it to
    /// users.
    fn fault_encoder(&self) -> XmlRpcEncoder {
        let style = match self.style.forbidden {
            ForbiddenText::Base64 => self.style.with_forbidden(ForbiddenText::Replace),
            _ => self.style,
        };
        self.encoder(Envelope::Fault).with_style(style)
    }
}

impl ProtocolInfo for XmlRpc {
    fn kind(&self) -> ProtocolKind {
        ProtocolKind::XmlRpc
    }

    fn in_utf8(
        &self,
        headers: &HeaderMap,
        body: &Body,
        limits: &Limits,
    ) -> Result<Option<Body>, Error> {
        let leniency = self.profile.leniency;
        if !leniency.foreign_encodings() {
            return Ok(None);
        }
        to_utf8(body, media::charset(headers), leniency, limits)
    }
}

impl FromService for XmlRpc {
    fn from_service(service: Service<'_>) -> Result<Self, MountError> {
        Self::new(service)
    }
}
