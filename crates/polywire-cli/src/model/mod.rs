//! `polywire model`: checks, converts and searches Smithy models.

mod ast;
mod check;
mod idl;
mod input;
mod select;
mod stat;

use clap::Subcommand;

use crate::Failure;

/// Check, convert and search Smithy models: IDL (.smithy), JSON AST (.json),
/// folders of them, and JARs.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 when all is well; 1 when the model has errors; 2 when what \
    was asked for makes no sense; 3 when a result cannot be written."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say everything that is wrong with a model, each with its place and what
    /// was expected there.
    Check(check::Arguments),
    /// Write a model as JSON AST.
    Ast(ast::Arguments),
    /// Write a model as IDL.
    Idl(idl::Arguments),
    /// Find the shapes and members that a selector matches.
    Select(select::Arguments),
    /// Count what a model holds.
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
