//! Calls from the bytes of a request to the bytes of its answer, without sockets:
//! what XML and CBOR cost where HTTP does not hide it.
//!
//!     cargo run --release -p polywire-gate --bin xmlrpc_calls
//!
//! The options are those of `polywire-gate`. `decode and encode` reads parameters
//! and writes a result; `a whole call` goes through a server with its router, whose
//! peer is the same request, made and dropped.

#![forbid(unsafe_code)]

#[path = "../groups/xmlrpc/types.rs"]
#[allow(dead_code, reason = "who echoes keeps what it has read")]
mod types;

use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use polywire_codec::cbor::{self, CborDecoder, CborEncoder, CborProfile};
use polywire_codec::xmlrpc::{Envelope, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_gate::{Case, Group, GroupEntry, same_bytes};
use polywire_rpc::server::HttpResponse;
use polywire_rpc::{Methods, Server};
use polywire_schema::{Body, Decode, Decoder, Encode, Error, Limits, Member, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower::Service;
use types::Nested;

const GROUPS: &[GroupEntry] = &[GroupEntry {
    name: "calls",
    about: "calls over XML and CBOR, from request to answer, without HTTP",
    cases,
}];

fn main() -> ExitCode {
    polywire_gate::run(GROUPS)
}

fn cases(group: &mut Group) {
    both::<String>(group, "a", "a_echo_hello", "Hello");
    both::<Vec<i32>>(group, "b", "b_int_array_1000", "1000 ints");
    both::<Nested>(group, "c", "c_struct10_nested3", "struct of 10, 3 deep");
}

/// A call in both forms, with the answer to each.
#[derive(Clone, Copy)]
struct Forms {
    xml: &'static [u8],
    xml_answer: &'static [u8],
    cbor: &'static [u8],
    cbor_answer: &'static [u8],
}

impl Forms {
    fn new(request: &'static [u8], response: &[u8]) -> Result<Self, String> {
        let wrong = |error: Error| error.to_string();
        let value = xml_value(request).map_err(wrong)?;
        // A whole number has no need of a point.
        let answer = String::from_utf8_lossy(response).replace(".0</double>", "</double>");
        Ok(Self {
            xml: request,
            xml_answer: answer.into_bytes().leak(),
            cbor_answer: cbor::to_vec(&value).map_err(wrong)?.leak(),
            cbor: cbor::to_vec(&Value::List(vec![value]))
                .map_err(wrong)?
                .leak(),
        })
    }
}

/// The cases of one content.
fn both<T>(group: &mut Group, letter: &str, stem: &str, words: &str)
where
    T: DeserializeOwned + Serialize + Send + 'static,
{
    let file = |side: &str| format!("bench/xmlrpc/{stem}.{side}.xml");
    let name = |what: &str, wire: &str| format!("{letter}, {what}, {wire}: {words}");
    let data = |group: &Group| {
        let (request, response) = (
            group.data(&file("request"))?,
            group.data(&file("response"))?,
        );
        Forms::new(request, response)
    };
    let forms = match data(group) {
        Ok(forms) => forms,
        Err(reason) => return group.skip(letter, reason),
    };
    for (what, xml, cbor) in [
        (
            "decode and encode Value",
            xml_through_value as fn(&'static [u8]) -> Result<Vec<u8>, Error>,
            cbor_through_value as fn(&'static [u8]) -> Result<Vec<u8>, Error>,
        ),
        (
            "decode and encode serde",
            xml_through_serde::<T>,
            cbor_through_serde::<T>,
        ),
    ] {
        let own = group.case(name(what, "XML"));
        inside(own, forms.xml, forms.xml_answer, xml);
        let own = group.case(name(what, "CBOR"));
        inside(own, forms.cbor, forms.cbor_answer, cbor);
        against_xml(own, letter, &name(what, "XML"));
    }
    for (what, method) in [
        ("a whole call, Value", "echo"),
        ("a whole call, serde", "echo.typed"),
    ] {
        let called = |xml: &[u8]| {
            let text = String::from_utf8_lossy(xml);
            let text = text.replace(">echo</methodName>", &format!(">{method}</methodName>"));
            Bytes::from(text.into_bytes())
        };
        let xml = Prepared::new("/RPC2", "text/xml", called(forms.xml));
        through_server::<T>(group.case(name(what, "XML")), &xml, forms.xml_answer);
        let path = format!("/service/Echo/operation/{method}");
        let cbor = Prepared::new(&path, "application/cbor", Bytes::from_static(forms.cbor));
        let own = group.case(name(what, "CBOR"));
        through_server::<T>(own, &cbor, forms.cbor_answer);
        against_xml(own, letter, &name(what, "XML"));
    }
}

/// The small echo is mostly envelope, which is not what CBOR is for.
fn against_xml(case: &mut Case, letter: &str, xml: &str) {
    if letter == "c" {
        case.target_instructions_of_case(xml, 0.5)
            .target_time_of_case(xml, 0.5);
    }
}

fn inside(
    case: &mut Case,
    request: &'static [u8],
    answer: &'static [u8],
    call: fn(&'static [u8]) -> Result<Vec<u8>, Error>,
) {
    case.bytes(request.len()).polywire(
        move || call(request).unwrap_or_default(),
        move |written| same_bytes(written, answer),
    );
}

fn xml_value(request: &'static [u8]) -> Result<Value, Error> {
    let body = Body::from(request);
    let (_, mut decoder) = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    decoder.parameter()?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

fn xml_through_value(request: &'static [u8]) -> Result<Vec<u8>, Error> {
    let value = xml_value(request)?;
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, space(request));
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
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, space(request));
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
    let mut encoder = CborEncoder::new(space(request));
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
    let mut encoder = CborEncoder::new(space(request));
    encoder.serialize(&value)?;
    encoder.finish()
}

/// For the answer: a server knows of the last one how much it took.
fn space(request: &[u8]) -> Vec<u8> {
    Vec::with_capacity(request.len() + request.len() / 8 + 64)
}

/// A request that is made again and again.
#[derive(Clone)]
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

/// Our subject is a server as `xmlrpc_server` has it.
fn through_server<T>(case: &mut Case, prepared: &Prepared, answer: &'static [u8])
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
    let (ours, alone) = (prepared.clone(), prepared.clone());
    case.bytes(prepared.body.len())
        .polywire(
            move || {
                let _inside = runtime.enter();
                ours.request()
                    .and_then(|request| call(&mut server, request))
            },
            move |response| same_bytes(&body(response.as_ref()), answer),
        )
        .peer(
            "the request alone",
            move || alone.request().is_some(),
            |made| *made,
        );
}

/// A server that has all it needs answers at once.
fn call(server: &mut Server, request: Request<Full<Bytes>>) -> Option<HttpResponse> {
    let future = pin!(server.call(request));
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(response)) => Some(response),
        Poll::Pending => None,
    }
}

fn body(response: Option<&HttpResponse>) -> Vec<u8> {
    let Some(response) = response else {
        return Vec::new();
    };
    let mut frame = pin!(response.body().clone());
    match pin!(frame.frame()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(Ok(frame))) => frame.into_data().unwrap_or_default().to_vec(),
        _ => Vec::new(),
    }
}
