//! Calls over frames: operations of a model, and methods without one.

use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue, response};
use polywire::codec::Dynamic;
use polywire::prelude::*;
use polywire::protocol::{ClientProtocol, WithToken};
use polywire::rpc::connect;
use polywire::rpc::tls;
use polywire::rpc::{CallErrorKind, frames};
use polywire::schema::{Body, Error, ErrorKind, Member, Operation};
use uuid::Uuid;

use super::service::{ServiceArguments, chosen, given};
use crate::xmlrpc::input::{json, with_types};
use crate::{Failure, Report, print};

/// The schemes over which frames are spoken.
pub(crate) const SCHEMES: [&str; 4] = ["tcp", "tcp+tls", "udp", "unix"];

/// Whether a URL is one of frames. `unix://` is one of HTTP where a protocol is named, which frames
/// have not.
pub(crate) fn is_meant(url: &str, protocol: Option<ProtocolKind>) -> Result<bool, Failure> {
    let Some((scheme, _)) = url.split_once("://") else {
        return Ok(false);
    };
    let (asked, other) = match protocol {
        None => (false, false),
        Some(ProtocolKind::Frame) => (true, false),
        Some(_) => (false, true),
    };
    match scheme {
        "unix" => Ok(!other),
        _ if !SCHEMES.contains(&scheme) && asked => Err(Failure::usage(format!(
            "{scheme}:// is not for frames: write tcp://HOST:PORT, tcp+tls://HOST:PORT, unix:///PATH or \
             udp://HOST:PORT"
        ))),
        _ if !SCHEMES.contains(&scheme) => Ok(false),
        _ if other => Err(Failure::usage(format!(
            "{scheme}:// is for frames, which need no --protocol: write http:// for one"
        ))),
        _ => Ok(true),
    }
}

/// A call over frames that is ready to be made.
#[derive(Debug)]
pub(crate) struct FramesCall {
    pub(crate) url: String,
    /// As the frame names it.
    pub(crate) name: String,
    input: Input,
    deadline: Duration,
    options: FramesOptions,
}

/// The options of a client of frames.
#[derive(Clone, Debug)]
pub(crate) struct FramesOptions {
    /// The metadata of each call.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) tls: tls::ClientTls,
    pub(crate) proxy: Option<connect::Proxy>,
}

#[derive(Debug)]
enum Input {
    /// Of an operation of a model: CBOR by its shapes.
    Shaped(Box<Shaped>),
    /// A list of parameters, or the members of an input as they stand.
    Plain(Value),
}

#[derive(Debug)]
struct Shaped {
    service: ServiceHandle,
    operation: String,
    /// What payloads look like.
    wire: Box<dyn ClientProtocol>,
    input: Value,
    /// The input once and for all, unless each call has a token of its own.
    payload: Option<Bytes>,
    /// What a payload has no head for.
    head: response::Parts,
}

impl ServiceArguments {
    /// Finds out what is called, as [`ServiceArguments::http`] does.
    pub(crate) async fn frames(
        &self,
        url: &str,
        operation: Option<&str>,
        input: Option<&str>,
        deadline: Duration,
    ) -> Result<FramesCall, Failure> {
        let base = base_of(url)?;
        let options = self.frames_options()?;
        let mut headers = options.headers.iter();
        let has_password = headers.any(|(name, _)| *name == AUTHORIZATION);
        if has_password && !is_guarded(url) {
            return Err(Failure::usage(format!(
                "`{url}`: a password would be read by everybody in between: use tcp+tls://"
            )));
        }
        let model = self
            .model_of_frames(base.as_deref(), deadline.min(PROBE))
            .await?;
        let text = input.map(given).transpose()?;
        let text = text.as_deref();
        let call = |name: String, input| FramesCall {
            url: url.to_owned(),
            name,
            input,
            deadline,
            options: options.clone(),
        };
        let is_list = text.is_some_and(|text| text.trim_start().starts_with('['));
        let Some(model) = model else {
            let Some(name) = operation else {
                return Err(Failure::usage(
                    "the server tells no model from which to choose: name an operation or a method",
                ));
            };
            return Ok(call(name.to_owned(), Input::Plain(plain(text)?)));
        };
        let service = self.model.service(&model)?;
        if let (Some(name), true) = (operation, is_list)
            && service.find_operation(name).is_none()
        {
            // A server may have methods beside its model.
            return Ok(call(name.to_owned(), Input::Plain(plain(text)?)));
        }
        let (operation, input) = chosen(&model, &service, operation, text)?;
        let name = format!("{}.{operation}", service.service().name());
        let shaped = Shaped::new(service, operation, Value::Map(input))?;
        Ok(call(name, Input::Shaped(Box::new(shaped))))
    }
}

