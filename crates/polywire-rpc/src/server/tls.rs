//! HTTPS: settings that can change while the server runs, and handshakes.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use std::{fmt, io};

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::accept;
use super::byte_stream::ByteStream;
use super::connection::{connection, stop_and_wait};
use super::listener::bind;
use super::peer::{Known, Peer};
use super::running::Running;
use super::{Server, Timeouts};

/// A certificate chain, a key, or roots, in PEM: a file, or the text itself.
#[derive(Clone)]
pub struct Pem(Source);

#[derive(Clone)]
enum Source {
    File(PathBuf),
    Text(Arc<[u8]>),
}

impl Pem {
    /// A file, read when the settings are built and at each reload.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Source::File(path.into()))
    }

    /// The text.
    pub fn text(text: impl AsRef<[u8]>) -> Self {
        Self(Source::Text(text.as_ref().into()))
    }

    fn read(&self) -> Result<Vec<u8>, TlsError> {
        match &self.0 {
            Source::File(path) => std::fs::read(path).map_err(|error| self.wrong(error)),
            Source::Text(text) => Ok(text.to_vec()),
        }
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let text = self.read()?;
        let all = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
        let all = all.map_err(|error| self.wrong(error))?;
        if all.is_empty() {
            return Err(self.wrong("it holds no certificate (BEGIN CERTIFICATE)"));
        }
        Ok(all)
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        PrivateKeyDer::from_pem_slice(&self.read()?).map_err(|error| match error {
            pem::Error::NoItemsFound => self.wrong("it holds no private key (BEGIN PRIVATE KEY)"),
            other => self.wrong(other),
        })
    }

    /// An error about this.
    fn wrong(&self, reason: impl fmt::Display) -> TlsError {
        TlsError(format!("{self}: {reason}"))
    }
}

impl fmt::Display for Pem {
    /// The path. Never the text, which may be a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::File(path) => path.display().fmt(f),
            Source::Text(_) => f.write_str("the PEM text"),
        }
    }
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pem({self})")
    }
}

/// Whether clients have to show a certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClientCertificates {
    /// A client without one is turned away in the handshake.
    Required,
    /// A client may have none; one that it has must be good.
    Optional,
}

/// Why settings cannot be used. It names the file, and never shows a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

/// What a server shows and asks in TLS.
///
/// TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1. Clones are one: what one of them
/// reloads, all have.
///
/// ```no_run
/// use polywire_rpc::Server;
/// use polywire_rpc::server::{ClientCertificates, Pem, Tls};
///
/// async fn listen(server: &Server) -> Result<(), Box<dyn std::error::Error>> {
///     let tls = Tls::builder(Pem::file("server.pem"), Pem::file("server.key"))
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
pub struct Tls(Arc<Shared>);

struct Shared {
    builder: Mutex<TlsBuilder>,
    current: RwLock<Current>,
}

#[derive(Clone)]
struct Current {
    config: Arc<ServerConfig>,
    handshake: Duration,
}

/// Builds [`Tls`].
#[derive(Clone, Debug)]
pub struct TlsBuilder {
    own: (Pem, Pem),
    named: Vec<(String, Pem, Pem)>,
    clients: Option<(ClientCertificates, Pem)>,
    handshake: Duration,
}

impl Tls {
    /// Begins with a certificate chain, the server's own certificate first, and
    /// its private key (PKCS #8, PKCS #1 or SEC 1).
    #[must_use]
    pub const fn builder(certificates: Pem, key: Pem) -> TlsBuilder {
        TlsBuilder {
            own: (certificates, key),
            named: Vec::new(),
            clients: None,
            handshake: Duration::from_secs(10),
        }
    }

    /// Reads all files again. New connections see what they hold now, those that
    /// are open go on. The files are read by the calling thread.
    ///
    /// # Errors
    ///
    /// A file cannot be read or used. Then everything stays as it was.
    pub fn reload(&self) -> Result<(), TlsError> {
        let builder = self.0.builder.lock();
        let builder = builder.unwrap_or_else(PoisonError::into_inner).clone();
        self.replace(builder)
    }

