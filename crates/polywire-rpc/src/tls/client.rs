//! The settings of a client.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, Error, RootCertStore};

use super::pins::PinVerifier;
use super::{Pem, TlsError, provider};

/// The settings of a client: the servers that it trusts, and its own certificate.
///
/// By default the certificate of a server must be signed by an authority that the system trusts, be valid at the current
/// time, and name the host of the URL. On Linux the authorities of the system are those of `/etc/ssl`, or of the file in
/// `SSL_CERT_FILE`.
///
/// ```no_run
/// use polywire_rpc::tls::{ClientTls, Pem};
///
/// let tls = ClientTls::new().root_certificates(Pem::file("/etc/company/ca.pem"))?;
/// # Ok::<(), polywire_rpc::tls::TlsError>(())
/// ```
#[derive(Clone)]
pub struct ClientTls {
    /// `None`: those of the system.
    roots: Option<RootCertStore>,
    system_roots_too: bool,
    identity: Option<Arc<CertifiedKey>>,
    server_name: Option<ServerName<'static>>,
    pins: Vec<[u8; 32]>,
    accept_invalid: bool,
}

impl ClientTls {
    /// The default settings.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            roots: None,
            system_roots_too: false,
            identity: None,
            server_name: None,
            pins: Vec::new(),
            accept_invalid: false,
        }
    }

    /// Trusts authorities: one or several certificates. They replace those of the system, unless
    /// [`system_roots_too`](Self::system_roots_too) is set.
    ///
    /// # Errors
    ///
    /// The PEM cannot be read, or contains no certificate or one that is not valid.
    pub fn root_certificates(mut self, pem: impl Into<Pem>) -> Result<Self, TlsError> {
        let added = pem.into().roots()?;
        let roots = self.roots.get_or_insert_with(RootCertStore::empty);
        roots.extend(added.roots);
        Ok(self)
    }

    /// Trusts the authorities of the system in addition to [`root_certificates`](Self::root_certificates).
    #[must_use]
    pub const fn system_roots_too(mut self, too: bool) -> Self {
        self.system_roots_too = too;
        self
    }

    /// Sends a certificate to servers that ask for one: the certificate, the intermediate certificates, and the private
    /// key. Both can be in one file.
    ///
    /// # Errors
    ///
    /// A certificate or a key is missing, they do not belong together, or the key is encrypted or of an unknown kind.
    pub fn client_certificate(
        mut self,
        chain: impl Into<Pem>,
        key: impl Into<Pem>,
    ) -> Result<Self, TlsError> {
        self.identity = Some(chain.into().identity(&key.into())?);
        Ok(self)
    }

    /// Replaces the host of the URL: in the check of the certificate and in the request (SNI).
    ///
    /// # Errors
    ///
    /// The name is not a host name or an address.
    pub fn server_name(mut self, name: &str) -> Result<Self, TlsError> {
        let name = ServerName::try_from(name.to_owned());
        let name = name.map_err(|_| TlsError("the server's name is no host".to_owned()))?;
        self.server_name = Some(name);
        Ok(self)
    }

    /// Trusts one certificate by its SHA-256 in hexadecimal, with or without colons, as
    /// `openssl x509 -fingerprint -sha256` prints it. Its issuer, names and dates are ignored, and no other certificate
    /// is accepted. Repeated calls pin several, for a change of certificates.
    ///
    /// # Errors
    ///
    /// The text is not a SHA-256.
    pub fn pin_sha256(mut self, fingerprint: &str) -> Result<Self, TlsError> {
        self.pins.push(super::pins::parse(fingerprint)?);
        Ok(self)
    }

    /// Accepts any certificate. Anybody on the path can then read and change everything, passwords included. For tests;
    /// [`pin_sha256`](Self::pin_sha256) is as simple, and safe. Without effect if certificates are pinned.
    #[must_use]
    pub const fn danger_accept_invalid_certificates(mut self, accept: bool) -> Self {
        self.accept_invalid = accept;
        self
    }

    /// The settings for rustls, with the protocol to negotiate (ALPN).
    pub(crate) fn config(&self, protocol: Option<&[u8]>) -> Result<Arc<ClientConfig>, TlsError> {
        let failed = |error: Error| TlsError(format!("TLS: {error}"));
        let provider = provider();
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(failed)?;
        let builder = if self.accept_invalid || !self.pins.is_empty() {
            let verifier = PinVerifier::new(self.pins.clone(), provider);
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(verifier))
        } else {
            builder.with_root_certificates(self.trusted()?)
        };
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let resolver = SingleCertAndKey::from(Arc::clone(identity));
                builder.with_client_cert_resolver(Arc::new(resolver))
            }
        };
        config.alpn_protocols = protocol.map(<[u8]>::to_vec).into_iter().collect();
        Ok(Arc::new(config))
    }

    /// The name to request and to check.
    pub(crate) fn name_for(&self, host: &str) -> Result<ServerName<'static>, TlsError> {
        if let Some(name) = &self.server_name {
            return Ok(name.clone());
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        ServerName::try_from(bare.to_owned())
            .map_err(|_| TlsError(format!("no certificate can name the host {host}")))
    }

    fn trusted(&self) -> Result<RootCertStore, TlsError> {
        let mut trusted = self.roots.clone().unwrap_or_else(RootCertStore::empty);
        if self.roots.is_none() || self.system_roots_too {
            let system = rustls_native_certs::load_native_certs();
            // Old systems have certificates that rustls does not accept.
            trusted.add_parsable_certificates(system.certs);
            if trusted.is_empty() {
                let reason = system.errors.first().map(|error| format!(" ({error})"));
                return Err(TlsError(format!(
                    "the system has no root certificates{}: install them (the package is often \
                     called ca-certificates), set SSL_CERT_FILE, or name an authority's \
                     certificate",
                    reason.unwrap_or_default()
                )));
            }
        }
        Ok(trusted)
    }
}

impl Default for ClientTls {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(|this| ClientTls {
    roots: this.roots.as_ref().map_or(0, RootCertStore::len),
    system_roots_too: this.system_roots_too,
    client_certificate: this.identity.is_some(),
    server_name: this.server_name,
    pins: this.pins.len(),
    danger_accept_invalid_certificates: this.accept_invalid
});
