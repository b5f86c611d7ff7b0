//! The files of a model: offsets are resolved to lines, columns and snippets.
//!
//! Nodes, shapes and traits have a [`SourceLocation`] of eight bytes. Lines and columns are
//! computed only for diagnostics, because most models of a hundred thousand nodes have none.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// A location in one of the files of a model.
///
/// It refers to the [`Sources`] of the model.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SourceLocation {
    /// Index of the file in [`Sources`]; `u32::MAX` when there is none.
    pub(crate) file: u32,
    /// Byte offset in the file.
    pub(crate) offset: u32,
}

impl SourceLocation {
    /// No location, for nodes that programs create.
    pub const NONE: Self = Self {
        file: u32::MAX,
        offset: 0,
    };

    pub(crate) const fn new(file: u32, offset: usize) -> Self {
        // Files are limited to MAX_FILE_BYTES, far below 4 GiB.
        Self {
            file,
            offset: offset as u32,
        }
    }

    /// Whether the location is in a file.
    #[must_use]
    pub const fn is_known(self) -> bool {
        self.file != u32::MAX
    }
}

impl fmt::Debug for SourceLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_known() {
            write!(formatter, "{}@{}", self.file, self.offset)
        } else {
            formatter.write_str("nowhere")
        }
    }
}

/// The maximum size of a file. The largest public model has 12 MB.
pub(crate) const MAX_FILE_BYTES: usize = 256 << 20;

/// The files that a model was read from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

/// A file: its name and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    /// The index of lines and characters, built at the first use.
    index: Arc<OnceLock<Index>>,
}

impl Sources {
    /// Adds a file and returns its index.
    pub(crate) fn add(&mut self, name: &str, text: Arc<str>) -> u32 {
        self.files.push(SourceFile::new(name, text));
        self.files.len() as u32 - 1
    }

    /// The files in the order in which they were added.
    #[must_use]
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The file of a location.
    #[must_use]
    pub fn file(&self, location: SourceLocation) -> Option<&SourceFile> {
        self.files.get(location.file as usize)
    }

    /// File, line and column of a location. `None` if it is not in a file.
    #[must_use]
    pub fn position(&self, location: SourceLocation) -> Option<Position> {
        let file = self.file(location)?;
        let (line, column) = file.line_and_column(location.offset as usize);
        Some(Position {
            file: file.name.clone(),
            line,
            column,
        })
    }
}

impl SourceFile {
    fn new(name: &str, text: Arc<str>) -> Self {
        Self {
            name: Arc::from(name),
            text,
            index: Arc::default(),
        }
    }

    /// The name that was given to the loader.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    fn line_and_column(&self, offset: usize) -> (u32, u32) {
        let offset = self.floor(offset);
        let index = self.index.get_or_init(|| Index::of(&self.text));
        // The first line begins at 0, so at least one start is not after the offset.
        let line = index
            .lines
            .partition_point(|&start| start as usize <= offset)
            .max(1);
        let start = index.lines.get(line - 1).map_or(0, |&at| at as usize);
        let column = if offset - start <= Index::BLOCK {
            count_characters(&self.text.as_bytes()[start..offset])
        } else {
            let before = |offset| index.characters_before(&self.text, offset);
            before(offset) - before(start)
        };
        (line as u32, column + 1)
    }

    /// The line of an offset, with the position and width of the underline in characters. A long
    /// line is cut to a window.
    pub(crate) fn snippet(&self, offset: usize) -> Snippet {
        const BEFORE: usize = 60;
        const WINDOW: usize = 110;
        // More than a window of characters, because characters have up to 4 bytes. A model in one
        // line can have a megabyte on either side.
        const REACH: usize = 4 * (WINDOW + 1);
        let offset = self.floor(offset);
        let first = self.floor(offset.saturating_sub(REACH));
        let last = self.floor(offset + REACH);
        let before = &self.text[first..offset];
        let start = before.rfind('\n').map_or(first, |at| first + at + 1);
        let after = &self.text[offset..last];
        let end = after.find('\n').map_or(last, |at| offset + at);
        let line = &self.text[start..end];
        let column = line[..offset - start].chars().count();
        let width = token_width(&self.text[offset..]);
        // A line that fits is not cut.
        let fits = line.chars().nth(WINDOW).is_none();
        let skipped = if fits {
            0
        } else {
            column.saturating_sub(BEFORE)
        };
        let mut text = String::new();
        let mut underline_start = column - skipped;
        if skipped > 0 {
            text.push_str("...");
            underline_start += 3;
        }
        // Tabs are replaced, because their width depends on the terminal.
        text.extend(
            line.chars()
                .skip(skipped)
                .take(WINDOW)
                .map(|c| if c.is_control() { ' ' } else { c }),
        );
        if line.chars().nth(skipped + WINDOW).is_some() {
            text.push_str("...");
        }
        Snippet {
            text: text.trim_end().to_owned(),
            underline_start,
            width: width.min(BEFORE),
        }
    }

    /// The last character boundary at or before an offset.
    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