/// Whether nobody in between reads what goes there: it is encrypted, or does not leave this machine.
fn is_guarded(url: &str) -> bool {
    if url.starts_with("tcp+tls:") || url.starts_with("unix:") {
        return true;
    }
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address: Result<std::net::IpAddr, _> = host.parse();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// How long a server may take to tell its model over HTTP: it may not know HTTP at all.
const PROBE: Duration = Duration::from_secs(5);

/// Where the same server may answer over HTTP: on the same port, of TCP for one of UDP.
fn base_of(url: &str) -> Result<Option<String>, Failure> {
    if !url.starts_with("unix:")
        && let Some((_, rest)) = url.split_once('@')
    {
        // What stands before it may be a password.
        return Err(Failure::usage(format!(
            "`***@{rest}`: a URL of frames has no user: name it by --user"
        )));
    }
    let wrong = |expected: &str| Failure::usage(format!("`{url}`: expected {expected}"));
    match url.split_once("://") {
        Some((scheme @ ("tcp" | "tcp+tls" | "udp"), rest)) => {
            let http = if scheme == "tcp+tls" { "https" } else { "http" };
            let authority: Result<http::uri::Authority, _> = rest.parse();
            match authority {
                Ok(authority) if authority.port().is_some() => Ok(Some(format!("{http}://{rest}"))),
                _ => Err(wrong(&format!("{scheme}://HOST:PORT, without a path"))),
            }
        }
        // The client of HTTP knows the same URL.
        Some(("unix", _)) => match connect::split(url) {
            Ok((server, None)) => Ok(Some(server)),
            _ => Err(wrong("unix:///PATH, the whole path of a socket")),
        },
        _ => Ok(None),
    }
}

/// JSON without a model.
fn plain(text: Option<&str>) -> Result<Value, Failure> {
    let value = json(text.unwrap_or("[]"));
    let value = value.map_err(|error| Failure::usage(format!("the input: {error}")))?;
    match value {
        Value::List(_) | Value::Map(_) => {
            with_types(value).map_err(|reason| Failure::usage(format!("the input: {reason}")))
        }
        _ => Err(Failure::usage(
            "the input: without a model, expected a list of parameters, such as [1, 2], or the \
             members of an input, such as {\"a\": 1}",
        )),
    }
}

impl Shaped {
    fn new(service: ServiceHandle, operation: String, input: Value) -> Result<Self, Failure> {
        let wire = ProtocolKind::RpcV2Cbor.client(service.service());
        let head = http::Response::builder()
            .header("smithy-protocol", "rpc-v2-cbor")
            .body(());
        let mut shaped = Self {
            wire: wire.map_err(Failure::usage)?,
            head: head.map_err(Failure::usage)?.into_parts().0,
            service,
            operation,
            input,
            payload: None,
        };
        let found = shaped.operation().map_err(Failure::usage)?;
        if !WithToken::is_due(found, &Dynamic(&shaped.input)) {
            shaped.payload = Some(shaped.encoded().map_err(Failure::usage)?);
        }
        Ok(shaped)
    }

    fn operation(&self) -> Result<Operation<'_>, CallError> {
        let operation = self.service.find_operation(&self.operation);
        operation.ok_or_else(|| {
            let error = Error::new(ErrorKind::Unknown);
            CallError::encode(error.expected("an operation of the service"))
        })
    }

    fn encoded(&self) -> Result<Bytes, CallError> {
        let operation = self.operation()?;
        let input = Dynamic(&self.input);
        let request = match WithToken::is_due(operation, &input) {
            false => self.wire.encode_input(operation, &input),
            true => {
                let token = Uuid::new_v4().to_string();
                let input = WithToken::new(operation, &input, &token);
                self.wire.encode_input(operation, &input)
            }
        };
        let request = request.map_err(CallError::encode)?;
        Ok(request.into_body())
    }

    async fn call(&self, name: &str, client: &frames::Client) -> Result<Value, CallError> {
        let output = match &self.payload {
            Some(payload) => client.call_bytes(name, payload).await,
            None => client.call_bytes(name, &self.encoded()?).await,
        };
        let body = Body::new(Bytes::from(output?));
        let mut output = Map::new();
        let operation = self.operation()?;
        self.wire
            .decode_output(operation, &self.head, &body, &Limits::DEFAULT, &mut output)
            .map_err(CallError::decode)?;
        Ok(Value::Map(output))
    }
}

