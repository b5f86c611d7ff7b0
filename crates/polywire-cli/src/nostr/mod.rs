//! `polywire nostr`: checks, makes and reads events, keys, names and messages.

mod accept;
mod check;
mod lines;
mod pipeline;
mod secret;
mod sink;

use clap::Subcommand;

use crate::Failure;

pub(crate) use secret::refuse_in_arguments;

/// Check, sign and search Nostr events; keys, names (NIP-19) and encryption (NIP-44).
///
/// No command opens a connection.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Secret keys come from --key-file FILE, from the variable POLYWIRE_NOSTR_KEY, or are asked for at \
the terminal. They are never arguments: all users of a machine can see those.

Exit status: 0 when all is well; 1 when an event, a signature or a message is not; 2 when a file \
cannot be read or written, or what was asked for makes no sense.";

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let result = match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
    };
    result.map_err(|mut failure| {
        // Of a lost output, for which other commands have a status of its own.
        failure.code = failure.code.min(2);
        failure
    })
}
