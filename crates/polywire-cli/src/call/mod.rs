//! `polywire call`.

mod failure;
pub(crate) mod frames;
mod header;
mod service;
mod show;

use std::io::IsTerminal;
use std::time::Duration;

use polywire::codec::json;

pub(crate) use header::{Headers, headers};
pub(crate) use service::{HttpCall, ServiceArguments, read_argument};
pub(crate) use show::show;

use crate::{Failure, print};

/// Call an operation and print its output as JSON
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 on success; 1 if the service returned a fault, which is printed; \
        2 for invalid arguments, in which case nothing is sent; 3 if the service cannot be reached or \
        its response cannot be read.\n\n\
        Errors are printed to standard error. If standard output is not a terminal, they are also \
        printed there as JSON in one line: {\"fault\": {\"code\", \"message\", \"kind\", \
        \"details\"}} with status 1, {\"error\": {\"message\", \"kind\"}} with status 3."
)]
pub(crate) struct Arguments {
    /// The URL of the service. HTTP: http://HOST:PORT, https://HOST:PORT, http+unix:///SOCKET,
    /// scgi://HOST:PORT or scgi+unix:///SOCKET, optionally with a path prefix. Frames:
    /// tcp://HOST:PORT, tcp+tls://HOST:PORT, unix:///SOCKET or udp://HOST:PORT. With xmlRpc, calls
    /// are sent to the path, such as http://HOST/xmlrpc.php [default path: /RPC2]
    url: String,
    /// The operation. Over frames, also a method that is not in the model
    operation: String,
    /// The input as JSON, or `-` for standard input. Timestamps are RFC 3339 or seconds since 1970,
    /// blobs base64. For methods over frames, a list of parameters, such as [1, 2]
    #[arg(value_name = "JSON")]
    input: Option<String>,
    #[command(flatten)]
    service: ServiceArguments,
    /// The timeout of the call in seconds, and that for fetching the model
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60.0,
        allow_negative_numbers = true
    )]
    deadline: f64,
    /// Print the request and the response to standard error. Not supported over frames
    #[arg(long)]
    show_wire: bool,
    /// Print JSON in one line. This is the default if standard output is not a terminal
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
    let deadline = seconds(arguments.deadline)?;
    let over_frames = arguments.service.is_over_frames(&arguments.url)?;
    let (url, name) = (&arguments.url, Some(arguments.operation.as_str()));
    let input = arguments.input.as_deref();
    let text = if over_frames {
        if arguments.show_wire {
            let message = "--show-wire is not supported over frames";
            return Err(Failure::usage(message));
        }
        let call = arguments.service.frames(url, name, input, deadline).await?;
        let client = call.connect().await?;
        let output = call.call(&client).await;
        let output = output.map_err(|error| call.failure(&error))?;
        print::json_of(&output, call.output_member()?)?
    } else {
        let call = arguments.service.http(url, name, input, deadline).await?;
        let client = call.client()?;
        let operation = call.operation()?;
        let show_wire = arguments.show_wire;
        let output = client
            .call_showing(operation.name(), call.input.clone(), |exchange| {
                if show_wire {
                    show(exchange);
                }
            })
            .await
            .map_err(|error| failure::failure(error, operation, &arguments.service.transport))?;
        print::json_of(&output, operation.output().root())?
    };
    let compact = arguments.compact || !std::io::stdout().is_terminal();
    let text = if compact { text } else { json::pretty(&text) };
    print::out(&format!("{text}\n"))
}

/// Converts an argument in seconds.
pub(crate) fn seconds(seconds: f64) -> Result<Duration, Failure> {
    match seconds > 0.0 && seconds < 1e9 {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(Failure::usage(
            "--deadline must be a positive number of seconds",
        )),
    }
}
