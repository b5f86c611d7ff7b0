//! `polywire xmlrpc`.

mod advice;
mod connection;
pub(crate) mod input;
mod multicall;
mod paint;
mod typed;

use std::io::IsTerminal;

use polywire::codec::json;
use polywire::rpc::xmlrpc::{Client, Fault};
use polywire::rpc::{CallError, CallErrorKind};
use polywire::schema::{Map, Value};

use advice::Advice;

use crate::{Failure, Report, print};

/// Call an XML-RPC method without a model, and print its result as JSON
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The URL of the server: http://HOST/PATH, https://HOST/PATH, http+unix://SOCKET,
    /// scgi://HOST:PORT or scgi+unix://SOCKET [default path: /RPC2]. After the path of a socket,
    /// the path of the calls follows a `:`, as in http+unix:///run/supervisor.sock:/RPC2. It is
    /// optional after .sock and .socket
    url: String,
    /// The name of the method
    #[arg(required_unless_present_any = ["list", "describe", "multicall"])]
    method: Option<String>,
    /// The parameters: JSON, words, or text with a type prefix, such as s/38F7. See below
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    parameters: Vec<String>,
    /// Send all parameters unchanged as strings
    #[arg(long, conflicts_with = "multicall")]
    strings: bool,
    /// Print the names of the server's methods, one per line
    #[arg(long, conflicts_with_all = ["method", "describe", "multicall"])]
    list: bool,
    /// Print the signatures and the help of a method
    #[arg(long, value_name = "METHOD", conflicts_with_all = ["method", "multicall"])]
    describe: Option<String>,
    /// Make many calls at once, with system.multicall if the server supports it. The file, or `-`
    /// for standard input, is a JSON array of {"method": NAME, "params": [...]}, or has one JSON
    /// array per line: ["NAME", ARGUMENT, ...]. Prints an array with {"result": ...} or {"fault":
    /// {...}} for each call. If the connection is lost, prints {"error": ...} for calls that may
    /// have been made, and {"notSent": true} for the others
    #[arg(long, value_name = "FILE", conflicts_with = "method")]
    multicall: Option<String>,
    #[command(flatten)]
    connection: connection::ConnectionArguments,
    /// Print the XML of the request and the response to standard error
    #[arg(long, visible_alias = "show-wire")]
    raw: bool,
    /// Print JSON in one line, without colours. This is the default if standard output is not a
    /// terminal
    #[arg(long)]
    compact: bool,
}

const AFTER_HELP: &str = "\
Arguments: each argument is JSON, such as 3, 3.0 (a double), true, null (nil), [1, 2] or \
'{\"name\": \"web\"}'. Text that does not start like JSON is a string: web, /var/log/x. Text that \
starts like JSON must be valid JSON, so that typing errors are not sent as strings. Integers of \
more than 64 bits are rejected: use a string, or a double such as 1e20. Types that JSON does not \
have: '{\"$blob\": \"aGVsbG8=\"}' (base64), '{\"$timestamp\": \"2026-11-22T10:00:00\"}' \
(dateTime.iso8601).

Type prefixes, as in the program xmlrpc of xmlrpc-c: s/ string, i/ 32-bit integer, I/ 64-bit \
integer (<i8> if it exceeds 32 bits), d/ double, b/ boolean (true, t, 1, false, f, 0), t/ dateTime \
(2026-11-22T10:00:00Z or 20261122T10:00:00), h/ hexadecimal bytes (sent as base64), n/ nil. For \
example, s/1234567 is a string that looks like a number, and s/s/x is the string s/x. --strings \
sends all arguments as strings.

Exit status: 0 on success; 1 if the server returned a fault, which is printed; 2 for invalid \
arguments, in which case nothing is sent; 3 if the server cannot be reached or its response cannot \
be read.

Errors are printed to standard error. If standard output is not a terminal and the result would \
be JSON, they are also printed there as JSON in one line: {\"fault\": {\"code\", \"message\", \
\"kind\"}} with status 1, {\"error\": {\"message\", \"kind\"}} with status 3.";

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .map_err(Failure::transport)?
        .block_on(dispatch(arguments))
}

