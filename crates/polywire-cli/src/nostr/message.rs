//! `polywire nostr encrypt` and `decrypt`.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use polywire_nostr::nip44::{self, ConversationKey};
use polywire_nostr::{PublicKey, nip04};
use zeroize::Zeroizing;

use super::lines;
use super::names::public_key;
use super::secret::{KeyArguments, read_text};
use crate::{Failure, print};

/// Encrypt text for the owner of a public key (NIP-44).
///
/// The text is encrypted unchanged, including a line break at its end.
#[derive(Debug, clap::Args)]
#[command(after_help = ENCRYPT_HELP)]
pub(super) struct EncryptArguments {
    #[command(flatten)]
    both: BothArguments,
    /// Encrypt with NIP-04, for programs that do not support NIP-44. The message can be modified in
    /// transit without detection, and its length is visible.
    #[arg(long)]
    insecure_nip04: bool,
}

const ENCRYPT_HELP: &str = "\
Example:
  printf hello | polywire nostr encrypt --peer npub1... --key-file me.nsec

Exit status: 0 on success; 2 on an error.";

/// Decrypt a message (NIP-44).
///
/// Prints the decrypted text unchanged. At a terminal, it escapes control characters and adds a
/// line break.
#[derive(Debug, clap::Args)]
#[command(after_help = DECRYPT_HELP)]
pub(super) struct DecryptArguments {
    #[command(flatten)]
    both: BothArguments,
    /// Decrypt an old message (NIP-04), which contains `?iv=`. Modifications cannot be detected.
    #[arg(long)]
    nip04: bool,
}

const DECRYPT_HELP: &str = "\
Example:
  polywire nostr decrypt --peer npub1... --key-file me.nsec < message.txt

Exit status: 0 on success; 1 when the message is invalid or not encrypted for these keys; 2 when there \
is no key, or a file cannot be read.";

#[derive(Debug, clap::Args)]
struct BothArguments {
    /// The public key of the other side: npub1... or hexadecimal.
    #[arg(long, value_name = "KEY", value_parser = public_key)]
    peer: PublicKey,
    #[command(flatten)]
    key: KeyArguments,
    /// The file to read. Default: standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

pub(super) fn encrypt(arguments: &EncryptArguments) -> Result<(), Failure> {
    let BothArguments { peer, key, file } = &arguments.both;
    let secret = key.secret()?;
    let text = read(file, u64::from(nip44::DEFAULT_MAX_PLAINTEXT))?;
    let payload = match arguments.insecure_nip04 {
        true => nip04::encrypt_insecure(&secret, peer, &text).map_err(Failure::usage)?,
        false => {
            let key = ConversationKey::derive(&secret, peer).map_err(Failure::usage)?;
            key.encrypt(&text).map_err(Failure::usage)?
        }
    };
    print::out(&format!("{payload}\n"))
}

pub(super) fn decrypt(arguments: &DecryptArguments) -> Result<(), Failure> {
    let BothArguments { peer, key, file } = &arguments.both;
    let secret = key.secret()?;
    let payload = read(file, nip04::MAX_PAYLOAD as u64 + 1024)?;
    let payload = payload.trim();
    if payload.contains("?iv=") && !arguments.nip04 {
        return Err(invalid(
            "this is a NIP-04 message: add --nip04 to decrypt it",
        ));
    }
    let text = match arguments.nip04 {
        true => nip04::decrypt(&secret, peer, payload).map_err(invalid)?,
        false => {
            let key = ConversationKey::derive(&secret, peer).map_err(Failure::usage)?;
            key.decrypt(payload).map_err(invalid)?
        }
    };
    let text = Zeroizing::new(text);
    if std::io::stdout().is_terminal() {
        return print::out(&Zeroizing::new(print::escape_controls(&text) + "\n"));
    }
    print::out(&text)
}

/// A failure because of an invalid message.
fn invalid(error: impl std::fmt::Display) -> Failure {
    Failure::new(1, format!("error: {error}"))
}

fn read(path: &Path, max: u64) -> Result<Zeroizing<String>, Failure> {
    // Shows a prompt that was written before, because reading may block.
    let _ = std::io::stderr().flush();
    let name = match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => format!("`{}`", path.display()),
    };
    read_text(lines::open(path)?, max, &name)
}
