//! The `polywire` program.
#![forbid(unsafe_code)]

mod call;
mod export;
mod findings;
mod generate;
mod listen;
mod model;
mod models;
mod pages;
mod paste;
mod print;
mod progress;
mod serve;
mod signals;
mod target;
mod way;
mod weather;
mod workers;
mod xmlrpc;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// One service model, every wire: serve and call Smithy services over
/// restJson1, rpcv2Cbor and XML-RPC.
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
    Xmlrpc(xmlrpc::Arguments),
    Model(model::Arguments),
    Export(export::Arguments),
    Generate(generate::Arguments),
}

fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("POLYWIRE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // They would go to standard error too, and panic if nobody reads it.
        .log_internal_errors(false)
        .init();
    let result = match Arguments::parse().command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Call(arguments) => call::run(arguments),
        Command::Xmlrpc(arguments) => xmlrpc::run(arguments),
        Command::Model(arguments) => model::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Generate(arguments) => generate::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let message = failure.message.trim_end();
            if !message.is_empty() {
                print::err(message);
            }
            ExitCode::from(failure.code)
        }
    }
}

/// Why the program ends without success.
#[derive(Debug)]
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The service answered with a fault.
    fn fault(message: impl std::fmt::Display) -> Self {
        Self {
            code: 1,
            message: message.to_string(),
        }
    }

    /// Everything has been said.
    fn silent(code: u8) -> Self {
        Self {
            code,
            message: String::new(),
        }
    }

    /// What was asked for makes no sense: arguments, models, JSON.
    fn usage(message: impl std::fmt::Display) -> Self {
        Self {
            code: 2,
            message: format!("error: {message}"),
        }
    }

    /// The service could not be reached, its answer not be read, or the server
    /// did not end as it should.
    fn transport(message: impl std::fmt::Display) -> Self {
        Self {
            code: 3,
            message: format!("error: {message}"),
        }
    }
}
