//! TLS by rustls: whom to trust, and who one is.

use std::fmt;
use std::sync::Arc;

use ring::digest;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, RootCertStore,
    SignatureScheme,
};

/// How a client speaks TLS: which servers it trusts, and which certificate it shows.
///
/// Without any of it a server's certificate must be signed by an authority that the
/// system trusts (on Linux those of `/etc/ssl`, or of the file that `SSL_CERT_FILE`
/// names), be in its time, and name the host of the URL. TLS 1.2 and 1.3, by rustls with
/// ring.
///
/// ```no_run
/// use polywire_rpc::connect::Tls;
///
/// let authority = std::fs::read("/etc/company/ca.pem")?;
/// let tls = Tls::new().root_certificates(&authority)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Tls {
    roots: Vec<CertificateDer<'static>>,
    system_roots_too: bool,
    identity: Option<Arc<Identity>>,
    server_name: Option<ServerName<'static>>,
    pins: Vec<[u8; 32]>,
    accept_invalid: bool,
}

struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// Why TLS cannot be spoken so.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

impl Tls {
    /// As the system has it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts the authorities with these certificates, in PEM, one or several. They take
    /// the place of the system's, but for
    /// [`system_roots_too`](Self::system_roots_too).
    ///
    /// # Errors
    ///
    /// There is no certificate in it, or one that cannot be read.
    pub fn root_certificates(mut self, pem: &[u8]) -> Result<Self, TlsError> {
        let roots = certificates(pem)?;
        // What is none shall be said here, and not when somebody calls.
        let mut store = RootCertStore::empty();
        for root in &roots {
            let added = store.add(root.clone());
            added.map_err(|error| TlsError(format!("a root certificate: {error}")))?;
        }
        self.roots.extend(roots);
        Ok(self)
    }

    /// Trusts the system's authorities beside those that were given.
    #[must_use]
    pub const fn system_roots_too(mut self, too: bool) -> Self {
        self.system_roots_too = too;
        self
    }

    /// Shows a certificate to servers that ask for one: the certificate with those that
    /// lead to its authority, and its key, both in PEM. Both may be in one text.
    ///
    /// # Errors
    ///
    /// There is no certificate or no key, they do not belong together, or the key is
    /// encrypted or of a kind that is not known here.
    pub fn client_certificate(mut self, chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = certificates(chain)?;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| TlsError(format!("the key of the certificate: {error}")))?;
        let provider = provider();
        let signing = provider.key_provider.load_private_key(key.clone_key());
        let signing =
            signing.map_err(|error| TlsError(format!("the key of the certificate: {error}")))?;
        let pair = rustls::sign::CertifiedKey::new(chain.clone(), signing);
        match pair.keys_match() {
            Ok(()) | Err(Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {}
            Err(error) => return Err(TlsError(format!("certificate and key: {error}"))),
        }
        self.identity = Some(Arc::new(Identity { chain, key }));
        Ok(self)
    }

    /// Expects a server's certificate to name this host, and asks for it by this name
    /// (SNI), instead of that of the URL.
    ///
    /// # Errors
    ///
    /// It is no name of a host and no address.
    pub fn server_name(mut self, name: &str) -> Result<Self, TlsError> {
        let name = ServerName::try_from(name.to_owned());
        let name = name.map_err(|_| TlsError("the server's name is no host".to_owned()))?;
        self.server_name = Some(name);
        Ok(self)
    }

