//! Calls from the bytes of a request to the bytes of its answer, without sockets, over XML and over
//! CBOR: what the format costs where HTTP does not hide it.
//!
//! "decode and encode" reads the parameters and writes the result. "a whole call" makes a request
//! and goes through a server with its router.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use polywire_codec::cbor::{self, CborDecoder, CborEncoder, CborProfile};
use polywire_codec::xmlrpc::{Envelope, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_rpc::server::HttpResponse;
use polywire_rpc::{Methods, Server};
use polywire_schema::{Body, Decode, Decoder, Encode, Error, Limits, Member, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower::Service;

use super::corpus::{CONTENTS, Content, Side};
use super::oracle;
use super::types::Nested;
use crate::{Case, Group, same_bytes};

pub(super) fn cases(group: &mut Group) {
    for content in CONTENTS {
        match content.letter {
            "a" => whole::<String>(group, content),
            "b" => whole::<Vec<i32>>(group, content),
            "c" => {
                decode_and_encode::<Nested>(group, content);
                whole::<Nested>(group, content);
            }
            _ => {}
        }
    }
}

/// A call in both formats, with the answer in each.
#[derive(Clone, Copy)]
struct Forms {
    xml: &'static [u8],
    xml_answer: &'static [u8],
    cbor: &'static [u8],
    cbor_answer: &'static [u8],
}

impl Forms {
    fn new(group: &Group, content: Content) -> Result<Self, String> {
        let request = group.data(&content.file(Side::Request))?;
        let response = group.data(&content.file(Side::Response))?;
        let wrong = |error: Error| error.to_string();
        let value = oracle::value_of(request);
        Ok(Self {
            xml: request,
            xml_answer: response,
            cbor_answer: cbor::write_value(&value).map_err(wrong)?.leak(),
            cbor: cbor::write_value(&Value::List(vec![value]))
                .map_err(wrong)?
                .leak(),
        })
    }
}

fn name(content: Content, what: &str, format: &str) -> String {
    format!("{} {what}, {format}: {}", content.letter, content.words)
}

/// Adds a case for each format. CBOR costs less than XML where the message is more than envelope.
fn both(
    group: &mut Group,
    content: Content,
    what: &str,
    mut add: impl FnMut(&mut Case, &Forms, bool),
) {
    let forms = match Forms::new(group, content) {
        Ok(forms) => forms,
        Err(reason) => return group.skip(name(content, what, "XML"), reason),
    };
    add(group.case(name(content, what, "XML")), &forms, false);
    let case = group.case(name(content, what, "CBOR"));
    add(case, &forms, true);
    if content.letter == "c" {
        case.target_instructions_of_case(name(content, what, "XML"), 0.5);
    }
}

type Call = fn(&'static [u8]) -> Result<Vec<u8>, Error>;

fn decode_and_encode<T>(group: &mut Group, content: Content)
where
    T: DeserializeOwned + Serialize,
{
    let through: [(&str, Call, Call); 2] = [
        ("Value", xml_through_value, cbor_through_value),
        ("serde", xml_through_serde::<T>, cbor_through_serde::<T>),
    ];
    for (types, xml, cbor) in through {
        let what = format!("decode and encode {types}");
        both(group, content, &what, |case, forms, is_cbor| {
            let (request, answer, call) = match is_cbor {
                true => (forms.cbor, forms.cbor_answer, cbor),
                false => (forms.xml, forms.xml_answer, xml),
            };
            case.bytes(request.len()).polywire(
                move || call(request).unwrap_or_default(),
                move |written| same_bytes(written, answer),
            );
        });
    }
}

fn xml_through_value(request: &'static [u8]) -> Result<Vec<u8>, Error> {
    let body = Body::from(request);
    let (_, mut decoder) = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    decoder.parameter()?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, buffer(request));
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

fn xml_through_serde<T>(request: &'static [u8]) -> Result<Vec<u8>, Error>
where
    T: DeserializeOwned + Serialize,
{
    let body = Body::from(request);
    let (_, mut decoder) = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    let (value,) = decoder.deserialize_parameters::<(T,)>()?;
    decoder.finish()?;
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, buffer(request));
    encoder.serialize(&value)?;
    encoder.finish()
}

fn cbor_through_value(request: &'static [u8]) -> Result<Vec<u8>, Error> {
    let body = Body::from(request);
    let mut decoder = CborDecoder::from_body(&body, CborProfile::DEFAULT, &Limits::DEFAULT)?;
    let mut parameters = decoder.list(Member::DOCUMENT)?;
    let mut value = Value::Null;
    while decoder.item(Member::DOCUMENT, &mut parameters)? {
        value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    }
    decoder.finish()?;
    let mut encoder = CborEncoder::new(buffer(request));
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

fn cbor_through_serde<T>(request: &'static [u8]) -> Result<Vec<u8>, Error>
where
    T: DeserializeOwned + Serialize,
{
    let body = Body::from(request);
    let mut decoder = CborDecoder::from_body(&body, CborProfile::DEFAULT, &Limits::DEFAULT)?;
    let (value,) = decoder.deserialize_parameters::<(T,)>()?;
    decoder.finish()?;
    let mut encoder = CborEncoder::new(buffer(request));
    encoder.serialize(&value)?;
    encoder.finish()
}

/// A buffer for the answer. A server knows how long the last answer was.
fn buffer(request: &[u8]) -> Vec<u8> {
    Vec::with_capacity(request.len() + request.len() / 8 + 64)
}

fn whole<T>(group: &mut Group, content: Content)
where
    T: DeserializeOwned + Serialize + Send + 'static,
{
    for (types, method) in [("Value", "echo"), ("serde", "echo.typed")] {
        let what = format!("a whole call, {types}");
        both(group, content, &what, |case, forms, is_cbor| {
            let (prepared, answer) = match is_cbor {
                true => {
                    let path = format!("/service/Echo/operation/{method}");
                    let body = Bytes::from_static(forms.cbor);
                    let prepared = Prepared::new(&path, "application/cbor", body);
                    (prepared, forms.cbor_answer)
                }
                false => {
                    let xml = String::from_utf8_lossy(forms.xml);
                    let called = format!(">{method}</methodName>");
                    let xml = xml.replace(">echo</methodName>", &called);
                    let body = Bytes::from(xml.into_bytes());
                    (Prepared::new("/RPC2", "text/xml", body), forms.xml_answer)
                }
            };
            through_server::<T>(case, prepared, answer);
        });
    }
}

/// A request that is made again for each call.
struct Prepared {
    path: String,
    media_type: &'static str,
    body: Bytes,
}

impl Prepared {
    fn new(path: &str, media_type: &'static str, body: Bytes) -> Self {
        Self {
            path: path.to_owned(),
            media_type,
            body,
        }
    }

    fn request(&self) -> Option<Request<Full<Bytes>>> {
        Request::post(&*self.path)
            .header("content-type", self.media_type)
            .header("smithy-protocol", "rpc-v2-cbor")
            .header("host", "localhost")
            .body(Full::new(self.body.clone()))
            .ok()
    }
}

/// The server is that of `xmlrpc_server` in `bench/peers`.
fn through_server<T>(case: &mut Case, prepared: Prepared, answer: &'static [u8])
where
    T: DeserializeOwned + Serialize + Send + 'static,
{
    let methods = Methods::new()
        .values("echo", |mut parameters, _| async move {
            Ok(parameters.pop().unwrap_or_default())
        })
        .method("echo.typed", |(value,): (T,)| async move { value })
        .cbor("Echo");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (Ok(mut server), Ok(runtime)) = (Server::methods(methods).build(), runtime) else {
        return;
    };
    let runtime = Arc::new(runtime);
    case.bytes(prepared.body.len()).polywire(
        move || {
            let _entered = runtime.enter();
            prepared
                .request()
                .and_then(|request| call(&mut server, request))
        },
        move |response| same_bytes(&body(response.as_ref()), answer),
    );
}

/// One poll is enough: the request is complete and the methods do not wait.
fn call(server: &mut Server, request: Request<Full<Bytes>>) -> Option<HttpResponse> {
    let future = pin!(server.call(request));
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(response)) => Some(response),
        Poll::Pending => None,
    }
}

fn body(response: Option<&HttpResponse>) -> Vec<u8> {
    let bytes = response.and_then(|response| response.body().as_bytes());
    bytes.unwrap_or_default().to_vec()
}
