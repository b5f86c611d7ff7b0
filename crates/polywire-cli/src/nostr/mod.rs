//! `polywire nostr`: events, keys, NIP-19 entities and encrypted messages.

mod accept;
mod check;
mod decode;
mod each;
mod encode;
mod filter;
mod id;
mod key;
mod lines;
mod message;
mod names;
mod pipeline;
mod secret;
mod sign;
mod sink;
mod template;
mod verify;

use clap::Subcommand;

use crate::Failure;

pub(crate) use secret::refuse_in_arguments;

/// Check, sign and search Nostr events; keys, NIP-19 entities and encryption (NIP-44).
///
/// No command opens a connection.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Secret keys are read from --key-file FILE, from the variable POLYWIRE_NOSTR_KEY, or from a prompt at \
the terminal. They are never arguments, because all users of a machine can see those.

Exit status: 0 on success; 1 when an event, a signature or a message is invalid; 2 when a file cannot \
be read or written, or the arguments are invalid.";

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Verify(verify::Arguments),
    Filter(filter::Arguments),
    Id(id::Arguments),
    Sign(sign::Arguments),
    Key(key::Arguments),
    Encode(encode::Arguments),
    Decode(decode::Arguments),
    Encrypt(message::EncryptArguments),
    Decrypt(message::DecryptArguments),
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let result = match arguments.command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Filter(arguments) => filter::run(&arguments),
        Command::Id(arguments) => id::run(&arguments),
        Command::Sign(arguments) => sign::run(&arguments),
        Command::Key(arguments) => key::run(&arguments),
        Command::Encode(arguments) => encode::run(arguments),
        Command::Decode(arguments) => decode::run(&arguments),
        Command::Encrypt(arguments) => message::encrypt(&arguments),
        Command::Decrypt(arguments) => message::decrypt(&arguments),
    };
    result.map_err(|mut failure| {
        // Other commands have a higher status for lost output.
        failure.code = failure.code.min(2);
        failure
    })
}