    /// Trusts the one certificate whose SHA-256 this is, in hexadecimal, with or without
    /// colons, as `openssl x509 -fingerprint -sha256` prints it. Who signed it, whom it
    /// names and when it ends are not looked at: it is this very certificate, or there is
    /// no connection. Several may be given, as before a change of certificates.
    ///
    /// # Errors
    ///
    /// It is no SHA-256.
    pub fn pin_sha256(mut self, fingerprint: &str) -> Result<Self, TlsError> {
        let expected = || {
            let text = "expected a SHA-256, 32 bytes as hexadecimal, as `openssl x509 -noout \
                        -fingerprint -sha256 -in FILE` prints it";
            TlsError(text.to_owned())
        };
        let digits: Option<Vec<u8>> = fingerprint
            .chars()
            .filter(|character| *character != ':')
            .map(|character| u8::try_from(character.to_digit(16)?).ok())
            .collect();
        let digits = digits.ok_or_else(expected)?;
        let mut pin = [0; 32];
        if digits.len() != 64 {
            return Err(expected());
        }
        for (byte, pair) in pin.iter_mut().zip(digits.chunks(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        self.pins.push(pin);
        Ok(self)
    }

    /// Takes any certificate of anybody, so that whoever stands in between reads and
    /// changes everything, passwords too. For tests; [`pin_sha256`](Self::pin_sha256) is
    /// as little work and safe. Where certificates are pinned this does nothing.
    #[must_use]
    pub const fn danger_accept_invalid_certificates(mut self, accept: bool) -> Self {
        self.accept_invalid = accept;
        self
    }

    /// What rustls wants to know; and the protocol to be asked for (ALPN), if there is one.
    pub(crate) fn config(&self, protocol: Option<&[u8]>) -> Result<Arc<ClientConfig>, TlsError> {
        let failed = |error: Error| TlsError(format!("TLS: {error}"));
        let provider = provider();
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(failed)?;
        let builder = if self.accept_invalid || !self.pins.is_empty() {
            // Who names certificates wants no other, whatever else is set.
            let pins = (!self.pins.is_empty()).then(|| self.pins.clone());
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Named { pins, provider }))
        } else {
            builder.with_root_certificates(self.store()?)
        };
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => builder
                .with_client_auth_cert(identity.chain.clone(), identity.key.clone_key())
                .map_err(failed)?,
        };
        config.alpn_protocols = protocol.map(<[u8]>::to_vec).into_iter().collect();
        Ok(Arc::new(config))
    }

    /// The name to ask a server for.
    pub(crate) fn name_for(&self, host: &str) -> Result<ServerName<'static>, TlsError> {
        if let Some(name) = &self.server_name {
            return Ok(name.clone());
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        ServerName::try_from(bare.to_owned())
            .map_err(|_| TlsError(format!("no certificate can name the host {host}")))
    }

    fn store(&self) -> Result<RootCertStore, TlsError> {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(self.roots.iter().cloned());
        if self.roots.is_empty() || self.system_roots_too {
            let system = rustls_native_certs::load_native_certs();
            // Some of a system's may be older than what is understood here.
            store.add_parsable_certificates(system.certs);
            if store.is_empty() {
                let why = system.errors.first().map(|error| format!(" ({error})"));
                return Err(TlsError(format!(
                    "the system has no root certificates{}: install them (the package is often \
                     called ca-certificates), set SSL_CERT_FILE, or name an authority's \
                     certificate",
                    why.unwrap_or_default()
                )));
            }
        }
        Ok(store)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("roots", &self.roots.len())
            .field("system_roots_too", &self.system_roots_too)
            .field("client_certificate", &self.identity.is_some())
            .field("server_name", &self.server_name)
            .field("pins", &self.pins.len())
            .field("danger_accept_invalid_certificates", &self.accept_invalid)
            .finish()
    }
}

/// What to say beside rustls's own words, where the next step is known.
pub(crate) fn hint(error: &std::io::Error) -> Option<&'static str> {
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    match error {
        Error::InvalidCertificate(reason) if is_unsigned(reason) => Some(
            "no authority that is trusted here signed the server's certificate; trust its own \
             as a root certificate, or pin it",
        ),
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => Some("the certificate is another host's"),
        Error::InvalidMessage(_) => {
            Some("the server may speak no TLS there: http instead of https?")
        }
        _ => None,
    }
}

/// Whether a handshake failed because no trusted authority signed the certificate of the server.
pub(crate) fn is_untrusted(error: &std::io::Error) -> bool {
    let own = error.get_ref().and_then(|error| error.downcast_ref());
    matches!(own, Some(Error::InvalidCertificate(reason)) if is_unsigned(reason))
}

const fn is_unsigned(reason: &CertificateError) -> bool {
    matches!(
        reason,
        CertificateError::UnknownIssuer | CertificateError::BadSignature
    )
}

/// What a handshake failed by: our own words, where rustls would show them as a program has them.
pub(crate) fn reason(error: std::io::Error) -> Box<dyn std::error::Error + Send + Sync> {
    let own = error.get_ref().and_then(|error| error.downcast_ref());
    match own {
        Some(Error::InvalidCertificate(CertificateError::Other(OtherError(own)))) => {
            match own.downcast_ref::<TlsError>() {
                Some(own) => own.clone().into(),
                None => error.into(),
            }
        }
        _ => error.into(),
    }
}

/// Ours, whatever other crates have installed for the process.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(read) if read.is_empty() => Err(TlsError(
            "expected certificates in PEM: -----BEGIN CERTIFICATE-----".to_owned(),
        )),
        Ok(read) => Ok(read),
        Err(error) => Err(TlsError(format!("certificates in PEM: {error}"))),
    }
}

/// As `openssl x509 -fingerprint -sha256` prints it, and as it can be pinned.
fn fingerprint(digest: &[u8]) -> String {
    let hex: Vec<String> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    hex.join(":")
}

/// Takes the certificates that were named, or all. Whoever shows one must still have its
/// key: the signature of the handshake is checked.
#[derive(Debug)]
struct Named {
    /// `None`: all.
    pins: Option<Vec<[u8; 32]>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(pins) = &self.pins else {
            return Ok(ServerCertVerified::assertion());
        };
        let digest = digest::digest(&digest::SHA256, end_entity);
        // A fingerprint is public: nothing is to be learnt from how long this takes.
        if pins.iter().any(|pin| pin == digest.as_ref()) {
            return Ok(ServerCertVerified::assertion());
        }
        let pinned: Vec<String> = pins.iter().map(|pin| fingerprint(pin)).collect();
        let found = fingerprint(digest.as_ref());
        let reason = OtherError(Arc::new(TlsError(format!(
            "the server's certificate has the SHA-256 {found}, and pinned is {}. If the server \
             has a new one, pin that; if not, somebody is in between",
            pinned.join(" or ")
        ))));
        Err(Error::InvalidCertificate(CertificateError::Other(reason)))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
