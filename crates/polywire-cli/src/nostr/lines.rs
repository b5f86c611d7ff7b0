//! Lines of files and of standard input, in chunks of limited size.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::secret;
use crate::{Failure, print};

/// The size of a chunk in bytes, unless a line is longer. It fits in the L2 cache of most
/// processors.
const CHUNK: usize = 256 << 10;

/// The paths of the inputs. `-` is standard input.
#[derive(Clone, Debug)]
pub(super) struct Inputs(Vec<PathBuf>);

impl Inputs {
    /// Creates inputs from arguments. Without arguments, the input is standard input.
    pub(super) fn new(files: &[PathBuf]) -> Self {
        match files {
            [] => Self(vec![PathBuf::from("-")]),
            files => Self(files.to_vec()),
        }
    }

    /// Returns the name of an input for messages.
    pub(super) fn name(&self, file: usize) -> String {
        let path = self.0.get(file).map(PathBuf::as_path);
        print::escape_controls(&path.unwrap_or(Path::new("-")).to_string_lossy())
    }

    /// Returns the total size of all inputs in bytes, if all are regular files.
    pub(super) fn size(&self) -> Option<u64> {
        let size = |path: &PathBuf| {
            let metadata = std::fs::metadata(path).ok()?;
            metadata.is_file().then_some(metadata.len())
        };
        self.0.iter().map(size).sum()
    }

    /// Returns the inputs other than standard input.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0
            .iter()
            .map(PathBuf::as_path)
            .filter(|path| *path != Path::new("-"))
    }

    /// Checks that all files exist, before processing starts.
    pub(super) fn check(&self) -> Result<(), Failure> {
        for path in self.paths() {
            std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        }
        Ok(())
    }
}

/// Opens a file, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read + Send>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// A failure to read a file. The message does not contain a name that may be a secret key.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = path.to_string_lossy();
    if secret::may_be_one(&name) {
        return Failure::usage(
            "an argument is not a file, and may be a secret key. Other users can see the arguments \
             of a program: if it is a secret key, stop using it",
        );
    }
    Failure::usage(format_args!("`{name}` can't be read: {error}"))
}

/// Whole lines of one file. The buffer is reused.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    bytes: Vec<u8>,
    len: usize,
    file: usize,
}

/// A line without its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Line<'c> {
    pub(super) bytes: &'c [u8],
    /// The offset in the chunk.
    pub(super) start: usize,
}

impl Line<'_> {
    /// Whether the line contains only white space.
    pub(super) fn is_blank(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }
}

impl Chunk {
    /// Returns the bytes, including line ends.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Returns the index of the input.
    pub(super) fn file(&self) -> usize {
        self.file
    }

    /// Returns the lines. A line ends with a line feed, or a carriage return and a line feed.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let bytes = self.bytes();
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
            let end = memchr::memchr(b'\n', rest);
            let text = &rest[..end.unwrap_or(rest.len())];
            let line = Line {
                bytes: text.strip_suffix(b"\r").unwrap_or(text),
                start,
            };
            start += text.len() + 1;
            Some(line)
        })
    }
}

/// Reads inputs in sequence. Between chunks it holds at most the bytes of one read.
pub(super) struct LineReader {
    inputs: Inputs,
    /// The current input, and its index.
    current: Option<Box<dyn Read + Send>>,
    file: usize,
    /// Bytes after the last chunk.
    carry: Vec<u8>,
    /// The maximum length of a line with its end. Longer lines are truncated to this length.
    max_line: usize,
    /// Whether the rest of a truncated line is to be skipped.
    skipping: bool,
}

impl LineReader {
    /// `max_bytes` is the maximum length of a line without its end. A longer line is truncated, but
    /// to more than this length, so that callers detect it.
    pub(super) fn new(inputs: &Inputs, max_bytes: usize) -> Self {
        Self {
            inputs: inputs.clone(),
            current: None,
            file: 0,
            carry: Vec::new(),
            max_line: max_bytes.saturating_add(2),
            skipping: false,
        }
    }

    /// Fills a chunk with the next lines. Returns `false` at the end of all inputs.
    pub(super) fn read(&mut self, chunk: &mut Chunk) -> Result<bool, Failure> {
        loop {
            if self.current.is_none() {
                let Some(path) = self.inputs.0.get(self.file) else {
                    return Ok(false);
                };
                self.current = Some(open(path)?);
            }
            let filled = self.fill(chunk).map_err(|error| {
                let name = self.inputs.name(self.file);
                Failure::usage(format_args!("`{name}` can't be read: {error}"))
            })?;
            if filled {
                return Ok(true);
            }
        }
    }

