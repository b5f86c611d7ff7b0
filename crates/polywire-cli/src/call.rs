//! `polywire call`.

use std::io::{IsTerminal, Read};
use std::time::Duration;

use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use polywire::codec::json::{self, JsonDecoder, JsonProfile};
use polywire::model::Model;
use polywire::prelude::*;
use polywire::protocol::XmlRpc;
use polywire::rpc::client::Exchange;
use polywire::rpc::connect::{self, TransportError};
use polywire::schema::{Operation, Schema, decode_structure};
use polywire::text::base64;

use crate::models::{ModelArguments, from_json, protocol};
use crate::target::Target;
use crate::user::UserArguments;
use crate::way::WayArguments;
use crate::{Failure, Report, print};

/// Call an operation and print its output as JSON.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 with an output; 1 with a fault of the service, which is \
    printed; 2 when the call makes no sense and is not sent; 3 when the service cannot be \
    reached, or what answers is not understood.\n\n\
    What failed is said on standard error. Where standard output is no terminal, it also \
    stands there as JSON in one line: {\"fault\": {\"code\", \"message\", \"kind\", \
    \"details\"}} with status 1, {\"error\": {\"message\", \"kind\"}} with status 3."
)]
// One file for each --model: more would take the URL for a file.
#[command(mut_arg("files", |files| files.num_args(1)))]
pub(crate) struct Arguments {
    /// The service: http://HOST:PORT, https://HOST:PORT, http+unix:///SOCKET,
    /// scgi://HOST:PORT or scgi+unix:///SOCKET, with a path before all paths if
    /// need be.
    /// Over xmlRpc a path is where the calls go, such as
    /// http://HOST/xmlrpc.php; without one they go to /RPC2.
    url: String,
    /// The operation.
    operation: String,
    /// The input as JSON; `-` reads it from standard input. Timestamps as
    /// RFC 3339 or as seconds, blobs as base64.
    #[arg(value_name = "JSON", default_value = "{}")]
    input: String,
    #[command(flatten)]
    model: ModelArguments,
    /// The protocol: awsJson1_0, awsJson1_1, awsQuery, ec2Query, restJson1,
    /// restXml, rpcv2Cbor, rpcv2Json or xmlRpc. By default the first that the
    /// model names.
    #[arg(long, short, value_parser = protocol)]
    protocol: Option<ProtocolKind>,
    #[command(flatten)]
    user: UserArguments,
    /// Add a header to the request, and to that for the model; those of a file, one
    /// a line, by @FILE.
    #[arg(long, short = 'H', value_name = "NAME: VALUE", value_parser = headers)]
    header: Vec<Headers>,
    #[command(flatten)]
    way: WayArguments,
    /// Seconds until the call is given up, or before it the model.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60.0,
        allow_negative_numbers = true
    )]
    deadline: f64,
    /// Show the request and the response on standard error.
    #[arg(long)]
    show_wire: bool,
    /// Print JSON in one line, as when the output is no terminal.
    #[arg(long)]
    compact: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .map_err(Failure::transport)?
        .block_on(call(arguments))
}

