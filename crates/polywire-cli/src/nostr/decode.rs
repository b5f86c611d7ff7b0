//! `polywire nostr decode`.

use std::io;

use polywire::schema::{Map, Value};
use polywire_nostr::nip19::Nip19;
use polywire_nostr::{PublicKey, SecretKey};

use super::names;
use super::secret::read_text;
use crate::{Failure, print};

/// The maximum length of standard input in bytes.
const MAX_INPUT: u64 = 1 << 20;

/// Decode NIP-19 entities and `nostr:` URIs (NIP-21).
///
/// A secret key is accepted only on standard input, and its public key is shown.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// Entities such as npub1... or nostr:nevent1.... Without arguments, standard input is read,
    /// with one entity per line.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Print JSON, one object per line.
    #[arg(long)]
    json: bool,
    /// Print secret keys too.
    #[arg(long)]
    show_secret: bool,
}

const AFTER_HELP: &str = "\
Examples:
  polywire nostr decode npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg
  polywire nostr decode --json < names.txt
  polywire nostr decode < me.nsec

Exit status: 0 when all entities are valid; 1 when one is not.";

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let is_input =
        matches!(&arguments.names[..], [] | [_]) && arguments.names.iter().all(|name| name == "-");
    if !is_input {
        let names = arguments.names.iter().enumerate();
        return decode(
            arguments,
            "argument",
            names.map(|(at, name)| (at + 1, &**name)),
        );
    }
    let text = read_text(io::stdin().lock(), MAX_INPUT, "standard input")?;
    let lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line.trim()));
    decode(
        arguments,
        "line",
        lines.filter(|(_, line)| !line.is_empty()),
    )
}

/// Error messages do not contain the names, which may be secret keys.
fn decode<'n>(
    arguments: &Arguments,
    place: &str,
    names: impl Iterator<Item = (usize, &'n str)>,
) -> Result<(), Failure> {
    let mut failed = false;
    for (index, (number, text)) in names.enumerate() {
        let name = match names::name(text) {
            Ok(name) => name,
            Err(error) => {
                print::err(format_args!("{place} {number}: {error}"));
                failed = true;
                continue;
            }
        };
        let about = about(&name, arguments.show_secret);
        print::out(&match arguments.json {
            true => print::json(&Value::Map(about))? + "\n",
            false => {
                let gap = if index > 0 { "\n" } else { "" };
                format!("{gap}{}", print::escape_controls(&lines(&about)))
            }
        })?;
    }
    match failed {
        true => Err(Failure::silent(1)),
        false => Ok(()),
    }
}

/// Returns the parts of an entity for output.
fn about(name: &Nip19, show_secret: bool) -> Map {
    let mut map = Map::new();
    match name {
        Nip19::PublicKey(key) => {
            map.insert("type", "npub");
            insert_key(&mut map, "pubkey", key);
        }
        Nip19::SecretKey(secret) => {
            map.insert("type", "nsec");
            insert_key(&mut map, "pubkey", &secret.public_key());
            if show_secret {
                insert_secret(&mut map, secret);
            }
        }
        Nip19::EventId(id) => {
            map.insert("type", "note");
            map.insert("id", id.to_string());
        }
        Nip19::Profile(profile) => {
            map.insert("type", "nprofile");
            insert_key(&mut map, "pubkey", &profile.public_key);
            insert_relays(&mut map, &profile.relays);
        }
        Nip19::Event(event) => {
            map.insert("type", "nevent");
            map.insert("id", event.id.to_string());
            if let Some(author) = &event.author {
                insert_key(&mut map, "author", author);
            }
            if let Some(kind) = event.kind {
                map.insert("kind", i32::from(kind));
            }
            insert_relays(&mut map, &event.relays);
        }
        Nip19::Address(address) => {
            map.insert("type", "naddr");
            map.insert("identifier", &*address.identifier);
            insert_key(&mut map, "author", &address.author);
            map.insert("kind", i32::from(address.kind));
            insert_relays(&mut map, &address.relays);
        }
        Nip19::Relay(url) => {
            map.insert("type", "nrelay");
            insert_relays(&mut map, std::slice::from_ref(url));
        }
        _ => {
            map.insert("type", "unknown");
        }
    }
    map
}

fn insert_key(map: &mut Map, member: &'static str, key: &PublicKey) {
    map.insert(member, key.to_string());
    map.insert("npub", key.to_npub());
}

fn insert_secret(map: &mut Map, secret: &SecretKey) {
    map.insert("secret", &**secret.to_hex());
}

fn insert_relays(map: &mut Map, relays: &[String]) {
    let relays = relays.iter().map(|url| Value::from(&**url));
    map.insert("relays", Value::List(relays.collect()));
}

/// Formats one line per member, and one per item of a list.
fn lines(map: &Map) -> String {
    let mut text = String::new();
    for (name, value) in map.iter() {
        let values = match value {
            Value::List(list) => &list[..],
            value => std::slice::from_ref(value),
        };
        for value in values {
            let shown = match value {
                Value::Integer(number) => number.to_string(),
                value => value.as_str().unwrap_or_default().to_owned(),
            };
            text.push_str(format!("{name:10}  {shown}").trim_end());
            text.push('\n');
        }
    }
    text
}
