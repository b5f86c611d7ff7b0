//! What goes to the terminal, or to a pipe whose reader may be gone:
//! `println!` panics then.

use std::fmt;
use std::io::{ErrorKind, Write};

use crate::Failure;

/// Writes to standard output. Nobody reading it any more is no failure:
/// `polywire serve | head -1` has what it wants.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    write(std::io::stdout().lock(), text)
}

/// Writes a line to standard error.
pub(crate) fn err(line: impl fmt::Display) {
    // In one piece, so that lines of several threads stay apart. There is no
    // other place to say that it failed.
    let _ = std::io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
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
    fn only_a_lost_output_is_a_failure() {
        assert!(write(Broken(ErrorKind::BrokenPipe), "x").is_ok());
        let failure = write(Broken(ErrorKind::StorageFull), "x").unwrap_err();
        assert_eq!(failure.code, 3);
        assert!(failure.message.contains("standard output"));
    }
}
