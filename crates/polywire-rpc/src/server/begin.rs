//! The first bytes of a connection, which tell HTTP/1, HTTP/2 and frames from each other.
//!
//! They are taken out of the stream, since only reading shows that a peer has
//! gone, and given on again before what comes next.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// How HTTP/2 begins, RFC 9113, section 3.4.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The first byte of frames, with which nothing else begins.
const FRAMES: u8 = polywire_frame::PREFACE[0];

/// What a peer speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Spoken {
    Frames,
    Http1,
    Http2,
}

/// The first bytes of a connection, from which the protocol is detected.
#[derive(Debug, Default)]
pub(super) struct Begin {
    bytes: [u8; PREFACE.len()],
    /// The number of bytes.
    len: usize,
    /// The number of bytes that were not passed on.
    left: usize,
}

impl Begin {
    /// Reads until the protocol is known. Cancel safe.
    pub(super) async fn speaks<S>(&mut self, stream: &mut S) -> io::Result<Spoken>
    where
        S: AsyncRead + Unpin,
    {
        loop {
            let len = stream.read(&mut self.bytes[self.len..]).await?;
            self.len += len;
            self.left += len;
            let said = self.said();
            // HTTP/1 rejects an incomplete preface.
            if len == 0 || !PREFACE.starts_with(said) {
                return Ok(match said {
                    [FRAMES, ..] => Spoken::Frames,
                    _ => Spoken::Http1,
                });
            }
            if said.len() == PREFACE.len() {
                return Ok(Spoken::Http2);
            }
        }
    }

    fn said(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether all that was said has been given on.
    pub(super) const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The next bytes to give on, as many as there is room for.
    pub(super) fn give(&mut self, room: usize) -> &[u8] {
        let from = self.len - self.left;
        let count = self.left.min(room);
        self.left -= count;
        &self.bytes[from..from + count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known after these pieces, and the bytes that it took.
    async fn after(pieces: &[&[u8]]) -> (Spoken, Vec<u8>) {
        let (mut peer, mut stream) = tokio::io::duplex(64);
        let mut begin = Begin::default();
        let write = async {
            for piece in pieces {
                tokio::io::AsyncWriteExt::write_all(&mut peer, piece)
                    .await
                    .unwrap();
                tokio::task::yield_now().await;
            }
            drop(peer);
        };
        let (spoken, ()) = tokio::join!(begin.speaks(&mut stream), write);
        (spoken.unwrap(), begin.said().to_vec())
    }

    #[tokio::test]
    async fn tells_the_versions_apart() {
        assert_eq!(after(&[PREFACE]).await, (Spoken::Http2, PREFACE.to_vec()));
        let bytes: Vec<&[u8]> = PREFACE.chunks(1).collect();
        assert_eq!(after(&bytes).await, (Spoken::Http2, PREFACE.to_vec()));
        assert_eq!(
            after(&[b"P", b"OST"]).await,
            (Spoken::Http1, b"POST".to_vec())
        );
        assert_eq!(
            after(&[b"\xf7PW\x01"]).await,
            (Spoken::Frames, b"\xf7PW\x01".to_vec())
        );
        assert_eq!(after(&[b"GET /"]).await, (Spoken::Http1, b"GET /".to_vec()));
        // Not one byte more than the preface: frames follow it.
        let more = [&PREFACE[..], b"more"].concat();
        assert_eq!(after(&[&more]).await, (Spoken::Http2, PREFACE.to_vec()));
    }

    #[tokio::test]
    async fn gives_on_what_was_said() {
        let mut begin = Begin::default();
        assert!(begin.is_empty());
        assert_eq!(
            begin.speaks(&mut &b"GET /time"[..]).await.unwrap(),
            Spoken::Http1
        );
        assert_eq!(begin.give(5), b"GET /");
        assert!(!begin.is_empty());
        assert_eq!(begin.give(usize::MAX), b"time");
        assert!(begin.is_empty());
        assert_eq!(begin.give(5), b"");
    }

    #[tokio::test]
    async fn ends_with_the_peer() {
        assert_eq!(after(&[]).await, (Spoken::Http1, Vec::new()));
        assert_eq!(after(&[b"P"]).await, (Spoken::Http1, b"P".to_vec()));
        assert_eq!(
            after(&[&PREFACE[..23]]).await,
            (Spoken::Http1, PREFACE[..23].to_vec())
        );
    }
}