async fn dispatch(arguments: Arguments) -> Result<(), Failure> {
    // Check the arguments before anything is sent.
    let parameters = input::parameters(&arguments.parameters, arguments.strings)?;
    let calls = match &arguments.multicall {
        Some(path) => Some(multicall::read(path)?),
        None => None,
    };
    let (client, advice) = arguments.connection.client(&arguments.url, arguments.raw)?;
    let output = Output::new(arguments.compact);
    // These options print lines, not JSON.
    let unreported = |failure: Failure| failure.reported(Report::None);
    if arguments.list {
        return list(&client, &advice).await.map_err(unreported);
    }
    if let Some(method) = &arguments.describe {
        return describe(&client, &advice, method).await.map_err(unreported);
    }
    if let Some(calls) = calls {
        return multicall::run(&client, &advice, calls, output).await;
    }
    let method = arguments.method.unwrap_or_default();
    let result = client.call_values(&method, &parameters).await;
    output.print(&result.map_err(|error| failure(&advice, error))?)
}

/// How results are printed.
#[derive(Clone, Copy, Debug)]
struct Output {
    compact: bool,
}

impl Output {
    fn new(compact: bool) -> Self {
        Self {
            compact: compact || !std::io::stdout().is_terminal(),
        }
    }

    fn print(self, value: &Value) -> Result<(), Failure> {
        let text = print::json(value)?;
        let text = match self.compact {
            true => text,
            false if paint::is_wanted() => paint::painted(&json::pretty(&text)),
            false => json::pretty(&text),
        };
        print::out(&format!("{text}\n"))
    }
}

async fn list(client: &Client, advice: &Advice) -> Result<(), Failure> {
    let names = client.list_methods().await;
    let names = names.map_err(|error| match error.xmlrpc_fault() {
        Some(fault) if fault.is_unknown_method() => without_introspection(fault, "--list"),
        _ => failure(advice, error),
    })?;
    let lines = names.iter().map(|name| print::escape_controls(name) + "\n");
    print::out(&lines.collect::<String>())
}

/// Prints each signature as "sample.add(int, int) -> int", followed by the help.
async fn describe(client: &Client, advice: &Advice, method: &str) -> Result<(), Failure> {
    let signatures = client.method_signatures(method).await;
    let help = client.method_help(method).await;
    // Some servers support only one of the two methods.
    let (signatures, help) = match (signatures, help) {
        (Err(error), Err(_)) => {
            return Err(match error.xmlrpc_fault() {
                // Otherwise the method itself may be unknown.
                Some(fault)
                    if fault.is_unknown_method() && fault.message().contains("system.method") =>
                {
                    without_introspection(fault, "--describe")
                }
                _ => failure(advice, error),
            });
        }
        (signatures, help) => (signatures.unwrap_or_default(), help.unwrap_or_default()),
    };
    let mut text = String::new();
    for types in signatures {
        let [result, parameters @ ..] = &types[..] else {
            continue;
        };
        let parameters = parameters.join(", ");
        text.push_str(&format!("{method}({parameters}) -> {result}\n"));
    }
    if text.is_empty() {
        text.push_str(&format!(
            "{method}: the server does not publish a signature\n"
        ));
    }
    for line in help.trim().lines() {
        let line = format!("    {line}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    print::out(&print::escape_controls(&text))
}

fn without_introspection(fault: &Fault, option: &str) -> Failure {
    Failure::fault(format!(
        "{fault}\nthe server does not support introspection, which {option} requires"
    ))
}

fn failure(advice: &Advice, error: CallError) -> Failure {
    let Some(fault) = error.xmlrpc_fault() else {
        let kind = match error.kind() {
            CallErrorKind::Encode => return Failure::usage(error),
            CallErrorKind::Decode => "answer",
            _ if error.http_status().is_some() => "status",
            _ if error.is_timeout() => "timeout",
            _ => "transport",
        };
        let failure = Failure::transport(format!("{error}{}", advice.line(&error)));
        return failure.reported(Report::Error(kind));
    };
    let mut message = fault.to_string();
    // Faults can have more members than code and string.
    let more = fault.value().as_map().is_some_and(|map| map.len() > 2);
    if let (true, Ok(json)) = (more, print::json(fault.value())) {
        message.push_str(&format!("\n{json}"));
    }
    let report = match print::json(&Value::Map(report(fault))) {
        Ok(report) => Report::Fault(report),
        Err(_) => Report::Error("fault"),
    };
    Failure::fault(message).reported(report)
}

/// Formats a fault as JSON: its code, message, kind, and the whole struct if it has other members.
fn report(fault: &Fault) -> Map {
    let kind = match fault {
        _ if fault.is_unknown_method() => "unknown_method",
        _ if fault.retry_after().is_some() => "overloaded",
        _ => "fault",
    };
    let mut about = Map::from_iter([("code", fault.code())]);
    about.insert("message", fault.message());
    about.insert("kind", kind);
    if fault.value().as_map().is_some_and(|map| map.len() > 2) {
        about.insert("value", fault.value().clone());
    }
    about
}
