//! A byte stream in binary messages.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::codec::{Codec, Event, Stop};
use super::message::{CloseCode, CloseFrame, Message};

/// The maximum payload of a written message.
const MAX_MESSAGE_BYTES: usize = 64 << 10;

/// A byte stream in binary messages. Message boundaries have no meaning. One task must do all reads and writes.
///
/// The close frame of the peer ends the stream. A text message is an error and closes the connection with 1003.
pub(crate) struct MessageStream<S> {
    codec: Codec<S>,
    /// The received bytes that were not read yet.
    unread: Bytes,
    ended: bool,
    closing: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> MessageStream<S> {
    pub(super) const fn new(codec: Codec<S>) -> Self {
        Self {
            codec,
            unread: Bytes::new(),
            ended: false,
            closing: false,
        }
    }

    fn fail(&mut self, stop: Stop, cx: &mut Context<'_>) -> io::Result<()> {
        self.ended = true;
        let error = match stop {
            Stop::Closed => return Ok(()),
            Stop::Failed(error) => error,
        };
        // The close frame is best effort: the connection has failed already.
        let _ = self.close(&error.close_frame(), cx);
        Err(io::Error::other(error))
    }

    fn close(&mut self, frame: &CloseFrame, cx: &mut Context<'_>) -> Poll<()> {
        self.closing = true;
        self.codec.poll_close(frame, cx).map(|_| ())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for MessageStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.unread.is_empty() {
            if this.ended {
                return Poll::Ready(Ok(()));
            }
            match ready!(this.codec.poll_next(cx)) {
                Ok(Event::Message(Message::Binary(bytes))) => this.unread = bytes,
                Ok(Event::Message(Message::Text(_))) => {
                    this.ended = true;
                    let reason = "expected binary messages";
                    let frame = CloseFrame::new(CloseCode::UNSUPPORTED_DATA, reason);
                    let _ = this.close(&frame, cx);
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, reason)));
                }
                // The next read sends the pong.
                Ok(Event::Ping | Event::Pong) => {}
                // The codec replies with a close frame. No data may follow it (RFC 6455, section 5.5.1).
                Ok(Event::Close(_)) => this.closing = true,
                Err(stop) => return Poll::Ready(this.fail(stop, cx)),
            }
        }
        let count = this.unread.len().min(buffer.remaining());
        buffer.put_slice(&this.unread[..count]);
        this.unread.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for MessageStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // Flushing first bounds the write buffer to one message.
        ready!(self.as_mut().poll_flush(cx))?;
        if self.closing {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let count = bytes.len().min(MAX_MESSAGE_BYTES);
        let message = Bytes::copy_from_slice(&bytes[..count]);
        let message = tungstenite::Message::Binary(message);
        match self.codec.poll_write(message, cx) {
            // The codec has buffered the message in both cases.
            Poll::Pending | Poll::Ready(Ok(())) => Poll::Ready(Ok(count)),
            Poll::Ready(Err(stop)) => Poll::Ready(match self.fail(stop, cx) {
                Ok(()) => Err(io::ErrorKind::BrokenPipe.into()),
                Err(error) => Err(error),
            }),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(self.codec.poll_flush(cx)) {
            Ok(()) | Err(Stop::Closed) => Poll::Ready(Ok(())),
            Err(stop) => Poll::Ready(self.fail(stop, cx)),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.closing {
            let _ = self.close(&CloseFrame::new(CloseCode::NORMAL_CLOSURE, ""), cx);
        }
        // The stream ends in any case, so a write error is ignored.
        let _ = ready!(self.codec.poll_flush(cx));
        self.codec.poll_shutdown(cx)
    }
}
