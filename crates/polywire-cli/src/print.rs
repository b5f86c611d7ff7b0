//! What goes to the terminal, or to a pipe whose reader may be gone:
//! `println!` panics then.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::Failure;

/// Writes to standard output. Nobody reading it any more is no failure:
/// `polywire serve | head -1` has what it wants.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    write(std::io::stdout().lock(), text)
}

/// Writes a file, whole or not at all: a reader never finds a half.
pub(crate) fn file(path: &Path, text: &str) -> Result<(), Failure> {
    let failure = |error| Failure::transport(format!("`{}`: {error}", path.display()));
    let mut beside = path.to_owned();
    beside.as_mut_os_string().push(".new");
    std::fs::write(&beside, text).map_err(failure)?;
    std::fs::rename(&beside, path).map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        failure(error)
    })
}

/// Writes a line to standard error. What others have written may be in it, so
/// that nothing in it may tell the terminal what to do.
pub(crate) fn err(line: impl fmt::Display) {
    let line = harmless(&line.to_string());
    // In one piece, so that lines of several threads stay apart. There is no
    // other place to say that it failed.
    let _ = std::io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}

/// Control characters by their numbers, but for those that lay out text.
fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() && !matches!(character, '\n' | '\t') {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    safe
}

fn write(mut output: impl Write, text: &str) -> Result<(), Failure> {
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::transport(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn controls_are_shown() {
        assert_eq!(harmless("a\tö\nb"), "a\tö\nb");
        assert_eq!(
            harmless("\u{1b}[2J\u{7}\r\u{9b}x\u{7f}"),
            r"\u{1b}[2J\u{7}\u{d}\u{9b}x\u{7f}"
        );
    }

    #[test]
    fn only_a_lost_output_is_a_failure() {
        assert!(write(Broken(ErrorKind::BrokenPipe), "x").is_ok());
        let failure = write(Broken(ErrorKind::StorageFull), "x").unwrap_err();
        assert_eq!(failure.code, 3);
        assert!(failure.message.contains("standard output"));
    }
}
