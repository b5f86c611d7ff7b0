//! TLS 1.2 and 1.3 of clients and servers, by rustls with ring.
//!
//! [`ClientTls`] has the settings of a client, [`ServerTls`] those of a server. Both read certificates and keys as
//! [`Pem`] and report a [`TlsError`].

mod client;
mod handshake;
mod pem;
mod pins;
mod server;

pub use client::ClientTls;
pub(crate) use handshake::{advice, failure, is_untrusted};
pub use pem::{Pem, TlsError};
pub(crate) use server::Settings;
pub use server::{ClientCertificates, ServerTls, ServerTlsBuilder, TlsPeer};

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// The cryptography of Polywire, whatever other crates have installed for the process.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
