//! `polywire nostr verify`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use polywire_nostr::EventRef;

use super::accept::AcceptArguments;
use super::lines;
use crate::{Failure, print};

/// Verify one event, and report which check failed: form, id or signature.
///
/// The event may span several lines. To check many events, one per line, use `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// The file with the event. Default: standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    #[command(flatten)]
    accept: AcceptArguments,
}

const AFTER_HELP: &str = "\
Example:
  polywire nostr verify event.json

Exit status: 0 when the event is valid; 1 when it is not; 2 when the file cannot be read.";

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let json = read(&arguments.file, arguments.accept.max_bytes())?;
    let (profile, limits) = (arguments.accept.profile(), arguments.accept.limits());
    let event = match EventRef::parse_with(&json, profile, &limits) {
        Ok(event) => event,
        Err(error) => {
            print::out(&format!("form       {error}\n"))?;
            let mut lines = json.split(|byte| *byte == b'\n');
            let each_is_event = lines.all(|line| {
                line.trim_ascii().is_empty() || EventRef::parse_with(line, profile, &limits).is_ok()
            });
            return Err(match each_is_event && !json.trim_ascii().is_empty() {
                true => Failure::new(
                    1,
                    "the input has several events, one per line: use `polywire nostr check`"
                        .to_owned(),
                ),
                false => Failure::silent(1),
            });
        }
    };
    let computed = event.compute_id();
    let id_is_valid = computed == *event.id();
    let signature = event.pubkey().verify(event.id(), event.sig());
    let id = match id_is_valid {
        true => format!("ok, {computed}"),
        false => format!(
            "wrong: the event states {}, computed {computed}",
            event.id()
        ),
    };
    let signature_result = match (&signature, id_is_valid) {
        (Ok(()), true) => format!("ok, by {}", event.pubkey().to_npub()),
        // The event was changed after signing, or its id was computed differently.
        (Ok(()), false) => format!("valid for the stated id, by {}", event.pubkey().to_npub()),
        (Err(error), _) => format!("wrong: {error}"),
    };
    print::out(&format!(
        "form       ok\nid         {id}\nsignature  {signature_result}\n"
    ))?;
    match id_is_valid && signature.is_ok() {
        true => Ok(()),
        false => Err(Failure::silent(1)),
    }
}

/// Reads at most `max_bytes + 1` bytes, so that the parser detects input that is too long.
fn read(path: &Path, max_bytes: usize) -> Result<Vec<u8>, Failure> {
    let mut json = Vec::new();
    let mut input = lines::open(path)?.take(max_bytes as u64 + 1);
    let read = input.read_to_end(&mut json);
    read.map_err(|error| lines::unreadable(path, &error))?;
    Ok(json)
}
