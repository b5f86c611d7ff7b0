//! Calls over frames: operations of a model, and methods without a model.

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

use super::service::{ServiceArguments, choose_operation, read_argument};
use crate::xmlrpc::input::{json, with_types};
use crate::{Failure, Report, print};

/// URL schemes for frames.
pub(crate) const SCHEMES: [&str; 4] = ["tcp", "tcp+tls", "udp", "unix"];

/// Whether a URL is for frames. `unix://` is for HTTP if a protocol is read_argument, because frames do not
/// have one.
pub(crate) fn is_frames_url(url: &str, protocol: Option<ProtocolKind>) -> Result<bool, Failure> {
    let Some((scheme, _)) = url.split_once("://") else {
        return Ok(false);
    };
    let (is_requested, other) = match protocol {
        None => (false, false),
        Some(ProtocolKind::Frame) => (true, false),
        Some(_) => (false, true),
    };
    match scheme {
        "unix" => Ok(!other),
        _ if !SCHEMES.contains(&scheme) && is_requested => Err(Failure::usage(format!(
            "{scheme}:// is not for frames: use tcp://HOST:PORT, tcp+tls://HOST:PORT, unix:///PATH or \
             udp://HOST:PORT"
        ))),
        _ if !SCHEMES.contains(&scheme) => Ok(false),
        _ if other => Err(Failure::usage(format!(
            "{scheme}:// is for frames, which do not support --protocol: use http:// instead"
        ))),
        _ => Ok(true),
    }
}

/// A prepared call over frames.
#[derive(Debug)]
pub(crate) struct FramesCall {
    pub(crate) url: String,
    /// The name in the frame.
    pub(crate) name: String,
    input: Input,
    deadline: Duration,
    options: FramesOptions,
}

/// Options of frame clients.
#[derive(Clone, Debug)]
pub(crate) struct FramesOptions {
    /// The metadata of each call.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) tls: tls::ClientTls,
    pub(crate) proxy: Option<connect::Proxy>,
}

#[derive(Debug)]
enum Input {
    /// Input of an operation of a model, serialized as CBOR.
    Modelled(Box<ModelInput>),
    /// A list of parameters, or the members of an input without a model.
    Plain(Value),
}

#[derive(Debug)]
struct ModelInput {
    service: ServiceHandle,
    operation: String,
    /// The protocol of payloads.
    wire: Box<dyn ClientProtocol>,
    input: Value,
    /// The serialized input, unless each call has its own idempotency token.
    payload: Option<Bytes>,
    /// Empty response head: payloads have none.
    head: response::Parts,
}

impl ServiceArguments {
    /// Prepares a call over frames, like [`ServiceArguments::http`].
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
        if has_password && !is_confidential(url) {
            return Err(Failure::usage(format!(
                "`{url}`: the password would be sent unencrypted: use tcp+tls://"
            )));
        }
        let model = self
            .model_of_frames(base.as_deref(), deadline.min(PROBE_TIMEOUT))
            .await?;
        let text = input.map(read_argument).transpose()?;
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
                    "the server does not publish a model: specify an operation or a method",
                ));
            };
            return Ok(call(name.to_owned(), Input::Plain(plain(text)?)));
        };
        let service = self.model.service(&model)?;
        if let (Some(name), true) = (operation, is_list)
            && service.find_operation(name).is_none()
        {
            // Servers can have methods that are not in the model.
            return Ok(call(name.to_owned(), Input::Plain(plain(text)?)));
        }
        let (operation, input) = choose_operation(&model, &service, operation, text)?;
        let name = format!("{}.{operation}", service.service().name());
        let modelled = ModelInput::new(service, operation, Value::Map(input))?;
        Ok(call(name, Input::Modelled(Box::new(modelled))))
    }
}

