//! TLS client certificates.

use ring::digest::{SHA256, digest};

use super::{AuthError, Authentication, Authenticator, CallHead, Identity};

/// Accepts callers with a client certificate, on any wire over TLS.
///
/// The TLS settings of the listener say which roots have to sign certificates:
/// [`ServerTlsBuilder::clients`](crate::tls::ServerTlsBuilder::clients). Certificates reach this authenticator only if they have
/// been verified in the handshake.
///
/// ```
/// use polywire_rpc::ServerBuilder;
/// use polywire_rpc::auth::ClientCertificateAuth;
///
/// fn protect(builder: ServerBuilder) -> ServerBuilder {
///     builder.authenticate(ClientCertificateAuth::any())
/// }
/// ```
pub struct ClientCertificateAuth {
    identify: Identify,
}

type Identify = Box<dyn Fn(&[u8]) -> Option<Identity> + Send + Sync>;

impl ClientCertificateAuth {
    /// Accepts every verified certificate. The name of the caller is the SHA-256 fingerprint of the certificate:
    /// `sha256:` and 64 hexadecimal digits.
    #[must_use]
    pub fn any() -> Self {
        Self::identify_with(|certificate| Some(Identity::new(fingerprint(certificate))))
    }

    /// Accepts the verified certificates for which a function returns an identity. It is given the certificate of the
    /// client in DER.
    pub fn identify_with(
        identify: impl Fn(&[u8]) -> Option<Identity> + Send + Sync + 'static,
    ) -> Self {
        Self {
            identify: Box::new(identify),
        }
    }
}

fn fingerprint(certificate: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in digest(&SHA256, certificate).as_ref() {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

impl Authenticator for ClientCertificateAuth {
    fn authenticate(&self, head: &CallHead<'_>) -> Authentication {
        let certificate = head.peer().tls().and_then(|tls| tls.certificates().next());
        let Some(certificate) = certificate else {
            return Authentication::Ready(Err(AuthError::MissingCredentials));
        };
        let identity = (self.identify)(certificate);
        identity.ok_or(AuthError::InvalidCredentials).into()
    }
}

impl_debug!(ClientCertificateAuth {});