    /// Puts other settings in the place of these, for new connections.
    ///
    /// # Errors
    ///
    /// They cannot be used. Then everything stays as it was.
    pub fn replace(&self, builder: TlsBuilder) -> Result<(), TlsError> {
        let current = builder.current()?;
        let shared = &self.0;
        *shared
            .builder
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = builder;
        *shared
            .current
            .write()
            .unwrap_or_else(PoisonError::into_inner) = current;
        Ok(())
    }

    fn current(&self) -> Current {
        let current = self.0.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let builder = self.0.builder.lock();
        builder.unwrap_or_else(PoisonError::into_inner).fmt(f)
    }
}

impl TlsBuilder {
    /// Adds a certificate for a name that clients ask for, or for all names one
    /// step below it: `api.example.org`, `*.example.org`. Who asks for any other
    /// name, or for none, gets the first certificate.
    #[must_use]
    pub fn certificate_for(mut self, name: impl Into<String>, certificates: Pem, key: Pem) -> Self {
        let name = name.into().to_ascii_lowercase();
        self.named.push((name, certificates, key));
        self
    }

    /// Asks clients for certificates that these roots have signed, and no others:
    /// the system's roots do not count.
    #[must_use]
    pub fn clients(mut self, clients: ClientCertificates, roots: Pem) -> Self {
        self.clients = Some((clients, roots));
        self
    }

    /// Sets how long a handshake may take: 10 seconds unless this says other.
    #[must_use]
    pub const fn handshake_timeout(mut self, time: Duration) -> Self {
        self.handshake = time;
        self
    }

    /// The settings.
    ///
    /// # Errors
    ///
    /// A file cannot be read, holds nothing of the kind, or a key does not belong
    /// to its certificate.
    pub fn build(self) -> Result<Tls, TlsError> {
        let current = self.current()?;
        Ok(Tls(Arc::new(Shared {
            builder: Mutex::new(self),
            current: RwLock::new(current),
        })))
    }

