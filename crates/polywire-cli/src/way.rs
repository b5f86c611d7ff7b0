//! Whom to trust on the way to a server, and by which proxy to go.

use std::path::PathBuf;

use polywire::rpc::connect::{Proxy, TransportError};
use polywire::rpc::tls::{ClientTls, Pem};

use crate::Failure;

#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct WayArguments {
    /// Trust servers whose certificates these authorities signed, in PEM,
    /// instead of those that the system trusts.
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Show this certificate to the server, in PEM.
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// The key of --cert, if it is in another file.
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Trust the server's certificate with this SHA-256, and no other; one of
    /// several, before a change of certificates.
    #[arg(long, value_name = "SHA256")]
    pin: Vec<String>,
    /// DANGEROUS: trust any certificate, so that whoever is in between reads
    /// and changes everything, passwords too. --pin is as little work and safe.
    #[arg(long, conflicts_with = "pin")]
    insecure: bool,
    /// Connect by a proxy: http://HOST:PORT or socks5h://HOST:PORT, or `env`
    /// for those that http_proxy, https_proxy, all_proxy and no_proxy name.
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
}

impl WayArguments {
    /// How TLS is spoken.
    pub(crate) fn tls(&self) -> Result<ClientTls, Failure> {
        let mut tls = ClientTls::new();
        if let Some(path) = &self.cacert {
            let roots = tls.root_certificates(Pem::file(path));
            tls = roots.map_err(Failure::usage)?;
        }
        if let Some(path) = &self.cert {
            let key = self.key.as_ref().unwrap_or(path);
            let identity = tls.client_certificate(Pem::file(path), Pem::file(key));
            tls = identity.map_err(Failure::usage)?;
        }
        for pin in &self.pin {
            tls = tls
                .pin_sha256(pin)
                .map_err(|error| Failure::usage(format!("--pin: {error}")))?;
        }
        Ok(tls.danger_accept_invalid_certificates(self.insecure))
    }

    /// The options that help where a call failed by a certificate that is not trusted, with the
    /// line break before them. Empty for other failures, and where the options are given.
    pub(crate) fn advice(&self, error: &(dyn std::error::Error + 'static)) -> &'static str {
        let transport: Option<&TransportError> = error.downcast_ref();
        let is_given = self.cacert.is_some() || !self.pin.is_empty();
        match transport.is_some_and(TransportError::is_untrusted) && !is_given {
            true => {
                "\ncertificate not trusted: pass its CA with --cacert FILE, or its fingerprint with \
                 --pin SHA256"
            }
            false => "",
        }
    }

    /// Whether anything is said about TLS.
    pub(crate) fn is_about_tls(&self) -> bool {
        let certificates = self.cacert.is_some() || self.cert.is_some() || self.key.is_some();
        certificates || !self.pin.is_empty() || self.insecure
    }

    /// The proxy, if there is one.
    pub(crate) fn proxy(&self) -> Result<Option<Proxy>, Failure> {
        match self.proxy.as_deref() {
            None => Ok(None),
            Some("env") => Proxy::from_environment().map_err(Failure::usage),
            Some(url) => Proxy::new(url).map(Some).map_err(Failure::usage),
        }
    }
}