async fn call(arguments: Arguments) -> Result<(), Failure> {
    let target = Target::parse(&arguments.url)?;
    if !(arguments.deadline > 0.0 && arguments.deadline < 1e9) {
        return Err(Failure::usage(
            "--deadline must be a positive number of seconds",
        ));
    }
    let deadline = Duration::from_secs_f64(arguments.deadline);
    let mut headers: Vec<(HeaderName, HeaderValue)> = Vec::new();
    if let Some((user, password)) = arguments.user.credentials()? {
        headers.push((AUTHORIZATION, basic(&user, &password)?));
    }
    headers.extend(arguments.header.into_iter().flat_map(|Headers(all)| all));
    let model = if arguments.model.is_given() {
        // Who calls a service can do nothing about the warnings of its model.
        arguments.model.load()?.model
    } else {
        let fetch = |base| fetch_model(base, &headers, &arguments.way, deadline);
        let (base, origin) = (target.base(), target.origin());
        // A query is the service's, and may hold a secret.
        let base = base.split('?').next().unwrap_or_default().to_owned();
        match arguments.protocol {
            Some(ProtocolKind::XmlRpc) => fetch(origin).await?,
            // Before a proxy the server is below the path; at a mount the path
            // is below the server.
            _ if base != origin => match fetch(&base).await {
                Ok(model) => model,
                Err(failure) => fetch(origin).await.map_err(|_| failure)?,
            },
            _ => fetch(&base).await?,
        }
    };
    let service = arguments.model.service(&model)?;
    let Some(operation) = service.find_operation(&arguments.operation) else {
        return Err(unknown_operation(&arguments.operation, &service));
    };
    let input = read_input(&arguments.input, operation.input())?;
    let named = service
        .service()
        .protocols()
        .find_map(ProtocolKind::from_name);
    let Some(kind) = arguments.protocol.or(named) else {
        return Err(Failure::usage(
            "the model names no protocol that is known here: use --protocol",
        ));
    };
    let mut builder = Client::builder(service.clone(), kind)
        .deadline(deadline)
        .tls(arguments.way.tls()?)
        .proxy(arguments.way.proxy()?);
    for (name, value) in headers {
        builder = builder.header(name, value);
    }
    let client = match target.endpoint() {
        Some(path) if kind == ProtocolKind::XmlRpc => {
            let protocol = XmlRpc::new(service.service()).map_err(Failure::usage)?;
            let protocol = Box::new(protocol.at_path(path));
            builder.custom_protocol(protocol).connect(target.origin())
        }
        _ => builder.connect(&target.base()),
    };
    let client = client.map_err(Failure::usage)?;
    let show_wire = arguments.show_wire;
    let output = client
        .call_showing(operation.name(), input, |exchange| {
            if show_wire {
                show(exchange);
            }
        })
        .await
        .map_err(|error| failure(error, operation))?;
    let text = print::json_of(&output, operation.output().root())?;
    let compact = arguments.compact || !std::io::stdout().is_terminal();
    let text = if compact { text } else { json::pretty(&text) };
    print::out(&format!("{text}\n"))
}

/// The model that a Polywire server tells.
async fn fetch_model(
    base: &str,
    headers: &[(HeaderName, HeaderValue)],
    way: &WayArguments,
    deadline: Duration,
) -> Result<Model, Failure> {
    let target = format!("{base}/_polywire/model.json");
    let reason = |reason: &dyn std::fmt::Display| {
        let message =
            format!("no model at {target} ({reason}): give the service's model with --model FILE");
        Failure::transport(message).reported(Report::Error("no_model"))
    };
    // As the call has them: what lets the call in shall let this in.
    let headers = headers.iter().cloned().collect();
    let (tls, proxy) = (way.tls()?, way.proxy()?);
    let response = connect::get(&target, headers, tls, proxy, 64 << 20, deadline).await;
    // It tells the causes too: "connection refused" is what helps.
    let response = response.map_err(|error| {
        let transport: Option<&TransportError> = error.downcast_ref();
        match transport.is_some_and(TransportError::is_deadline) {
            true => reason(&CallError::Deadline(deadline)),
            false => reason(&CallError::Transport(error)),
        }
    })?;
    if !response.status().is_success() {
        return Err(reason(&response.status()));
    }
    let body = response.into_body();
    let text = std::str::from_utf8(&body).map_err(|error| reason(&error))?;
    from_json("model.json", text)
}

fn unknown_operation(name: &str, service: &ServiceHandle) -> Failure {
    let names: Vec<&str> = service
        .service()
        .operations()
        .map(Operation::name)
        .collect();
    let list = names.join(", ");
    Failure::usage(format!(
        "{} has no operation {name}; it has {list}",
        service.service().id()
    ))
}

fn read_input(argument: &str, shape: Schema<'_>) -> Result<Map, Failure> {
    let mut text = argument.to_owned();
    if argument == "-" {
        text.clear();
        let read = std::io::stdin().lock().read_to_string(&mut text);
        read.map_err(|error| Failure::usage(format!("standard input: {error}")))?;
    }
    let mut map = Map::new();
    let mut read = || {
        let mut decoder = JsonDecoder::from_str(&text, JsonProfile::HUMAN, &Limits::DEFAULT)?;
        decode_structure(&mut map, shape.root(), &mut decoder)?;
        decoder.finish()
    };
    read().map_err(|error| Failure::usage(format!("the input: {error}")))?;
    Ok(map)
}

