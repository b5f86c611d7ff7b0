//! Member paths, for errors.

use std::fmt::Write;

use crate::snippet;

/// The maximum number of segments that are shown.
const MAX_SEGMENTS: usize = 32;
/// The maximum number of characters of a key that are shown.
const MAX_KEY_LEN: usize = 64;

/// A path such as `cities[3].name`, which is updated while a message is read again.
#[derive(Debug, Default)]
pub(crate) struct Path(Vec<Segment>);

#[derive(Debug)]
enum Segment {
    Key(Option<String>),
    Index(usize),
}

impl Path {
    pub(crate) fn enter_map(&mut self) {
        self.0.push(Segment::Key(None));
    }

    pub(crate) fn enter_list(&mut self) {
        self.0.push(Segment::Index(0));
    }

    /// Sets the key in the innermost map.
    pub(crate) fn key(&mut self, key: &str) {
        if let Some(Segment::Key(innermost)) = self.0.last_mut() {
            let shown = key.chars().take(MAX_KEY_LEN).map(snippet::printable);
            *innermost = Some(shown.collect());
        }
    }

    /// Moves to the next value in the innermost map or list.
    pub(crate) fn next(&mut self) {
        match self.0.last_mut() {
            Some(Segment::Index(index)) => *index += 1,
            Some(Segment::Key(key)) => *key = None,
            None => {}
        }
    }

    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut first = true;
        for segment in self.0.iter().take(MAX_SEGMENTS) {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(Some(key)) if first => write!(f, "{key}")?,
                Segment::Key(Some(key)) => write!(f, ".{key}")?,
                Segment::Key(None) => {}
            }
            first = false;
        }
        if self.0.len() > MAX_SEGMENTS {
            f.write_char('\u{2026}')?;
        }
        Ok(())
    }
}
