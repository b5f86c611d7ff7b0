//! Certificates and keys in PEM.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

/// Certificates or a key in PEM: a file, or the text itself.
///
/// Text converts into it: `&[u8]`, `&str`, `Vec<u8>` and `String`.
#[derive(Clone)]
pub struct Pem(Source);

#[derive(Clone)]
enum Source {
    File(PathBuf),
    Text(Arc<[u8]>),
}

/// Settings of TLS that cannot be used. The text names the file and contains no key.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(pub(super) String);

impl Pem {
    /// A file. A client reads it when it is set, a server when its settings are built and at each reload.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Source::File(path.into()))
    }

    /// The text.
    pub fn text(text: impl AsRef<[u8]>) -> Self {
        Self(Source::Text(text.as_ref().into()))
    }

    fn read(&self) -> Result<Vec<u8>, TlsError> {
        match &self.0 {
            Source::File(path) => std::fs::read(path).map_err(|error| self.error(error)),
            Source::Text(text) => Ok(text.to_vec()),
        }
    }

    /// At least one certificate.
    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let text = self.read()?;
        let all = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
        let all = all.map_err(|error| self.error(error))?;
        if all.is_empty() {
            return Err(self.error("it holds no certificate (BEGIN CERTIFICATE)"));
        }
        Ok(all)
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        PrivateKeyDer::from_pem_slice(&self.read()?).map_err(|error| match error {
            pem::Error::NoItemsFound => self.error("it holds no private key (BEGIN PRIVATE KEY)"),
            other => self.error(other),
        })
    }

    /// Certificates of authorities.
    pub(super) fn roots(&self) -> Result<RootCertStore, TlsError> {
        let mut roots = RootCertStore::empty();
        for root in self.certificates()? {
            roots.add(root).map_err(|error| self.error(error))?;
        }
        Ok(roots)
    }

    /// A certificate chain with its key. Checks that they belong together.
    pub(super) fn identity(&self, key: &Self) -> Result<Arc<CertifiedKey>, TlsError> {
        let identity = CertifiedKey::from_der(self.certificates()?, key.key()?, &super::provider());
        identity
            .map(Arc::new)
            .map_err(|error| self.error(format_args!("{error} (with the key of {key})")))
    }

    pub(super) fn error(&self, reason: impl fmt::Display) -> TlsError {
        TlsError(format!("{self}: {reason}"))
    }
}

impl From<&[u8]> for Pem {
    fn from(text: &[u8]) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Pem {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<Vec<u8>> for Pem {
    fn from(text: Vec<u8>) -> Self {
        Self::text(text)
    }
}

impl From<String> for Pem {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl fmt::Display for Pem {
    /// The path. Never the text, which can be a key.
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