/// A fault of the model with its members; anything else as it says.
fn failure(error: CallError, operation: Operation<'_>) -> Failure {
    let kind = match &error {
        CallError::Deadline(_) => "timeout",
        CallError::Response(_) | CallError::Foreign(_) => "answer",
        _ => "transport",
    };
    let fault = match error {
        CallError::Fault(fault) => fault,
        CallError::Request(_) => return Failure::usage(error),
        _ => return Failure::transport(error).reported(Report::Error(kind)),
    };
    let shape = operation.find_error(fault.shape());
    let details = shape.and_then(|shape| {
        let details = Value::Map(fault.details().clone());
        print::json_of(&details, shape.root()).ok()
    });
    let report = match report(&fault, details.as_deref()) {
        Ok(report) => Report::Fault(report),
        Err(_) => Report::Error("fault"),
    };
    let mut message = fault.to_string();
    if let Some(code) = fault.code() {
        message.push_str(&format!(" (fault code {code})"));
    }
    if let Some(json) = details {
        message.push_str(&format!("\n{json}"));
    }
    Failure::fault(message).reported(report)
}

/// A fault as programs are told of it: its number where it has one, its text, its name,
/// and what the model's structure holds.
fn report(fault: &Fault, details: Option<&str>) -> Result<String, Failure> {
    let mut about = Map::new();
    if let Some(code) = fault.code() {
        about.insert("code", code);
    }
    about.insert("message", fault.message());
    about.insert("kind", fault.name());
    let mut json = print::json(&Value::Map(about))?;
    if let Some(details) = details {
        json.pop();
        json.push_str(&format!(",\"details\":{details}}}"));
    }
    Ok(json)
}

/// The request, or the response once it is there.
pub(crate) fn show(exchange: &Exchange) {
    let Some(response) = &exchange.response else {
        let request = &exchange.request;
        print::err(format_args!("> {} {}", request.method(), request.uri()));
        show_message('>', request.headers(), request.body());
        return;
    };
    print::err(format_args!("< {}", response.status()));
    show_message('<', response.headers(), response.body());
}

fn show_message(mark: char, headers: &http::HeaderMap, body: &[u8]) {
    for (name, value) in headers {
        // What is shown is pasted into reports.
        let value = match value.is_sensitive() {
            true => "***".into(),
            false => String::from_utf8_lossy(value.as_bytes()),
        };
        print::err(format_args!("{mark} {name}: {}", value.escape_debug()));
    }
    print::err(mark);
    let printable = |text: &&str| {
        !text
            .chars()
            .any(|character| character.is_control() && !matches!(character, '\n' | '\r' | '\t'))
    };
    match std::str::from_utf8(body).ok().filter(printable) {
        Some(text) => text
            .lines()
            .for_each(|line| print::err(format_args!("{mark} {line}"))),
        None => hex_dump(mark, body),
    }
}

fn hex_dump(mark: char, body: &[u8]) {
    for (index, row) in body.chunks(16).enumerate() {
        let hex: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = row
            .iter()
            .map(|byte| {
                if byte.is_ascii_graphic() {
                    char::from(*byte)
                } else {
                    '.'
                }
            })
            .collect();
        print::err(format_args!(
            "{mark} {:06x}  {:<47}  {text}",
            index * 16,
            hex.join(" ")
        ));
    }
}

/// `Basic ...` of RFC 7617.
fn basic(user: &str, password: &str) -> Result<HeaderValue, Failure> {
    let mut text = b"Basic ".to_vec();
    base64::push(&mut text, format!("{user}:{password}").as_bytes());
    let mut value = HeaderValue::try_from(text).map_err(Failure::usage)?;
    value.set_sensitive(true);
    Ok(value)
}

/// What one -H names.
#[derive(Clone, Debug)]
pub(crate) struct Headers(pub(crate) Vec<(HeaderName, HeaderValue)>);

/// Reads a header, or those of a file, so that no secret has to stand in a command line.
pub(crate) fn headers(text: &str) -> Result<Headers, String> {
    let Some(path) = text.strip_prefix('@') else {
        return Ok(Headers(vec![header(text)?]));
    };
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let all = lines.map(|(index, line)| {
        // Without the line itself, which may be a secret: that is what files are for.
        let (name, mut value) =
            header(line).map_err(|error| format!("{path}, line {}: {error}", index + 1))?;
        value.set_sensitive(true);
        Ok((name, value))
    });
    all.collect::<Result<_, String>>().map(Headers)
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected NAME: VALUE")?;
    let name = name
        .trim()
        .parse()
        .map_err(|error| format!("the name: {error}"))?;
    let value = value
        .trim()
        .parse()
        .map_err(|error| format!("the value: {error}"))?;
    Ok((name, value))
}
