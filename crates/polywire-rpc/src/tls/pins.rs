//! Pinned certificates.

use std::sync::Arc;

use ring::digest;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};

use super::TlsError;

/// Parses a SHA-256: 64 hexadecimal digits, with or without colons.
pub(super) fn parse(fingerprint: &str) -> Result<[u8; 32], TlsError> {
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
    Ok(pin)
}

/// Formats a digest as `openssl x509 -fingerprint -sha256` does.
fn fingerprint(digest: &[u8]) -> String {
    let hex: Vec<String> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    hex.join(":")
}

/// Accepts the pinned certificates, or all. The server must have the key: the signature of the handshake is verified.
#[derive(Debug)]
pub(super) struct PinVerifier {
    /// Empty: all certificates.
    pins: Vec<[u8; 32]>,
    provider: Arc<CryptoProvider>,
}

impl PinVerifier {
    pub(super) const fn new(pins: Vec<[u8; 32]>, provider: Arc<CryptoProvider>) -> Self {
        Self { pins, provider }
    }
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.pins.is_empty() {
            return Ok(ServerCertVerified::assertion());
        }
        let digest = digest::digest(&digest::SHA256, end_entity);
        // A fingerprint is public, so a comparison in constant time is not needed.
        if self.pins.iter().any(|pin| pin == digest.as_ref()) {
            return Ok(ServerCertVerified::assertion());
        }
        let pinned: Vec<String> = self.pins.iter().map(|pin| fingerprint(pin)).collect();
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
