//! Options for TLS and proxies of clients.

use std::path::PathBuf;

use polywire::rpc::connect::{Proxy, TransportError};
use polywire::rpc::tls::{ClientTls, Pem};

use crate::Failure;

#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct TransportArguments {
    /// Trust certificates signed by these authorities (PEM format), instead of those of the system
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Send this client certificate (PEM format)
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// The private key of --cert, in PEM format, if it is not in the same file
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Trust only server certificates with this SHA-256 fingerprint. Can be repeated, for example
    /// before a certificate is replaced
    #[arg(long, value_name = "SHA256")]
    pin: Vec<String>,
    /// DANGEROUS: accept any certificate, so that attackers can read and change all data, including
    /// passwords. --pin is a safe alternative
    #[arg(long, conflicts_with = "pin")]
    insecure: bool,
    /// Connect through a proxy: http://HOST:PORT, socks5h://HOST:PORT, or `env` to use the
    /// variables http_proxy, https_proxy, all_proxy and no_proxy
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
}

impl TransportArguments {
    /// Returns the TLS settings.
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

    /// Returns a hint about options, with a leading line break, if a call failed because of an
    /// untrusted certificate. Empty for other failures, and if the options were given.
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

    /// Whether any TLS option is given.
    pub(crate) fn has_tls_options(&self) -> bool {
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
