//! The interceptor that signs requests.

use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use polywire_aws::checksum::{
    Algorithm, BodySigning, Calculation, Checksum, ChecksumLocation, RequestChecksum,
    RequestContext, RequestRule, ResponseChecksum,
};
use polywire_aws::chunked::{ChunkLayout, DEFAULT_CHUNK_SIZE, Encoder};
use polywire_aws::signature::{
    ChunkSigner, Credentials, EventSigner, KeyCache, Payload, Settings, SigningKey, SigningTime,
    sign_request,
};
use polywire_protocol::PayloadStream;
use polywire_schema::{ByteStream, Location, Operation, OperationFlags};

use super::authenticator::now;
use super::encoding::{CheckedStream, EncodedStream};
use super::endpoints::SigningScope;
use super::events::SignedEvents;
use super::user_agent;
use crate::client::{Attempt, Interceptor, InterceptorFuture};
use crate::events::is_event_stream;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The result of [`CredentialsProvider::credentials`].
pub type CredentialsFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Credentials, BoxError>> + Send + 'a>>;

/// Finds the credentials of a client.
///
/// [`Credentials`] are a provider of themselves.
pub trait CredentialsProvider: fmt::Debug + Send + Sync + 'static {
    /// Returns the credentials for a request that is signed now. A provider of temporary credentials keeps them and
    /// renews them before they expire.
    ///
    /// # Errors
    ///
    /// There are no credentials: the request is not sent.
    fn credentials(&self) -> CredentialsFuture<'_>;
}

impl CredentialsProvider for Credentials {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(ready(Ok(self.clone())))
    }
}

/// Signs the requests of a client with SigV4, adds the checksums of `@aws.protocols#httpChecksum`, and checks those of
/// responses.
///
/// A body that is a stream is sent in `aws-chunked` with the checksum in a trailer; without TLS each chunk is signed too.
/// Its length must be known. Each message of an event stream is signed.
///
/// ```
/// use polywire_protocol::ProtocolKind;
/// use polywire_rpc::aws::{Credentials, Signer};
/// use polywire_rpc::{Client, ClientBuilder, ServiceHandle};
///
/// fn s3(service: ServiceHandle) -> ClientBuilder {
///     let credentials = Credentials::new("AKIDEXAMPLE", "a secret of 40 characters");
///     Client::builder(service, ProtocolKind::RestXml)
///         .interceptor(Signer::new(credentials, "us-east-1", "s3"))
/// }
/// ```
#[derive(Debug)]
pub struct Signer {
    provider: Arc<dyn CredentialsProvider>,
    region: String,
    service: String,
    settings: Settings,
    calculation: Calculation,
    validation: Calculation,
    default_algorithm: Algorithm,
    cache: Mutex<KeyCache>,
}

impl Signer {
    /// Creates a signer for a region and the signing name of a service, such as `s3` or `dynamodb`.
    #[must_use]
    pub fn new(
        provider: impl CredentialsProvider,
        region: impl Into<String>,
        signing_name: impl Into<String>,
    ) -> Self {
        let service = signing_name.into();
        Self {
            provider: Arc::new(provider),
            region: region.into(),
            settings: Settings::for_service(&service),
            service,
            calculation: Calculation::WhenSupported,
            validation: Calculation::WhenSupported,
            default_algorithm: Algorithm::Crc32,
            cache: Mutex::default(),
        }
    }

    /// Sets when requests get a checksum that the input does not name. Default: when the operation supports it.
    #[must_use]
    pub const fn with_request_checksums(mut self, calculation: Calculation) -> Self {
        self.calculation = calculation;
        self
    }

    /// Sets when checksums of responses are asked for and checked. Default: when the operation supports it.
    #[must_use]
    pub const fn with_response_checksums(mut self, validation: Calculation) -> Self {
        self.validation = validation;
        self
    }

    /// Sets the algorithm of checksums for which the input names none. Default: CRC32.
    #[must_use]
    pub const fn with_default_algorithm(mut self, algorithm: Algorithm) -> Self {
        self.default_algorithm = algorithm;
        self
    }

