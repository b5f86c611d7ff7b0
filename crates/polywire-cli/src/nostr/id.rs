//! `polywire nostr id`.

use std::path::PathBuf;

use polywire_nostr::{EventId, EventRef, Limits, Member, Profile, Reason};

use super::accept::AcceptArguments;
use super::check::jobs;
use super::each::{self, Answer, Output};
use super::lines::Inputs;
use super::template::Template;
use crate::Failure;

/// Compute and print the ids of events.
///
/// Events may lack id and sig. If an event states a different id, an error is printed on standard
/// error.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// Files with one event per line. `-`, or no file, is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    accept: AcceptArguments,
}

const AFTER_HELP: &str = "\
Example:
  polywire nostr id unsigned.jsonl

Exit status: 0 when all stated ids are correct; 1 when an id is wrong or a line is not an event; 2 \
when a file cannot be read.";

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let accept = &arguments.accept;
    let (profile, limits) = (accept.profile(), accept.limits());
    let inputs = Inputs::new(&arguments.files);
    let counts = each::run(
        "hashing",
        &inputs,
        accept.max_bytes(),
        jobs(None),
        |line| match ids(line, profile, &limits) {
            Ok((computed, stated)) => {
                let other = stated.filter(|stated| *stated != computed);
                Answer {
                    output: Output::Text(computed.to_string()),
                    error: other.map(|stated| {
                        format!("id-mismatch: the event states {stated}, computed {computed}")
                    }),
                }
            }
            Err(error) => Answer::error(error),
        },
    )?;
    each::finish(counts)
}

/// Returns the computed id and the stated id.
fn ids(
    line: &[u8],
    profile: Profile,
    limits: &Limits,
) -> Result<(EventId, Option<EventId>), String> {
    match EventRef::parse_with(line, profile, limits) {
        Ok(event) => Ok((event.compute_id(), Some(*event.id()))),
        Err(error)
            if error.reason == Reason::Missing
                && matches!(error.member, Some(Member::Id | Member::Sig)) =>
        {
            let template = Template::parse(line)?;
            if !template.has_time() {
                return Err("created_at: member is missing".to_owned());
            }
            let author = template.author()?.ok_or("pubkey: member is missing")?;
            let stated = template.id()?;
            Ok((*template.build(&author, 0).id(), stated))
        }
        Err(error) => Err(error.to_string()),
    }
}
