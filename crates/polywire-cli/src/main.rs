//! The `polywire` program.
#![forbid(unsafe_code)]

mod authentication;
mod bench;
mod call;
mod dialect;
mod export;
mod findings;
mod generate;
mod listen;
mod model;
mod models;
mod nostr;
mod offers;
mod output;
mod pages;
mod paste;
mod print;
mod progress;
mod serve;
mod signals;
mod target;
mod transport;
mod user;
mod weather;
mod workers;
mod xmlrpc;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use polywire::schema::{Map, Value};

/// Serve, call, mock and measure Smithy services over the protocols of Smithy and AWS,
/// XML-RPC, JSON-RPC and frames.
#[derive(Debug, Parser)]
#[command(name = "polywire", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Arguments),
    Call(call::Arguments),
    Bench(Box<bench::Arguments>),
    Xmlrpc(xmlrpc::Arguments),
    Model(model::Arguments),
    Export(export::Arguments),
    Generate(generate::Arguments),
    Nostr(nostr::Arguments),
}

fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("POLYWIRE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // Otherwise errors go to standard error too, and cause a panic if it is closed.
        .log_internal_errors(false)
        .init();
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let result =
        nostr::refuse_in_arguments(&words).and_then(|()| match Arguments::parse().command {
            Command::Serve(arguments) => serve::run(&arguments),
            Command::Call(arguments) => call::run(arguments),
            Command::Bench(arguments) => bench::run(&arguments),
            Command::Xmlrpc(arguments) => xmlrpc::run(arguments),
            Command::Model(arguments) => model::run(&arguments),
            Command::Export(arguments) => export::run(&arguments),
            Command::Generate(arguments) => generate::run(&arguments),
            Command::Nostr(arguments) => nostr::run(arguments),
        });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(report) = failure.report()
                && !std::io::stdout().is_terminal()
            {
                // The exit status already reports the failure.
                let _ = print::out(&format!("{report}\n"));
            }
            let message = failure.message.trim_end();
            if !message.is_empty() {
                print::err(message);
            }
            ExitCode::from(failure.code)
        }
    }
}

/// A failure of the program: its exit status and its messages.
#[derive(Debug)]
struct Failure {
    code: u8,
    message: String,
    report: Report,
}

/// The JSON output of a failure, on standard output in place of a result. Scripts read it; standard
/// error also contains logs and the output of `--raw`.
#[derive(Debug)]
enum Report {
    /// No output: results are not JSON, or a result was already printed.
    None,
    /// A failed call, with its kind.
    Error(&'static str),
    /// A fault, as JSON.
    Fault(String),
}

impl Failure {
    const fn new(code: u8, message: String) -> Self {
        Self {
            code,
            message,
            report: Report::None,
        }
    }

    /// The service returned a fault.
    fn fault(message: impl std::fmt::Display) -> Self {
        Self::new(1, message.to_string())
    }

    /// The error message was already printed.
    const fn silent(code: u8) -> Self {
        Self::new(code, String::new())
    }

    /// Invalid arguments, models or JSON.
    fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(2, format!("error: {message}"))
    }

    /// The service could not be reached, its response could not be read, or the server failed.
    fn transport(message: impl std::fmt::Display) -> Self {
        Self::new(3, format!("error: {message}"))
    }

    /// Appends a line with a hint, which starts with a line break.
    fn advised(mut self, line: &str) -> Self {
        self.message.push_str(line);
        self
    }

    /// Sets the JSON output.
    fn reported(mut self, report: Report) -> Self {
        self.report = report;
        self
    }

    /// Returns the JSON output, as one line.
    fn report(&self) -> Option<String> {
        let report = match &self.report {
            Report::None => return None,
            Report::Fault(fault) => format!("{{\"fault\":{fault}}}"),
            Report::Error(kind) => {
                let message = self
                    .message
                    .strip_prefix("error: ")
                    .unwrap_or(&self.message);
                let about = [
                    ("message", Value::from(message)),
                    ("kind", Value::from(*kind)),
                ];
                let about = print::json(&Value::Map(Map::from_iter(about)));
                format!("{{\"error\":{}}}", about.ok()?)
            }
        };
        Some(report)
    }
}
