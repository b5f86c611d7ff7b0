//! Bodies that are not in memory.

use http::Extensions;
use polywire_schema::ByteStream;

/// The body of a message whose payload is a blob with `@streaming`, in the extensions of the head. The bytes of the
/// message are empty then.
///
/// - [`ClientProtocol::encode_input`](crate::ClientProtocol::encode_input) and
///   [`ServerProtocol::encode_output`](crate::ServerProtocol::encode_output) of the REST protocols insert it if the
///   member is not in memory. The transport sends it, with a `Content-Length` if the length is known.
/// - [`ServerProtocol::decode_input`](crate::ServerProtocol::decode_input) and
///   [`ClientProtocol::decode_output`](crate::ClientProtocol::decode_output) take the member from it. The transport
///   inserts it if the operation [streams](crate::ServerProtocol::has_input_stream).
///
/// <https://smithy.io/2.0/spec/streaming.html>
#[derive(Clone, Debug)]
pub struct PayloadStream(pub ByteStream);

impl PayloadStream {
    /// The stream of a head.
    pub(crate) fn of(extensions: &Extensions) -> Option<&ByteStream> {
        extensions.get::<Self>().map(|Self(stream)| stream)
    }
}