impl FramesCall {
    /// A connection of its own.
    pub(crate) async fn connect(&self) -> Result<frames::Client, Failure> {
        let client = frames::Client::builder()
            .endpoint(&self.url)
            .tls(self.options.tls.clone())
            .proxy(self.options.proxy.clone())
            .connect()
            .await;
        let client = client.map_err(|error| {
            let message = format!("{error}{}", self.hint());
            Failure::transport(message).reported(Report::Error("transport"))
        })?;
        let client = client.with_deadline(self.deadline);
        let said = self.options.headers.iter();
        Ok(said.fold(client, |client, (name, value)| match *name {
            AUTHORIZATION => client.with_authorization(value.as_bytes()),
            _ => client.with_metadata(name.as_str(), value.as_bytes()),
        }))
    }

    /// What may be wrong with the URL of one who is not understood.
    fn hint(&self) -> &'static str {
        match self.url.starts_with("unix:") {
            true => "\nunix:// is for frames; http+unix:// is for HTTP",
            false => "",
        }
    }

    pub(crate) async fn call(&self, client: &frames::Client) -> Result<Value, CallError> {
        match &self.input {
            Input::Shaped(shaped) => shaped.call(&self.name, client).await,
            Input::Plain(input) => client.call(&self.name, input).await,
        }
    }

    /// The place of an output in the model, if there is one: by it JSON is read and written.
    pub(crate) fn output_member(&self) -> Result<Member<'_>, Failure> {
        match &self.input {
            Input::Shaped(shaped) => {
                let operation = shaped.operation().map_err(Failure::usage)?;
                Ok(operation.output().root())
            }
            Input::Plain(_) => Ok(Member::DOCUMENT),
        }
    }

    /// A failed call, for people and for programs.
    pub(crate) fn failure(&self, error: &CallError) -> Failure {
        let Some(fault) = error.fault() else {
            let (kind, hint) = match error.kind() {
                CallErrorKind::Encode => return Failure::usage(error),
                CallErrorKind::Deadline => ("timeout", ""),
                CallErrorKind::Decode => ("answer", ""),
                CallErrorKind::Connect | CallErrorKind::Disconnected => ("transport", self.hint()),
                _ => ("transport", ""),
            };
            return Failure::transport(format!("{error}{hint}")).reported(Report::Error(kind));
        };
        let report = match report(fault) {
            Ok(report) => Report::Fault(report),
            Err(_) => Report::Error("fault"),
        };
        Failure::fault(fault_words(fault)).reported(report)
    }
}