    async fn sign(
        &self,
        operation: Option<Operation<'_>>,
        request: &mut Request<Bytes>,
    ) -> Result<(), BoxError> {
        let signing = self.signing(request).await?;
        let Signing {
            key,
            settings,
            time,
        } = signing;
        user_agent::add(request.headers_mut(), key.scope().service());
        announce_attempt(request);
        let is_tls = request.uri().scheme_str() == Some("https");
        let stream = request.extensions_mut().remove::<PayloadStream>();
        let checksum = match operation {
            Some(operation) => {
                self.ask_for_checksum(operation, request.headers_mut());
                let headers = request.headers_mut();
                let checksum = self.checksum(operation, headers, stream.is_some(), is_tls)?;
                if let Some(checksum) = checksum.filter(|own| own.set_algorithm_member) {
                    name_algorithm(operation, headers, checksum.algorithm);
                }
                checksum
            }
            None => None,
        };
        let (mut parts, body) = std::mem::take(request).into_parts();
        match stream {
            None => {
                if let Some(checksum) = checksum {
                    let value = Checksum::of(checksum.algorithm, &body).to_string();
                    parts
                        .headers
                        .insert(checksum.name, HeaderValue::try_from(value)?);
                }
                sign_request(&mut parts, Payload::of(&body), &key, &settings, time)?;
            }
            Some(PayloadStream(stream)) => {
                let algorithm = checksum.map(|checksum| checksum.algorithm);
                let body = Streamed {
                    stream,
                    algorithm,
                    is_tls,
                };
                let stream = sign_stream(&mut parts, body, &key, &settings, time)?;
                parts.extensions.insert(PayloadStream(stream));
            }
        }
        *request = Request::from_parts(parts, body);
        Ok(())
    }

    /// What signs a request now.
    pub(super) async fn signing(&self, request: &Request<Bytes>) -> Result<Signing, BoxError> {
        let credentials = self.provider.credentials().await?;
        let time = SigningTime::new(now()).ok_or("the clock of this machine is wrong")?;
        let scope = request.extensions().get::<SigningScope>();
        let (region, service, settings) = self.scope(scope)?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let key = cache.key(&credentials, time, region, service);
        Ok(Signing {
            key,
            settings,
            time,
        })
    }

    /// The region, the name and the settings of a signature. Endpoint rules win over the settings of the signer.
    fn scope<'a>(
        &'a self,
        scope: Option<&'a SigningScope>,
    ) -> Result<(&'a str, &'a str, Settings), BoxError> {
        let Some(scope) = scope else {
            return Ok((&self.region, &self.service, self.settings));
        };
        if let Some(scheme) = &scope.unsupported {
            let reason = format!("the endpoint requires the authentication scheme `{scheme}`");
            return Err(format!("{reason}, and only `sigv4` is supported").into());
        }
        let service = scope.name.as_deref().unwrap_or(&self.service);
        let mut settings = match scope.name {
            None => self.settings,
            Some(_) => Settings::for_service(service),
        };
        settings.path.double_encode &= !scope.disable_double_encoding;
        settings.path.normalize &= !scope.disable_normalize_path;
        let region = scope.region.as_deref().unwrap_or(&self.region);
        Ok((region, service, settings))
    }

    /// The checksum of a request.
    fn checksum(
        &self,
        operation: Operation<'_>,
        headers: &HeaderMap,
        streaming: bool,
        tls: bool,
    ) -> Result<Option<RequestChecksum>, BoxError> {
        let Some(rule) = operation.http_checksum() else {
            return Ok(None);
        };
        let member = rule.request_algorithm_member;
        let header = member.and_then(|name| header_of(operation, name));
        let wanted = header
            .as_ref()
            .and_then(|name| headers.get(name)?.to_str().ok());
        let context = RequestContext {
            rule: RequestRule::HttpChecksum {
                algorithm_member: member.is_some(),
                required: operation.has(OperationFlags::HTTP_CHECKSUM_REQUIRED),
            },
            algorithm: wanted,
            calculation: self.calculation,
            explicit: headers.keys().any(is_checksum),
            presigned: false,
            streaming,
            signing: if tls {
                BodySigning::Unsigned
            } else {
                BodySigning::Chunks
            },
            tls,
            default: self.default_algorithm,
        };
        let selected = RequestChecksum::select(&context)?;
        // A header would need the whole body before the first byte is sent.
        Ok(selected.filter(|own| !streaming || own.location != ChecksumLocation::Header))
    }

    /// Asks for a checksum of the response.
    fn ask_for_checksum(&self, operation: Operation<'_>, headers: &mut HeaderMap) {
        let rule = operation.http_checksum();
        let member = rule.and_then(|rule| rule.request_validation_mode_member);
        if let Some(header) = member.and_then(|name| header_of(operation, name))
            && ResponseChecksum::is_enabled(headers.contains_key(&header), self.validation)
        {
            headers
                .entry(header)
                .or_insert(HeaderValue::from_static("ENABLED"));
        }
    }
}

/// The key of a signature, its settings and its time.
pub(super) struct Signing {
    pub(super) key: Arc<SigningKey>,
    pub(super) settings: Settings,
    pub(super) time: SigningTime,
}

struct Streamed {
    stream: ByteStream,
    algorithm: Option<Algorithm>,
    is_tls: bool,
}

