//! The settings of a server, which can change while it runs.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, ServerConnection};

use super::{Pem, TlsError, provider};

/// Whether clients must send a certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClientCertificates {
    /// The handshake fails without one.
    Required,
    /// A client can have none. A certificate that is sent must be valid.
    Optional,
}

/// The settings of a server: its certificates, and whether clients must have one.
///
/// The server negotiates HTTP/2 and HTTP/1.1. Clones share their settings: a reload of one is a reload of all.
///
/// ```no_run
/// use polywire_rpc::Server;
/// use polywire_rpc::tls::{ClientCertificates, Pem, ServerTls};
///
/// async fn listen(server: &Server) -> Result<(), Box<dyn std::error::Error>> {
///     let tls = ServerTls::builder(Pem::file("server.pem"), Pem::file("server.key"))
///         .clients(ClientCertificates::Required, Pem::file("clients-ca.pem"))
///         .build()?;
///     let running = server.listen_tls("127.0.0.1:8443".parse()?, &tls).await?;
///     // The files have changed:
///     tls.reload()?;
///     running.shutdown().await;
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct ServerTls(Arc<Shared>);

struct Shared {
    builder: Mutex<ServerTlsBuilder>,
    settings: RwLock<Settings>,
}

/// The settings of one connection.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) handshake_timeout: Duration,
}

/// Builds [`ServerTls`].
#[must_use]
#[derive(Clone, Debug)]
pub struct ServerTlsBuilder {
    own: (Pem, Pem),
    named: Vec<(String, Pem, Pem)>,
    clients: Option<(ClientCertificates, Pem)>,
    handshake_timeout: Duration,
}

impl ServerTls {
    /// Starts with a certificate chain, the certificate of the server first, and its private key (PKCS #8, PKCS #1 or
    /// SEC 1).
    pub const fn builder(certificates: Pem, key: Pem) -> ServerTlsBuilder {
        ServerTlsBuilder {
            own: (certificates, key),
            named: Vec::new(),
            clients: None,
            handshake_timeout: Duration::from_secs(10),
        }
    }

    /// Reads all files again, on the calling thread, for new connections. Open connections continue.
    ///
    /// # Errors
    ///
    /// A file cannot be read or used. Then nothing changes.
    pub fn reload(&self) -> Result<(), TlsError> {
        let builder = self.0.builder.lock();
        let builder = builder.unwrap_or_else(PoisonError::into_inner).clone();
        self.replace(builder)
    }

    /// Replaces the settings, for new connections.
    ///
    /// # Errors
    ///
    /// The new settings cannot be used. Then nothing changes.
    pub fn replace(&self, builder: ServerTlsBuilder) -> Result<(), TlsError> {
        let settings = builder.settings()?;
        let shared = &self.0;
        *shared
            .builder
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = builder;
        *shared
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = settings;
        Ok(())
    }

    pub(crate) fn settings(&self) -> Settings {
        let settings = self.0.settings.read();
        settings.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let builder = self.0.builder.lock();
        builder.unwrap_or_else(PoisonError::into_inner).fmt(f)
    }
}

impl ServerTlsBuilder {
    /// Adds a certificate for a name that clients request (SNI): `api.example.org`, or `*.example.org` for all names one
    /// level below. Clients that request another name or none get the first certificate.
    pub fn certificate_for(mut self, name: impl Into<String>, certificates: Pem, key: Pem) -> Self {
        let name = name.into().to_ascii_lowercase();
        self.named.push((name, certificates, key));
        self
    }

    /// Asks clients for certificates that these authorities signed. Those of the system do not count.
    pub fn clients(mut self, clients: ClientCertificates, roots: Pem) -> Self {
        self.clients = Some((clients, roots));
        self
    }

    /// Sets the time limit of a handshake. The default is 10 seconds.
    pub const fn handshake_timeout(mut self, time: Duration) -> Self {
        self.handshake_timeout = time;
        self
    }