/// The name and message of a fault, and its other members as JSON.
fn fault_words(fault: &Fault) -> String {
    let mut words = format!("{}: {}", fault.name(), fault.message());
    let members = members(fault);
    if !members.is_empty()
        && let Ok(json) = print::json(&Value::Map(members))
    {
        words.push('\n');
        words.push_str(&json);
    }
    words
}

/// The members of an error, except its message.
fn members(fault: &Fault) -> Map {
    let mut members = fault.details().clone();
    members.remove("message");
    members
}

fn report(fault: &Fault) -> Result<String, Failure> {
    let mut about = Map::new();
    about.insert("message", fault.message());
    about.insert("kind", fault.name());
    let members = members(fault);
    if !members.is_empty() {
        about.insert("details", Value::Map(members));
    }
    print::json(&Value::Map(about))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_frames() {
        let cbor = Some(ProtocolKind::RpcV2Cbor);
        let frame = Some(ProtocolKind::Frame);
        for (url, protocol, meant) in [
            ("tcp://h:1", None, true),
            ("tcp+tls://h:1", None, true),
            ("udp://h:1", None, true),
            ("unix:///run/a.sock", None, true),
            ("tcp://h:1", frame, true),
            ("unix:///run/a.sock", cbor, false),
            ("unix:///run/a.sock", frame, true),
            ("http://h:1", None, false),
            ("http+unix:///run/a.sock", None, false),
            ("h:1", None, false),
        ] {
            assert_eq!(is_meant(url, protocol).unwrap(), meant, "{url}");
        }
        let both = is_meant("tcp://h:1", cbor).unwrap_err().message;
        assert!(both.contains("--protocol"), "{both}");
        let http = is_meant("http://h:1", frame).unwrap_err().message;
        assert!(http.contains("tcp://HOST:PORT"), "{http}");
    }

    #[test]
    fn where_passwords_may_go() {
        for (url, guarded) in [
            ("tcp+tls://h:1", true),
            ("unix:///run/a.sock", true),
            ("tcp://127.0.0.1:1", true),
            ("tcp://[::1]:1", true),
            ("udp://localhost:1", true),
            ("tcp://h:1", false),
            ("udp://10.0.0.1:1", false),
        ] {
            assert_eq!(is_guarded(url), guarded, "{url}");
        }
    }

    #[test]
    fn the_same_server_over_http() {
        let base = |url| base_of(url).unwrap().unwrap();
        assert_eq!(base("tcp://[::1]:7"), "http://[::1]:7");
        assert_eq!(base("tcp+tls://h:7"), "https://h:7");
        assert_eq!(base("unix:///run/a%20b"), "unix://%2Frun%2Fa%20b");
        assert_eq!(base("udp://h:1"), "http://h:1");
        for url in ["tcp://ann:secret@h:1", "udp://ann@h:1"] {
            let message = base_of(url).unwrap_err().message;
            assert!(message.contains("--user"), "{message}");
            assert!(!message.contains("ann"), "{message}");
        }
        assert!(base_of("unix:///run/a@b").is_ok());
        for url in [
            "tcp://h",
            "tcp://h:1/x",
            "tcp://",
            "unix://run/a",
            "unix:///run/a.sock/x",
            "unix:///run/a b",
            "unix://",
        ] {
            let message = base_of(url).unwrap_err().message;
            assert!(message.contains("expected"), "{message}");
        }
    }

    #[test]
    fn inputs_without_a_model() {
        assert_eq!(plain(None).unwrap(), Value::List(Vec::new()));
        assert_eq!(plain(Some("[1]")).unwrap()[0], Value::from(1));
        assert_eq!(plain(Some("{\"a\": 1}")).unwrap()["a"], Value::from(1));
        for text in ["3", "[1", ""] {
            assert!(plain(Some(text)).is_err(), "{text}");
        }
    }
}