/// Whether data sent to this URL is confidential: it is encrypted or does not leave this machine.
fn is_confidential(url: &str) -> bool {
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

/// The timeout for fetching the model over HTTP, which the server may not support.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the URL at which the same server may answer over HTTP: the same port, as TCP if it is
/// UDP.
fn base_of(url: &str) -> Result<Option<String>, Failure> {
    if !url.starts_with("unix:")
        && let Some((_, rest)) = url.split_once('@')
    {
        // The part before `@` may contain a password.
        return Err(Failure::usage(format!(
            "`***@{rest}`: URLs for frames must not contain a user: use --user"
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
        // HTTP clients use the same URL.
        Some(("unix", _)) => match connect::split(url) {
            Ok((server, None)) => Ok(Some(server)),
            _ => Err(wrong("unix:///PATH, the whole path of a socket")),
        },
        _ => Ok(None),
    }
}

/// Parses JSON input without a model.
fn plain(text: Option<&str>) -> Result<Value, Failure> {
    let value = json(text.unwrap_or("[]"));
    let value = value.map_err(|error| Failure::usage(format!("invalid input: {error}")))?;
    match value {
        Value::List(_) | Value::Map(_) => {
            with_types(value).map_err(|reason| Failure::usage(format!("invalid input: {reason}")))
        }
        _ => Err(Failure::usage(
            "invalid input: without a model, expected a list of parameters, such as [1, 2], or the \
             members of an input, such as {\"a\": 1}",
        )),
    }
}

impl ModelInput {
    fn new(service: ServiceHandle, operation: String, input: Value) -> Result<Self, Failure> {
        let wire = ProtocolKind::RpcV2Cbor.client(service.service());
        let head = http::Response::builder()
            .header("smithy-protocol", "rpc-v2-cbor")
            .body(());
        let mut modelled = Self {
            wire: wire.map_err(Failure::usage)?,
            head: head.map_err(Failure::usage)?.into_parts().0,
            service,
            operation,
            input,
            payload: None,
        };
        let found = modelled.operation().map_err(Failure::usage)?;
        if !WithToken::is_due(found, &Dynamic(&modelled.input)) {
            modelled.payload = Some(modelled.encoded().map_err(Failure::usage)?);
        }
        Ok(modelled)
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
    /// Opens a new connection.
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
        let headers = self.options.headers.iter();
        Ok(headers.fold(client, |client, (name, value)| match *name {
            AUTHORIZATION => client.with_authorization(value.as_bytes()),
            _ => client.with_metadata(name.as_str(), value.as_bytes()),
        }))
    }

    /// Returns a hint if the URL may be for another protocol.
    fn hint(&self) -> &'static str {
        match self.url.starts_with("unix:") {
            true => "\nunix:// is for frames; http+unix:// is for HTTP",
            false => "",
        }
    }

    pub(crate) async fn call(&self, client: &frames::Client) -> Result<Value, CallError> {
        match &self.input {
            Input::Modelled(modelled) => modelled.call(&self.name, client).await,
            Input::Plain(input) => client.call(&self.name, input).await,
        }
    }

    /// Returns the output member of the model, if there is a model. JSON is formatted with its
    /// shapes.
    pub(crate) fn output_member(&self) -> Result<Member<'_>, Failure> {
        match &self.input {
            Input::Modelled(modelled) => {
                let operation = modelled.operation().map_err(Failure::usage)?;
                Ok(operation.output().root())
            }
            Input::Plain(_) => Ok(Member::DOCUMENT),
        }
    }

    /// Formats a failed call.
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

/// Returns the name and message of a fault, and its other members as JSON.
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

/// Returns the members of an error except its message.
fn members(fault: &Fault) -> Map {
    let mut members = fault.details().clone();
    members.remove("message");
    members
}

fn report(fault: &Fault) -> Result<String, Failure> {
    let mut json = Map::new();
    json.insert("message", fault.message());
    json.insert("kind", fault.name());
    let members = members(fault);
    if !members.is_empty() {
        json.insert("details", Value::Map(members));
    }
    print::json(&Value::Map(json))
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
            assert_eq!(is_frames_url(url, protocol).unwrap(), meant, "{url}");
        }
        let both = is_frames_url("tcp://h:1", cbor).unwrap_err().message;
        assert!(both.contains("--protocol"), "{both}");
        let http = is_frames_url("http://h:1", frame).unwrap_err().message;
        assert!(http.contains("tcp://HOST:PORT"), "{http}");
    }

    #[test]
    fn passwords_need_confidential_urls() {
        for (url, guarded) in [
            ("tcp+tls://h:1", true),
            ("unix:///run/a.sock", true),
            ("tcp://127.0.0.1:1", true),
            ("tcp://[::1]:1", true),
            ("udp://localhost:1", true),
            ("tcp://h:1", false),
            ("udp://10.0.0.1:1", false),
        ] {
            assert_eq!(is_confidential(url), guarded, "{url}");
        }
    }

    #[test]
    fn finds_http_urls() {
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