    /// Reads the files and creates the settings.
    ///
    /// # Errors
    ///
    /// A file cannot be read, contains no certificate or key, or a key does not belong to its certificate.
    pub fn build(self) -> Result<ServerTls, TlsError> {
        let settings = self.settings()?;
        Ok(ServerTls(Arc::new(Shared {
            builder: Mutex::new(self),
            settings: RwLock::new(settings),
        })))
    }

    fn settings(&self) -> Result<Settings, TlsError> {
        let mut named = HashMap::new();
        for (name, certificates, key) in &self.named {
            named.insert(name.clone(), certificates.identity(key)?);
        }
        let (certificates, key) = &self.own;
        let resolver = CertificateResolver {
            own: certificates.identity(key)?,
            named,
        };
        let provider = provider();
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError(error.to_string()))?;
        let config = match &self.clients {
            None => config.with_no_client_auth(),
            Some((clients, pem)) => {
                let roots = Arc::new(pem.roots()?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                let verifier = match clients {
                    ClientCertificates::Required => verifier,
                    ClientCertificates::Optional => verifier.allow_unauthenticated(),
                };
                let verifier = verifier.build().map_err(|error| pem.error(error))?;
                config.with_client_cert_verifier(verifier)
            }
        };
        let mut config = config.with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let timeouts = crate::Timeouts::DEFAULT.with_head(self.handshake_timeout);
        Ok(Settings {
            config: Arc::new(config),
            handshake_timeout: timeouts.capped().head,
        })
    }
}

/// Selects the certificate of a handshake by the requested name.
#[derive(Debug)]
struct CertificateResolver {
    own: Arc<CertifiedKey>,
    named: HashMap<String, Arc<CertifiedKey>>,
}

impl ResolvesServerCert for CertificateResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let named = hello.server_name().and_then(|name| {
            if self.named.is_empty() {
                return None;
            }
            let name = name.to_ascii_lowercase();
            self.named.get(&name).or_else(|| {
                let (_, above) = name.split_once('.')?;
                self.named.get(&format!("*.{above}"))
            })
        });
        Some(Arc::clone(named.unwrap_or(&self.own)))
    }
}

/// The TLS session of a client, as its server sees it.
#[derive(Clone, Debug)]
pub struct TlsPeer {
    certificates: Vec<CertificateDer<'static>>,
    server_name: Option<String>,
    alpn: Option<Vec<u8>>,
    version: &'static str,
}

impl TlsPeer {
    /// Describes a session of another TLS implementation, for a [`Listener`](crate::server::Listener) that encrypts its
    /// connections itself. `certificates` are those of the client in DER, its own first. The listener must have checked
    /// them.
    #[must_use]
    pub fn new(certificates: Vec<Vec<u8>>) -> Self {
        Self {
            certificates: certificates.into_iter().map(Into::into).collect(),
            server_name: None,
            alpn: None,
            version: "unknown",
        }
    }

    pub(crate) fn of(connection: &ServerConnection) -> Self {
        let certificates = connection.peer_certificates().unwrap_or_default();
        Self {
            certificates: certificates.to_vec(),
            server_name: connection.server_name().map(str::to_owned),
            alpn: connection.alpn_protocol().map(<[u8]>::to_vec),
            version: match connection.protocol_version() {
                Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3",
                Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
                _ => "unknown",
            },
        }
    }

    /// The certificates of the client in DER, its own first. None if it sent none. They were checked against the roots of
    /// the server.
    pub fn certificates(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.certificates.iter().map(|certificate| &**certificate)
    }

    /// The requested name of the server (SNI).
    #[must_use]
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }

    /// The negotiated protocol (ALPN): `h2` or `http/1.1`.
    #[must_use]
    pub fn alpn(&self) -> Option<&[u8]> {
        self.alpn.as_deref()
    }

    /// `TLSv1.3` or `TLSv1.2`; `unknown` for another implementation.
    #[must_use]
    pub const fn version(&self) -> &'static str {
        self.version
    }
}
