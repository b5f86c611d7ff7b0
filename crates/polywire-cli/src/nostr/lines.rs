//! Lines of files and of standard input, in chunks of bounded size.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::secret;
use crate::{Failure, print};

/// The size of a chunk, unless a line is longer. It fits into the second cache of most processors.
const CHUNK: usize = 256 << 10;

/// Where lines come from.
#[derive(Clone, Debug)]
pub(super) struct Inputs(Vec<PathBuf>);

impl Inputs {
    /// The files that were named; standard input if none was.
    pub(super) fn new(files: &[PathBuf]) -> Self {
        match files {
            [] => Self(vec![PathBuf::from("-")]),
            files => Self(files.to_vec()),
        }
    }

    /// How a file is named in messages.
    pub(super) fn name(&self, file: usize) -> String {
        let path = self.0.get(file).map(PathBuf::as_path);
        print::harmless(&path.unwrap_or(Path::new("-")).to_string_lossy())
    }

    /// The size of all inputs, if all of them are regular files.
    pub(super) fn size(&self) -> Option<u64> {
        let size = |path: &PathBuf| {
            let metadata = std::fs::metadata(path).ok()?;
            metadata.is_file().then_some(metadata.len())
        };
        self.0.iter().map(size).sum()
    }

    /// The files among them.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0
            .iter()
            .map(PathBuf::as_path)
            .filter(|path| *path != Path::new("-"))
    }

    /// Fails if a file is not there, before the work on the others begins.
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

/// A file that cannot be read. Its name is not repeated if it may be a secret key.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = path.to_string_lossy();
    if secret::may_be_one(&name) {
        return Failure::usage(
            "an argument is no file, and may be a secret key. Other users can see the arguments \
             of a program: do not use that key any more if it is secret",
        );
    }
    Failure::usage(format_args!("`{name}` can't be read: {error}"))
}

/// Whole lines of one file. The bytes are reused.
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
    /// Whether there is nothing but white space.
    pub(super) fn is_blank(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }
}

impl Chunk {
    /// The bytes, line ends included.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Which of the inputs it is from.
    pub(super) fn file(&self) -> usize {
        self.file
    }

    /// The lines. They end at a line feed; a carriage return before it belongs to the end.
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

/// Reads inputs one after the other. Holds part of a line at most.
pub(super) struct LineReader {
    inputs: Inputs,
    /// The input that is read, and which one it is.
    current: Option<Box<dyn Read + Send>>,
    file: usize,
    /// The beginning of the next line.
    carry: Vec<u8>,
    /// The bytes that a line may have, with its end. Of longer ones only so many are kept.
    max_line: usize,
    /// Whether the rest of a line is left out.
    skipping: bool,
}

impl LineReader {
    /// `max_bytes` is what a line may have without its end. Of a longer one more bytes than that
    /// are passed on, so that it is known to be longer, but not the whole line.
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

    /// Fills a chunk with the next lines. Says whether there were any.
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

    /// As [`read`](Self::read), of the current input, which is left if it has ended.
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
        // Behind the last line end.
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
                self.leave();
                chunk.len = len;
                return Ok(len > 0);
            }
            let new = &chunk.bytes[len..len + count];
            if let Some(at) = memchr::memrchr(b'\n', new) {
                end = Some(len + at + 1);
            }
            len += count;
            // More may take a while to come, as through a pipe.
            if end.is_some() && count < room {
                break;
            }
        }
        chunk.len = end.unwrap_or(len);
        self.carry.extend_from_slice(&chunk.bytes[chunk.len..len]);
        Ok(true)
    }

    /// Leaves out what is left of a line. Says whether something follows.
    fn skip(&mut self, room: &mut [u8]) -> io::Result<bool> {
        loop {
            let count = self.read_some(room)?;
            if count == 0 {
                self.leave();
                return Ok(false);
            }
            if let Some(at) = memchr::memchr(b'\n', &room[..count]) {
                self.skipping = false;
                self.carry.extend_from_slice(&room[at + 1..count]);
                return Ok(true);
            }
        }
    }

    fn leave(&mut self) {
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

    /// Gives a few bytes at a time.
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
    fn lines_are_cut_where_they_end() {
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
    fn long_lines_are_not_kept() {
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
        // As long as allowed.
        let mut text = vec![b'y'; 1 << 20];
        text.extend_from_slice(b"\r\nz");
        let (lines, _) = lines(&text, 4096, 1 << 20);
        assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [1 << 20, 1]);
    }
}