    /// As [`read`](Self::read), for the current input. At its end, moves on to the next input.
    fn fill(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        if chunk.bytes.len() < CHUNK {
            chunk.bytes.resize(CHUNK, 0);
        }
        chunk.file = self.file;
        if self.skipping && !self.skip(&mut chunk.bytes)? {
            return Ok(false);
        }
        let mut len = self.carry.len();
        if chunk.bytes.len() < len {
            chunk.bytes.resize(len, 0);
        }
        chunk.bytes[..len].copy_from_slice(&self.carry);
        // The offset after the last line end.
        let mut end = memchr::memrchr(b'\n', &self.carry).map(|at| at + 1);
        self.carry.clear();
        loop {
            if len == chunk.bytes.len() {
                if end.is_some() {
                    break;
                }
                if len >= self.max_line {
                    self.skipping = true;
                    break;
                }
                chunk.bytes.resize((2 * len).min(self.max_line), 0);
            }
            let room = chunk.bytes.len() - len;
            let count = self.read_some(&mut chunk.bytes[len..])?;
            if count == 0 {
                self.next_input();
                chunk.len = len;
                return Ok(len > 0);
            }
            let new = &chunk.bytes[len..len + count];
            if let Some(at) = memchr::memrchr(b'\n', new) {
                end = Some(len + at + 1);
            }
            len += count;
            // A short read means that the next read may block, for example on a pipe.
            if end.is_some() && count < room {
                break;
            }
        }
        chunk.len = end.unwrap_or(len);
        self.carry.extend_from_slice(&chunk.bytes[chunk.len..len]);
        Ok(true)
    }

    /// Skips the rest of a truncated line. Returns `false` at the end of the input.
    fn skip(&mut self, room: &mut [u8]) -> io::Result<bool> {
        loop {
            let count = self.read_some(room)?;
            if count == 0 {
                self.next_input();
                return Ok(false);
            }
            if let Some(at) = memchr::memchr(b'\n', &room[..count]) {
                self.skipping = false;
                self.carry.extend_from_slice(&room[at + 1..count]);
                return Ok(true);
            }
        }
    }

    fn next_input(&mut self) {
        self.current = None;
        self.file += 1;
        self.skipping = false;
    }

    fn read_some(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let Some(input) = &mut self.current else {
            return Ok(0);
        };
        loop {
            match input.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns a few bytes per call.
    struct Trickle(io::Cursor<Vec<u8>>, usize);

    impl Read for Trickle {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(room.len());
            self.0.read(&mut room[..count])
        }
    }

    fn lines(text: &[u8], step: usize, max_bytes: usize) -> (Vec<Vec<u8>>, usize) {
        let inputs = Inputs(vec![PathBuf::from("-")]);
        let mut reader = LineReader::new(&inputs, max_bytes);
        reader.current = Some(Box::new(Trickle(io::Cursor::new(text.to_vec()), step)));
        let (mut chunk, mut lines, mut room) = (Chunk::default(), Vec::new(), 0);
        while reader.file == 0 && reader.read(&mut chunk).unwrap() {
            lines.extend(chunk.lines().map(|line| line.bytes.to_vec()));
            room = room.max(chunk.bytes.len());
        }
        (lines, room)
    }

    #[test]
    fn splits_lines() {
        for (text, expected) in [
            ("", &[][..]),
            ("a", &["a"][..]),
            ("a\n", &["a"]),
            ("a\r\nb\n\nc\r", &["a", "b", "", "c"]),
            ("\n\n", &["", ""]),
            ("a\rb\n", &["a\rb"]),
        ] {
            for step in [1, 2, 3, 100] {
                let (lines, _) = lines(text.as_bytes(), step, 10);
                assert_eq!(
                    lines,
                    expected
                        .iter()
                        .map(|line| line.as_bytes())
                        .collect::<Vec<_>>()
                );
            }
        }
    }

    #[test]
    fn truncates_long_lines() {
        let mut text = b"first\n".to_vec();
        text.resize(10 << 20, b'x');
        text.extend_from_slice(b"\nlast");
        for step in [1000, 1 << 20] {
            let (lines, room) = lines(&text, step, 1 << 20);
            assert_eq!(lines.len(), 3);
            assert_eq!(
                (&lines[0][..], &lines[2][..]),
                (&b"first"[..], &b"last"[..])
            );
            assert!(lines[1].len() > 1 << 20 && room <= (1 << 20) + 2);
        }
        // A line of the maximum length.
        let mut text = vec![b'y'; 1 << 20];
        text.extend_from_slice(b"\r\nz");
        let (lines, _) = lines(&text, 4096, 1 << 20);
        assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [1 << 20, 1]);
    }
}
