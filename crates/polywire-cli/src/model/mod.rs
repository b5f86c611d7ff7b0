//! `polywire model`: checks, converts and searches Smithy models.

mod ast;
mod check;
mod idl;
mod input;
mod rules;
mod select;
mod stat;

use clap::Subcommand;

use crate::Failure;

pub(crate) use input::Input;

/// For the help of each command.
pub(crate) const EXIT_STATUS: &str = "Exit status: 0 on success; 1 if the model has \
    errors; 2 if the arguments are invalid; 3 if a result cannot be written.";

/// Check, convert and search Smithy models: IDL (.smithy), JSON AST (.json),
/// folders of them, and JARs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Ast(ast::Arguments),
    Idl(idl::Arguments),
    Select(select::Arguments),
    Stat(stat::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
        Command::Ast(arguments) => ast::run(arguments),
        Command::Idl(arguments) => idl::run(arguments),
        Command::Select(arguments) => select::run(arguments),
        Command::Stat(arguments) => stat::run(arguments),
    }
}