/// The index of the lines and characters of a file. A model of megabytes can be one line with
/// thousands of findings, so columns are not counted from the start of the line.
#[derive(Debug)]
struct Index {
    /// The offset of each line.
    lines: Vec<u32>,
    /// The number of characters that begin before each block. Built only for lines longer than a
    /// block.
    blocks: OnceLock<Vec<u32>>,
}

impl Index {
    /// The size of a block, in bytes.
    const BLOCK: usize = 4096;

    // Files are limited to MAX_FILE_BYTES, far below 4 GiB.
    fn of(text: &str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        let starts = ends.map(|at| at as u32 + 1);
        Self {
            lines: std::iter::once(0).chain(starts).collect(),
            blocks: OnceLock::new(),
        }
    }

    fn characters_before(&self, text: &str, offset: usize) -> u32 {
        let blocks = self.blocks.get_or_init(|| {
            let mut characters = 0;
            let blocks = text.as_bytes().chunks(Self::BLOCK).map(|block| {
                let before = characters;
                characters += count_characters(block);
                before
            });
            blocks.collect()
        });
        let block = (offset / Self::BLOCK).min(blocks.len().saturating_sub(1));
        let before = blocks.get(block).copied().unwrap_or_default();
        before + count_characters(&text.as_bytes()[block * Self::BLOCK..offset])
    }
}

/// The number of characters that begin in these bytes.
fn count_characters(bytes: &[u8]) -> u32 {
    let is_start = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
    bytes.iter().filter(is_start).count() as u32
}

/// A line of a file for a message.
pub(crate) struct Snippet {
    pub(crate) text: String,
    pub(crate) underline_start: usize,
    pub(crate) width: usize,
}

/// The approximate length of the token at the start of `rest`, in characters: enough for an
/// underline, without storing the end of every token.
fn token_width(rest: &str) -> usize {
    let mut characters = rest.chars();
    let Some(first) = characters.next() else {
        return 1;
    };
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#' | '$');
    if first == '"' && !rest.starts_with("\"\"\"") {
        let mut escaped = false;
        for (index, c) in characters.enumerate() {
            match c {
                '"' if !escaped => return index + 2,
                '\n' => return 1,
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        return 1;
    }
    if is_word(first) || first == '@' || first == '-' {
        return 1 + characters.take_while(|&c| is_word(c)).count();
    }
    1
}

/// A location as file, line and column.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// The name of the file that was given to the loader.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str, offset: usize) -> String {
        let mut sources = Sources::default();
        let file = sources.add("f", Arc::from(text));
        sources
            .position(SourceLocation::new(file, offset))
            .unwrap()
            .to_string()
    }

    #[test]
    fn offsets_become_lines_and_columns() {
        assert_eq!(position("ab\ncd", 0), "f:1:1");
        assert_eq!(position("ab\ncd", 4), "f:2:2");
        assert_eq!(position("é\nöx", 5), "f:2:2");
        // Inside a character, and past the end.
        assert_eq!(position("é", 1), "f:1:1");
        assert_eq!(position("ab", 99), "f:1:3");
    }

    #[test]
    fn columns_of_long_lines_are_exact() {
        let text = format!("x\n{}\n{}", "aé€".repeat(5000), "ö".repeat(5000));
        let mut sources = Sources::default();
        let file = sources.add("f", Arc::from(text.as_str()));
        let (mut line, mut column) = (1, 1);
        for (offset, character) in text.char_indices() {
            let found = sources.position(SourceLocation::new(file, offset)).unwrap();
            assert_eq!((found.line, found.column), (line, column), "at {offset}");
            column += 1;
            if character == '\n' {
                (line, column) = (line + 1, 1);
            }
        }
        let end = SourceLocation::new(file, text.len());
        assert_eq!(sources.position(end).unwrap().column, column);
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}\"here\"{}", "x".repeat(5000), "y".repeat(5000));
        let file = SourceFile::new("f", Arc::from(text));
        let snippet = file.snippet(5000);
        assert!(snippet.text.len() < 130);
        assert_eq!(snippet.width, 6);
        assert_eq!(&snippet.text[snippet.underline_start..][..6], "\"here\"");
    }
}
