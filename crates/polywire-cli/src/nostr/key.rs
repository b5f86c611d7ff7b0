//! `polywire nostr key`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use polywire_nostr::{KeyPair, PublicKey, SecretKey};
use zeroize::Zeroizing;

use super::secret::KeyArguments;
use crate::{Failure, print};

/// Generate keys, and show the public key of a secret key.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  polywire nostr key generate --out me.nsec
  polywire nostr key public --key-file me.nsec
  polywire nostr key show --key-file me.nsec --show-secret";

#[derive(Debug, Subcommand)]
enum Command {
    /// Generate a key pair. Writes the secret key to a file that only you can read, or prints it
    /// with --show-secret. Prints the public key.
    Generate {
        /// Create this file for the secret key. Only you can read it.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Print the secret key.
        #[arg(long)]
        show_secret: bool,
    },
    /// Print the public key of a secret key, as npub.
    Public {
        #[command(flatten)]
        key: KeyArguments,
        /// Print hexadecimal digits instead.
        #[arg(long)]
        hex: bool,
    },
    /// Print all forms of a key.
    Show {
        #[command(flatten)]
        key: KeyArguments,
        /// Print the secret key too.
        #[arg(long)]
        show_secret: bool,
    },
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Generate { out, show_secret } => {
            if out.is_none() && !show_secret {
                return Err(Failure::usage(
                    "the secret key would be lost: write it to a new file with --out FILE, or print \
                     it with --show-secret",
                ));
            }
            let keys = KeyPair::generate().map_err(Failure::usage)?;
            let secret = keys.secret_key();
            if let Some(path) = out {
                write_secret(path, &secret)?;
            }
            show(&keys.public_key(), show_secret.then_some(&secret))
        }
        Command::Public { key, hex } => {
            let public = key.secret()?.public_key();
            print::out(&match hex {
                true => format!("{public}\n"),
                false => format!("{}\n", public.to_npub()),
            })
        }
        Command::Show { key, show_secret } => {
            let secret = key.secret()?;
            show(&secret.public_key(), show_secret.then_some(&secret))
        }
    }
}

fn show(public: &PublicKey, secret: Option<&SecretKey>) -> Result<(), Failure> {
    print::out(&format!("npub    {}\nhex     {public}\n", public.to_npub()))?;
    let Some(secret) = secret else {
        return Ok(());
    };
    let (name, digits) = (secret.to_nsec(), secret.to_hex());
    let text = Zeroizing::new(format!("nsec    {}\nsecret  {}\n", *name, *digits));
    print::out(&text)
}

/// Creates a file with a secret key. Never replaces an existing file, which may be the only copy of
/// another key.
fn write_secret(path: &Path, secret: &SecretKey) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let path = path.display();
        Failure::usage(match error.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("`{path}` exists and may contain a key: choose another file name")
            }
            _ => format!("`{path}` can't be written: {error}"),
        })
    };
    let mut file = create(path).map_err(failed)?;
    let name = secret.to_nsec();
    let line = Zeroizing::new(format!("{}\n", *name));
    let written = file
        .write_all(line.as_bytes())
        .and_then(|()| file.sync_all());
    written.map_err(|error| {
        // Do not leave an incomplete key.
        let _ = fs::remove_file(path);
        failed(error)
    })
}

#[cfg(unix)]
fn create(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> io::Result<File> {
    File::create_new(path)
}