    fn current(&self) -> Result<Current, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let mut named = HashMap::new();
        for (name, certificates, key) in &self.named {
            named.insert(name.clone(), certified(certificates, key, &provider)?);
        }
        let (certificates, key) = &self.own;
        let certificates = Certificates {
            own: certified(certificates, key, &provider)?,
            named,
        };
        let general = |error: rustls::Error| TlsError(error.to_string());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(general)?;
        let config = match &self.clients {
            None => config.with_no_client_auth(),
            Some((clients, pem)) => {
                let mut roots = RootCertStore::empty();
                for root in pem.certificates()? {
                    roots.add(root).map_err(|error| pem.wrong(error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
                let verifier = match clients {
                    ClientCertificates::Required => verifier,
                    ClientCertificates::Optional => verifier.allow_unauthenticated(),
                };
                let verifier = verifier.build().map_err(|error| pem.wrong(error))?;
                config.with_client_cert_verifier(verifier)
            }
        };
        let mut config = config.with_cert_resolver(Arc::new(certificates));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let handshake = Timeouts::DEFAULT.with_head(self.handshake);
        Ok(Current {
            config: Arc::new(config),
            handshake: handshake.capped().head,
        })
    }
}

fn certified(
    certificates: &Pem,
    key: &Pem,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, TlsError> {
    let chain = certificates.certificates()?;
    let certified = CertifiedKey::from_der(chain, key.key()?, provider);
    certified.map(Arc::new).map_err(|error| {
        let key = format_args!("{error} (with the key of {key})");
        certificates.wrong(key)
    })
}

/// Which certificate is shown.
#[derive(Debug)]
struct Certificates {
    own: Arc<CertifiedKey>,
    named: HashMap<String, Arc<CertifiedKey>>,
}

impl ResolvesServerCert for Certificates {
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

/// What a peer over TLS has shown of itself.
#[derive(Clone, Debug)]
pub struct TlsPeer {
    certificates: Vec<CertificateDer<'static>>,
    server_name: Option<String>,
    alpn: Option<Vec<u8>>,
    version: &'static str,
}

impl TlsPeer {
    fn of(connection: &ServerConnection) -> Self {
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

    /// Its certificates in DER, its own first; none if it has shown none. They have
    /// been checked against the roots that the server was given.
    pub fn certificates(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.certificates.iter().map(|certificate| &**certificate)
    }

    /// The name of the server that it asked for (SNI).
    #[must_use]
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }

    /// The protocol that it and the server have agreed on (ALPN): `h2` or `http/1.1`,
    /// if it named any.
    #[must_use]
    pub fn alpn(&self) -> Option<&[u8]> {
        self.alpn.as_deref()
    }

    /// `TLSv1.3` or `TLSv1.2`.
    #[must_use]
    pub const fn version(&self) -> &'static str {
        self.version
    }
}

impl Server {
    /// Listens on an address for HTTPS and serves in the background, on this
    /// runtime.
    ///
    /// # Errors
    ///
    /// The address is not to be had.
    pub async fn listen_tls(&self, address: SocketAddr, tls: &Tls) -> io::Result<Running> {
        let listener = TcpListener::from_std(bind(address)?)?;
        self.serve_tls(listener, tls)
    }

    /// Serves the connections of a listener as HTTPS in the background, on this
    /// runtime.
    ///
    /// # Errors
    ///
    /// The listener has no address.
    pub fn serve_tls(&self, listener: TcpListener, tls: &Tls) -> io::Result<Running> {
        let address = listener.local_addr()?;
        let tls = tls.clone();
        let speak = move |server, stream, peer, stopped| {
            encrypted(server, stream, peer, stopped, tls.current())
        };
        Ok(accept::serve(self, address, listener, b"", speak))
    }
}

/// Speaks HTTPS on a connection.
async fn encrypted(
    server: Server,
    stream: TcpStream,
    peer: Peer,
    stopped: watch::Receiver<bool>,
    tls: Current,
) {
    // Apart, since it is needed for a moment only: a future stays as large as
    // what it holds at its largest.
    let handshake = Box::pin(handshake(stream, &peer, tls));
    let stream = tokio::select! {
        biased;
        stream = handshake => stream,
        () = stop_and_wait(stopped.clone()) => return,
    };
    let Some(stream) = stream else { return };
    let peer = Peer::known(Known {
        address: peer.address(),
        tls: Some(TlsPeer::of(stream.get_ref().1)),
        ..Known::default()
    });
    // Boxed: it is large, and is moved several times.
    connection(server, ByteStream::Tls(Box::new(stream)), peer, stopped).await;
}

async fn handshake(
    mut stream: TcpStream,
    peer: &Peer,
    tls: Current,
) -> Option<tokio_rustls::server::TlsStream<TcpStream>> {
    let shaken = tokio::time::timeout(tls.handshake, async {
        if speaks_http(&stream).await? {
            let _ = stream.write_all(NOT_ENCRYPTED).await;
            let _ = stream.shutdown().await;
            let text = "the peer speaks HTTP where HTTPS is offered";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        TlsAcceptor::from(tls.config).accept(stream).await
    });
    match shaken.await {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err(error)) => {
            tracing::debug!(?peer, %error, "a handshake failed");
            None
        }
        Err(_) => {
            tracing::debug!(?peer, "a handshake took too long");
            None
        }
    }
}

const NOT_ENCRYPTED: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 62\r\n\
    Connection: close\r\n\r\n\
    This port speaks HTTPS. Call it with a URL of https://, please";

/// Whether the first byte is the letter of an HTTP method: the most frequent
/// mistake, which would otherwise show as noise at both ends.
async fn speaks_http(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0];
    let count = stream.peek(&mut first).await?;
    Ok(count == 1 && first[0].is_ascii_uppercase())
}
