//! Outputs of lines: standard output or a file.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::lines::Inputs;
use super::pipeline::Next;
use crate::Failure;

/// Whether standard output is a file. If it is a pipe, the program that reads it may write to the
/// terminal, as `less` does, and a progress bar there would mix with its output.
pub(super) fn stdout_is_file() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
        let metadata = stdout.and_then(|stdout| stdout.metadata());
        metadata.is_ok_and(|metadata| metadata.is_file())
    }
    #[cfg(not(unix))]
    false
}

/// A buffered output.
pub(super) struct Sink {
    output: BufWriter<Box<dyn Write + Send>>,
    name: String,
    is_stdout: bool,
}

impl Sink {
    pub(super) fn stdout() -> Self {
        Self {
            output: BufWriter::with_capacity(64 << 10, Box::new(io::stdout())),
            name: "standard output".to_owned(),
            is_stdout: true,
        }
    }

    /// Creates a file, or returns standard output for `-`. Replaces an existing file only with
    /// `force`, and never one of the inputs.
    pub(super) fn create(path: &Path, force: bool, inputs: &Inputs) -> Result<Self, Failure> {
        if is_stdout(path) {
            return Ok(Self::stdout());
        }
        let name = path.display();
        let file = match fs::metadata(path) {
            // Devices and named pipes are opened without --force.
            Ok(metadata) if !metadata.is_file() => fs::OpenOptions::new().write(true).open(path),
            Ok(_) if is_input(path, inputs) => {
                return Err(Failure::usage(format_args!(
                    "`{name}` is an input: choose another file for the output"
                )));
            }
            Ok(_) if !force => {
                return Err(Failure::usage(format_args!(
                    "`{name}` exists: use --force to replace it"
                )));
            }
            Ok(_) => File::create(path),
            Err(_) => File::create_new(path),
        };
        let file = file
            .map_err(|error| Failure::usage(format_args!("`{name}` can't be written: {error}")))?;
        Ok(Self {
            output: BufWriter::with_capacity(64 << 10, Box::new(file)),
            name: format!("`{name}`"),
            is_stdout: false,
        })
    }

    /// Writes a line and a line feed. Returns [`Next::Stop`] if standard output is a closed pipe.
    pub(super) fn line(&mut self, line: &[u8]) -> Result<Next, Failure> {
        let written = self.output.write_all(line);
        let written = written.and_then(|()| self.output.write_all(b"\n"));
        self.outcome(written)
    }

    /// Flushes the buffer.
    pub(super) fn flush(&mut self) -> Result<Next, Failure> {
        let written = self.output.flush();
        self.outcome(written)
    }

    fn outcome(&self, written: io::Result<()>) -> Result<Next, Failure> {
        match written {
            Ok(()) => Ok(Next::More),
            Err(error) if self.is_stdout && error.kind() == ErrorKind::BrokenPipe => Ok(Next::Stop),
            Err(error) => Err(Failure::usage(format_args!(
                "{} can't be written: {error}",
                self.name
            ))),
        }
    }
}

pub(super) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

fn is_input(path: &Path, inputs: &Inputs) -> bool {
    let full = |path: &Path| -> Option<PathBuf> { fs::canonicalize(path).ok() };
    let output = full(path);
    output.is_some() && inputs.paths().any(|input| full(input) == output)
}
