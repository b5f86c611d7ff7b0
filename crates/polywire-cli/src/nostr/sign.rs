//! `polywire nostr sign`.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use polywire_nostr::{KeyPair, Limits};

use super::check::jobs;
use super::each::{self, Answer};
use super::lines::Inputs;
use super::secret::KeyArguments;
use super::template::Template;
use crate::Failure;

/// Sign events: add id, pubkey and sig.
///
/// Input has one JSON object per line. kind is required. created_at defaults to the current time,
/// tags and content are empty by default. If id or pubkey are present, they must be correct.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// Files with one event per line. `-`, or no file, is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    key: KeyArguments,
    /// The maximum length of a line in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.bytes)]
    max_bytes: usize,
}

const AFTER_HELP: &str = "\
Example:
  echo '{\"kind\":1,\"content\":\"hello\"}' | polywire nostr sign --key-file me.nsec

Exit status: 0 when all lines were signed; 1 when a line was not signed; 2 when there is no key, or a \
file cannot be read.";

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let keys = KeyPair::from(arguments.key.secret()?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    let inputs = Inputs::new(&arguments.files);
    let counts = each::run(
        "signing",
        &inputs,
        arguments.max_bytes,
        jobs(None),
        |line| match sign(line, &keys, now) {
            Ok(event) => Answer::text(event),
            Err(error) => Answer::error(error),
        },
    )?;
    each::finish(counts)
}

fn sign(line: &[u8], keys: &KeyPair, now: u64) -> Result<String, String> {
    let template = Template::parse(line)?;
    if template.is_signed() {
        return Err("sig: the event is already signed; remove sig to sign it again".to_owned());
    }
    let author = keys.public_key();
    if let Some(other) = template.author()?.filter(|other| *other != author) {
        return Err(format!(
            "pubkey: the author of the event is {other}, but the key is that of {author}"
        ));
    }
    let stated = template.id()?;
    let event = template.build(&author, now);
    let id = *event.id();
    if let Some(stated) = stated.filter(|stated| *stated != id) {
        return Err(format!(
            "id-mismatch: the event states {stated}, computed {id}; remove id to replace it"
        ));
    }
    let event = event.with_signature(&keys.sign(&id));
    Ok(event.as_ref().as_json().to_owned())
}
