//! Presigned URLs.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http::header::{CONTENT_LENGTH, USER_AGENT};
use polywire_aws::signature::{Payload, presign_request};
use polywire_protocol::PayloadStream;
use polywire_schema::Map;

use super::Signer;
use crate::Client;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Signer {
    /// Presigns a call: anyone with the URL of the result can send it, until `expires` has passed. It is sent with the
    /// method, the headers and the body of the result; a call of S3 can have any body.
    ///
    /// The URL is that of `client`, whose interceptor is not asked. Temporary credentials can expire before the URL.
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_rpc::Client;
    /// use polywire_rpc::aws::Signer;
    /// use polywire_schema::Map;
    ///
    /// async fn link(
    ///     signer: &Signer,
    ///     client: &Client,
    /// ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    ///     let input = Map::from_iter([("Bucket", "photos"), ("Key", "cat.jpg")]);
    ///     let day = Duration::from_secs(86_400);
    ///     let request = signer.presign(client, "GetObject", input, day).await?;
    ///     Ok(request.uri().to_string())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The input cannot be encoded, there are no credentials, `expires` is not from one second to seven days, or the body
    /// is a stream and the service is not S3.
    pub async fn presign(
        &self,
        client: &Client,
        operation: &str,
        input: Map,
        expires: Duration,
    ) -> Result<Request<Bytes>, BoxError> {
        let mut request = client.encode_request(operation, input)?;
        let signing = self.signing(&request).await?;
        let stream = request.extensions_mut().remove::<PayloadStream>();
        let payload = match (signing.settings.content_sha256, stream) {
            (true, _) => Payload::Unsigned,
            (false, None) => Payload::of(request.body()),
            (false, Some(_)) => {
                return Err("expected a body in memory, whose hash is signed".into());
            }
        };
        let (mut parts, body) = request.into_parts();
        // Other clients than this one send the request.
        parts.headers.remove(USER_AGENT);
        parts.headers.remove(CONTENT_LENGTH);
        let (key, settings) = (&signing.key, &signing.settings);
        presign_request(&mut parts, payload, key, settings, signing.time, expires)?;
        Ok(Request::from_parts(parts, body))
    }
}
