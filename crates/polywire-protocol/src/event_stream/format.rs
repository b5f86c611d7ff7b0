//! [`EventFormat`]: how a protocol writes and reads the documents of events.

use std::fmt;

use polywire_schema::{Body, Decoder, Encoder, Error, Limits};

use crate::document::Side;

/// The format of the documents in events. A protocol implements it, and so has an
/// [`EventCodec`](super::EventCodec).
pub trait EventFormat: fmt::Debug + Send + Sync {
    /// The media type of documents.
    const EVENT_MEDIA_TYPE: &'static str;

    /// Whether the first message of a stream has the members of the input or output beside the
    /// stream.
    const INITIAL_MESSAGES: bool;

    /// Appends one document to `buffer`: what `write` writes.
    fn write_event(
        &self,
        buffer: Vec<u8>,
        side: Side,
        write: &mut dyn FnMut(&mut dyn Encoder),
    ) -> Result<Vec<u8>, Error>;

    /// Reads one document with `read`, and checks that nothing follows.
    fn read_event<'de>(
        &self,
        body: &'de Body,
        limits: &Limits,
        side: Side,
        read: &mut dyn FnMut(&mut dyn Decoder<'de>) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// Implements [`EventFormat`]: the media type, whether there are initial messages, how an encoder
/// is made of a buffer and a side, and how a decoder is made of a body, limits and a side.
macro_rules! event_format {
    (
        ($($generics:tt)*) $protocol:ty, $media_type:expr, $initial:literal,
        |$writer:ident, $buffer:ident, $write_side:ident| $encoder:expr,
        |$reader:ident, $body:ident, $limits:ident, $read_side:ident| $decoder:expr $(,)?
    ) => {
        impl<$($generics)*> $crate::event_stream::EventFormat for $protocol {
            const EVENT_MEDIA_TYPE: &'static str = $media_type;
            const INITIAL_MESSAGES: bool = $initial;

            fn write_event(
                &self,
                $buffer: Vec<u8>,
                $write_side: $crate::document::Side,
                write: &mut dyn FnMut(&mut dyn polywire_schema::Encoder),
            ) -> Result<Vec<u8>, polywire_schema::Error> {
                let $writer = self;
                let mut encoder = $encoder;
                write(&mut encoder);
                encoder.finish()
            }

            fn read_event<'de>(
                &self,
                $body: &'de polywire_schema::Body,
                $limits: &polywire_schema::Limits,
                $read_side: $crate::document::Side,
                read: &mut dyn FnMut(
                    &mut dyn polywire_schema::Decoder<'de>,
                ) -> Result<(), polywire_schema::Error>,
            ) -> Result<(), polywire_schema::Error> {
                let $reader = self;
                let mut decoder = $decoder?;
                read(&mut decoder)?;
                decoder.finish()
            }
        }
    };
}

pub(crate) use event_format;
