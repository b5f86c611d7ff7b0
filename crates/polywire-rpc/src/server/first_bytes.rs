//! Detects the protocol of a connection, HTTP/1, HTTP/2 or frames, by its first bytes.
//!
//! The bytes are read from the stream and kept, and the protocol reads them from here first. Peeking at the socket would
//! not report that the peer has closed the connection.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The connection preface of HTTP/2 (RFC 9113, section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The first byte of frames. No request of HTTP starts with it.
const FRAMES: u8 = polywire_frame::PREFACE[0];

/// The protocol that a client starts a connection with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum InitialProtocol {
    Frames,
    Http1,
    Http2,
}

/// The bytes that were read to detect the protocol.
#[derive(Debug, Default)]
pub(super) struct FirstBytes {
    bytes: [u8; PREFACE.len()],
    /// Number of bytes that were read.
    len: usize,
    /// Number of those that the protocol has not read.
    left: usize,
}

impl FirstBytes {
    /// Reads until the protocol is known. Cancel safe: bytes that were read are kept.
    pub(super) async fn detect<S>(&mut self, stream: &mut S) -> io::Result<InitialProtocol>
    where
        S: AsyncRead + Unpin,
    {
        loop {
            let len = stream.read(&mut self.bytes[self.len..]).await?;
            self.len += len;
            self.left += len;
            let bytes = self.received();
            // HTTP/1 rejects a preface that ends too early.
            if len == 0 || !PREFACE.starts_with(bytes) {
                return Ok(match bytes {
                    [FRAMES, ..] => InitialProtocol::Frames,
                    _ => InitialProtocol::Http1,
                });
            }
            if bytes.len() == PREFACE.len() {
                return Ok(InitialProtocol::Http2);
            }
        }
    }

    fn received(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether the protocol has read all bytes.
    pub(super) const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Returns the next bytes for the protocol, at most `room`.
    pub(super) fn take(&mut self, room: usize) -> &[u8] {
        let from = self.len - self.left;
        let count = self.left.min(room);
        self.left -= count;
        &self.bytes[from..from + count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The protocol of these pieces, and the bytes that were read to detect it.
    async fn after(pieces: &[&[u8]]) -> (InitialProtocol, Vec<u8>) {
        let (mut peer, mut stream) = tokio::io::duplex(64);
        let mut first = FirstBytes::default();
        let write = async {
            for piece in pieces {
                tokio::io::AsyncWriteExt::write_all(&mut peer, piece)
                    .await
                    .unwrap();
                tokio::task::yield_now().await;
            }
            drop(peer);
        };
        let (protocol, ()) = tokio::join!(first.detect(&mut stream), write);
        (protocol.unwrap(), first.received().to_vec())
    }

    #[tokio::test]
    async fn detects_the_http_version() {
        assert_eq!(
            after(&[PREFACE]).await,
            (InitialProtocol::Http2, PREFACE.to_vec())
        );
        let bytes: Vec<&[u8]> = PREFACE.chunks(1).collect();
        assert_eq!(
            after(&bytes).await,
            (InitialProtocol::Http2, PREFACE.to_vec())
        );
        assert_eq!(
            after(&[b"P", b"OST"]).await,
            (InitialProtocol::Http1, b"POST".to_vec())
        );
        assert_eq!(
            after(&[b"\xf7PW\x01"]).await,
            (InitialProtocol::Frames, b"\xf7PW\x01".to_vec())
        );
        assert_eq!(
            after(&[b"GET /"]).await,
            (InitialProtocol::Http1, b"GET /".to_vec())
        );
        // No byte after the preface is read, because HTTP/2 frames follow it.
        let more = [&PREFACE[..], b"more"].concat();
        assert_eq!(
            after(&[&more]).await,
            (InitialProtocol::Http2, PREFACE.to_vec())
        );
    }

    #[tokio::test]
    async fn detected_bytes_are_taken_by_the_protocol() {
        let mut first = FirstBytes::default();
        assert!(first.is_empty());
        assert_eq!(
            first.detect(&mut &b"GET /time"[..]).await.unwrap(),
            InitialProtocol::Http1
        );
        assert_eq!(first.take(5), b"GET /");
        assert!(!first.is_empty());
        assert_eq!(first.take(usize::MAX), b"time");
        assert!(first.is_empty());
        assert_eq!(first.take(5), b"");
    }

    #[tokio::test]
    async fn ends_with_the_peer() {
        assert_eq!(after(&[]).await, (InitialProtocol::Http1, Vec::new()));
        assert_eq!(
            after(&[b"P"]).await,
            (InitialProtocol::Http1, b"P".to_vec())
        );
        assert_eq!(
            after(&[&PREFACE[..23]]).await,
            (InitialProtocol::Http1, PREFACE[..23].to_vec())
        );
    }
}
