//! The body of a form, and the stream of its file.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http_body::Body;
use polywire::protocol::Fault;
use polywire::schema::{StreamError, StreamErrorKind};
use tokio::time::{Instant, Sleep};

use super::parser::{Event, Parser};
use crate::error::Error;

/// The longest time without bytes.
const IDLE: Duration = Duration::from_secs(30);

/// A form that arrives.
pub(super) struct Form<B> {
    body: B,
    parser: Parser,
    idle: Pin<Box<Sleep>>,
}

/// Why a form cannot be read.
#[derive(Debug)]
pub(super) enum FormError {
    Malformed(Error),
    Broken(StreamError),
}

impl From<FormError> for Error {
    fn from(error: FormError) -> Self {
        match error {
            FormError::Malformed(error) => error,
            FormError::Broken(error) if error.kind() == StreamErrorKind::TimedOut => {
                Self::RequestTimeout
            }
            FormError::Broken(_) => Self::IncompleteBody,
        }
    }
}

impl From<FormError> for StreamError {
    fn from(error: FormError) -> Self {
        match error {
            FormError::Malformed(error) => {
                Self::new(StreamErrorKind::Corrupt).with_source(error.facts().2)
            }
            FormError::Broken(error) => error,
        }
    }
}

impl<B> Form<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    pub(super) fn new(body: B, boundary: &str) -> Self {
        Self {
            body,
            parser: Parser::new(boundary),
            idle: Box::pin(tokio::time::sleep(IDLE)),
        }
    }

    /// The next event. The end of the body before the end of the file is an error.
    pub(super) async fn next(&mut self) -> Result<Event, FormError> {
        std::future::poll_fn(|context| self.poll_event(context)).await
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Result<Event, FormError>> {
        loop {
            match self.parser.next() {
                Ok(Some(event)) => return Poll::Ready(Ok(event)),
                Ok(None) => {}
                Err(error) => return Poll::Ready(Err(FormError::Malformed(error))),
            }
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(frame) => frame,
                Poll::Pending => {
                    ready!(pin!(&mut self.idle).poll(context));
                    let error = StreamError::new(StreamErrorKind::TimedOut);
                    return Poll::Ready(Err(FormError::Broken(error)));
                }
            };
            self.idle.as_mut().reset(Instant::now() + IDLE);
            let error = StreamError::new(StreamErrorKind::Interrupted);
            match frame {
                Some(Ok(frame)) => {
                    if let Some(bytes) = frame.data_ref() {
                        self.parser.feed(bytes);
                    }
                }
                Some(Err(reason)) => {
                    return Poll::Ready(Err(FormError::Broken(error.with_source(reason))));
                }
                None => {
                    let error = error.with_source("the form ended before its file");
                    return Poll::Ready(Err(FormError::Broken(error)));
                }
            }
        }
    }
}

/// The bytes of the file.
pub(super) struct FormFile<B> {
    form: Form<B>,
    is_done: bool,
    /// The fewest bytes that the policy allows.
    missing: u64,
}

impl<B> FormFile<B> {
    /// The file of a form whose last event was [`Event::File`].
    pub(super) const fn new(form: Form<B>, smallest: u64) -> Self {
        Self {
            form,
            is_done: false,
            missing: smallest,
        }
    }
}

impl<B> Stream for FormFile<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamError>>> {
        let own = &mut *self;
        if own.is_done {
            return Poll::Ready(None);
        }
        let event = ready!(own.form.poll_event(context));
        own.is_done = !matches!(event, Ok(Event::Bytes(_)));
        Poll::Ready(match event {
            Ok(Event::Bytes(bytes)) => {
                own.missing = own.missing.saturating_sub(bytes.len() as u64);
                Some(Ok(bytes))
            }
            // An error, so that the file is not stored.
            Ok(_) if own.missing > 0 => {
                let error = StreamError::new(StreamErrorKind::Corrupt);
                Some(Err(error.with_source(Fault::from(Error::EntityTooSmall))))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error.into())),
        })
    }
}
