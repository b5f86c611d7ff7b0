//! A stream of bytes in binary messages, for protocols that are one.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::codec::{Codec, Event, Stop};
use super::message::{CloseCode, CloseFrame, Message};

/// The most bytes of one message that is written.
const MOST: usize = 64 << 10;

/// The bytes of binary messages, whose boundaries mean nothing. One task reads and writes.
///
/// The close frame of the peer is the end of what is read. Text messages are an error.
pub(crate) struct MessageStream<S> {
    codec: Codec<S>,
    /// What has come and was not read.
    rest: Bytes,
    ended: bool,
    closing: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> MessageStream<S> {
    pub(super) const fn new(codec: Codec<S>) -> Self {
        Self {
            codec,
            rest: Bytes::new(),
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
        // As far as it gets.
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
        let own = &mut *self;
        while own.rest.is_empty() {
            if own.ended {
                return Poll::Ready(Ok(()));
            }
            match ready!(own.codec.poll_next(cx)) {
                Ok(Event::Message(Message::Binary(bytes))) => own.rest = bytes,
                Ok(Event::Message(Message::Text(_))) => {
                    own.ended = true;
                    let words = "expected binary messages";
                    let frame = CloseFrame::new(CloseCode::UNSUPPORTED, words);
                    let _ = own.close(&frame, cx);
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, words)));
                }
                // The next read sends the answer.
                Ok(Event::Ping | Event::Pong) => {}
                // This side may have more to say in its own protocol, but has nobody to say it to.
                Ok(Event::Close(_)) => own.closing = true,
                Err(stop) => return Poll::Ready(own.fail(stop, cx)),
            }
        }
        let count = own.rest.len().min(buffer.remaining());
        buffer.put_slice(&own.rest[..count]);
        own.rest.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for MessageStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // What was taken before is written first, so that no more than one message waits here.
        ready!(self.as_mut().poll_flush(cx))?;
        if self.closing {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let count = bytes.len().min(MOST);
        let message = Bytes::copy_from_slice(&bytes[..count]);
        let message = tungstenite::Message::Binary(message);
        match self.codec.poll_write(message, cx) {
            // It has been taken.
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
            let _ = self.close(&CloseFrame::new(CloseCode::NORMAL, ""), cx);
        }
        // An error of what is written does not matter any more.
        let _ = ready!(self.codec.poll_flush(cx));
        self.codec.poll_shutdown(cx)
    }
}
