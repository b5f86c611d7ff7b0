//! `polywire nostr encode`.

use clap::Subcommand;
use polywire_nostr::nip19::{AddressPointer, EventPointer, Nip19, ProfilePointer};
use polywire_nostr::{EventId, PublicKey, nip21};

use super::names::{event_id, public_key};
use crate::{Failure, print};

/// Encode keys and events as NIP-19 entities.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// Write a `nostr:` URI (NIP-21).
    #[arg(long, global = true)]
    uri: bool,
    #[command(subcommand)]
    name: Name,
}

const AFTER_HELP: &str = "\
Keys are npub1... or hexadecimal, ids note1... or hexadecimal. To encode a secret key, use \
`polywire nostr key show --show-secret`.

Examples:
  polywire nostr encode npub 7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e
  polywire nostr encode nevent note1... --relay wss://relay.example --kind 1
  polywire nostr encode naddr --author npub1... --kind 30023 --identifier my-article";

#[derive(Debug, Subcommand)]
enum Name {
    /// A public key.
    Npub {
        #[arg(value_parser = public_key)]
        key: PublicKey,
    },
    /// The id of an event.
    Note {
        #[arg(value_parser = event_id)]
        id: EventId,
    },
    /// A public key, and relays that have its profile.
    Nprofile {
        #[arg(value_parser = public_key)]
        key: PublicKey,
        #[command(flatten)]
        relays: Relays,
    },
    /// An event, with hints for finding it.
    Nevent {
        #[arg(value_parser = event_id)]
        id: EventId,
        #[command(flatten)]
        relays: Relays,
        /// The author's public key.
        #[arg(long, value_name = "KEY", value_parser = public_key)]
        author: Option<PublicKey>,
        /// The kind of the event.
        #[arg(long)]
        kind: Option<u16>,
    },
    /// The coordinates of an addressable or replaceable event.
    Naddr {
        /// The value of the `d` tag.
        #[arg(long, short = 'd', value_name = "TEXT", default_value = "")]
        identifier: String,
        /// The author's public key.
        #[arg(long, value_name = "KEY", value_parser = public_key)]
        author: PublicKey,
        /// The kind of the event.
        #[arg(long)]
        kind: u16,
        #[command(flatten)]
        relays: Relays,
    },
}

#[derive(Clone, Debug, clap::Args)]
struct Relays {
    /// The URL of a relay. Can be repeated.
    #[arg(long = "relay", value_name = "URL")]
    urls: Vec<String>,
}

pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let name = match arguments.name {
        Name::Npub { key } => Nip19::PublicKey(key),
        Name::Note { id } => Nip19::EventId(id),
        Name::Nprofile { key, relays } => Nip19::Profile(ProfilePointer {
            public_key: key,
            relays: relays.urls,
        }),
        Name::Nevent {
            id,
            relays,
            author,
            kind,
        } => Nip19::Event(EventPointer {
            id,
            relays: relays.urls,
            author,
            kind,
        }),
        Name::Naddr {
            identifier,
            author,
            kind,
            relays,
        } => Nip19::Address(AddressPointer {
            identifier,
            author,
            kind,
            relays: relays.urls,
        }),
    };
    let text = match arguments.uri {
        true => nip21::encode(&name).map_err(|error| error.to_string()),
        false => name.encode().map_err(|error| error.to_string()),
    };
    let text = text.map_err(|error| {
        Failure::usage(format_args!(
            "cannot encode: {error}. Relay URLs must be ASCII, and texts at most 255 bytes long"
        ))
    })?;
    print::out(&format!("{text}\n"))
}