/// Signs a request whose body is a stream. Returns the encoded stream.
fn sign_stream(
    parts: &mut http::request::Parts,
    body: Streamed,
    key: &SigningKey,
    settings: &Settings,
    time: SigningTime,
) -> Result<ByteStream, BoxError> {
    let Streamed {
        stream,
        algorithm,
        is_tls,
    } = body;
    if is_event_stream(&parts.headers) {
        let seed = sign_request(parts, Payload::StreamingEvents, key, settings, time)?;
        return Ok(SignedEvents::stream(stream, EventSigner::new(key, &seed)?));
    }
    let len = stream.len().ok_or(
        "expected a stream of known length, which the signature of the request contains: see ByteStream::or_len",
    )?;
    let encoder = match (is_tls, algorithm) {
        // Nothing protects the body but TLS.
        (true, None) => {
            sign_request(parts, Payload::Unsigned, key, settings, time)?;
            return Ok(stream);
        }
        (true, Some(_)) => Encoder::unsigned(ChunkLayout::Fixed(DEFAULT_CHUNK_SIZE), algorithm),
        (false, _) => {
            // The headers depend on the framing only. The signature of the first chunk continues that of the head.
            let framing = Encoder::signed(NoSignature, DEFAULT_CHUNK_SIZE, algorithm);
            framing.apply_headers(&mut parts.headers, len);
            let payload = match algorithm {
                Some(_) => Payload::StreamingSignedTrailer,
                None => Payload::StreamingSigned,
            };
            let seed = sign_request(parts, payload, key, settings, time)?;
            let signer = ChunkSigner::new(key, &seed, time)?;
            let encoder = Encoder::signed(signer, DEFAULT_CHUNK_SIZE, algorithm);
            return EncodedStream::stream(stream, encoder, len);
        }
    };
    encoder.apply_headers(&mut parts.headers, len);
    sign_request(
        parts,
        Payload::StreamingUnsignedTrailer,
        key,
        settings,
        time,
    )?;
    EncodedStream::stream(stream, encoder, len)
}

/// Stands for the signer of chunks until the head is signed.
struct NoSignature;

impl polywire_aws::chunked::ChunkSigner for NoSignature {
    fn chunk(&mut self, _: &[u8; 32]) -> [u8; 64] {
        [b'0'; 64]
    }

    fn trailer(&mut self, _: &[u8]) -> [u8; 64] {
        [b'0'; 64]
    }
}

/// The header that a member of the input is bound to.
fn header_of(operation: Operation<'_>, member: &str) -> Option<HeaderName> {
    let mut members = operation.input().members();
    let member = members.find(|own| own.name() == member && own.location() == Location::Header)?;
    HeaderName::from_bytes(member.location_name().as_bytes()).ok()
}

/// Names the algorithm that the caller has not set, as the SDKs of AWS do.
fn name_algorithm(operation: Operation<'_>, headers: &mut HeaderMap, algorithm: Algorithm) {
    let rule = operation.http_checksum();
    let member = rule.and_then(|rule| rule.request_algorithm_member);
    if let Some(header) = member.and_then(|name| header_of(operation, name))
        && let Ok(value) = HeaderValue::try_from(algorithm.to_string())
    {
        headers.insert(header, value);
    }
}

/// Tells the service which attempt of the call this is, as the SDKs of AWS do.
fn announce_attempt(request: &mut Request<Bytes>) {
    let attempt = request.extensions().get::<Attempt>().copied();
    let attempt = attempt.unwrap_or_else(Attempt::only);
    let id = HeaderValue::try_from(attempt.call.to_string());
    let number = format!("attempt={}; max={}", attempt.number, attempt.max);
    // Both are in ASCII.
    if let (Ok(id), Ok(number)) = (id, HeaderValue::try_from(number)) {
        let headers = request.headers_mut();
        headers.insert("amz-sdk-invocation-id", id);
        headers.insert("amz-sdk-request", number);
    }
}

fn is_checksum(name: &HeaderName) -> bool {
    let text = name.as_str();
    text == "content-md5" || Algorithm::from_header_name(text).is_some()
}

impl Interceptor for Signer {
    fn before_send<'a>(
        &'a self,
        operation: Option<Operation<'a>>,
        request: &'a mut Request<Bytes>,
    ) -> InterceptorFuture<'a> {
        Box::pin(self.sign(operation, request))
    }

    fn after_response(
        &self,
        operation: Option<Operation<'_>>,
        response: &mut Response<Bytes>,
    ) -> Result<(), BoxError> {
        let Some(rule) = operation.and_then(Operation::http_checksum) else {
            return Ok(());
        };
        // A range has no checksum of its own.
        if !response.status().is_success() || response.status().as_u16() == 206 {
            return Ok(());
        }
        let modelled = rule
            .response_algorithms
            .iter()
            .filter_map(|name| name.parse().ok());
        let modelled: Vec<Algorithm> = modelled.collect();
        let headers = response.headers();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let Some(checksum) = ResponseChecksum::select(&modelled, header)? else {
            return Ok(());
        };
        match response.extensions_mut().remove::<PayloadStream>() {
            None => checksum.verify(response.body())?,
            Some(PayloadStream(stream)) => {
                let stream = CheckedStream::stream(stream, checksum);
                response.extensions_mut().insert(PayloadStream(stream));
            }
        }
        Ok(())
    }
}
