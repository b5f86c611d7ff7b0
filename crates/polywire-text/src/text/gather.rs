//! Strings that come in pieces.

use std::fmt;

use super::Text;
use crate::repr::{INLINE_CAPACITY, Repr};

/// Pieces of a string: inline while they fit, then a `String`.
struct Gathered {
    inline: [u8; INLINE_CAPACITY],
    /// `len <= INLINE_CAPACITY`: how much of `inline` is used. It is UTF-8:
    /// whole `str`s are put there one behind the other.
    len: usize,
    /// What came from the first piece on that did not fit, and all before it.
    long: Option<String>,
}

impl Gathered {
    const EMPTY: Self = Self {
        inline: [0; INLINE_CAPACITY],
        len: 0,
        long: None,
    };

    fn push(&mut self, piece: &str) {
        if let Some(long) = &mut self.long {
            long.push_str(piece);
            return;
        }
        if let Some(free) = self.inline.get_mut(self.len..self.len + piece.len()) {
            free.copy_from_slice(piece.as_bytes());
            self.len += piece.len();
            return;
        }
        let mut long = String::with_capacity((self.len + piece.len()).max(2 * INLINE_CAPACITY));
        long.push_str(self.short().as_str());
        long.push_str(piece);
        self.long = Some(long);
    }

    fn short(&self) -> Text {
        Text::from_valid(Repr::copy(&self.inline[..self.len]))
    }

    fn text(self) -> Text {
        match self.long {
            Some(long) => Text::from(long),
            None => self.short(),
        }
    }
}

impl fmt::Write for Gathered {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push(piece);
        Ok(())
    }
}

pub(super) fn formatted(arguments: fmt::Arguments<'_>) -> Result<Text, fmt::Error> {
    let mut gathered = Gathered::EMPTY;
    fmt::write(&mut gathered, arguments)?;
    Ok(gathered.text())
}

impl FromIterator<char> for Text {
    fn from_iter<I: IntoIterator<Item = char>>(characters: I) -> Self {
        let mut gathered = Gathered::EMPTY;
        for character in characters {
            gathered.push(character.encode_utf8(&mut [0; 4]));
        }
        gathered.text()
    }
}

macro_rules! gathers {
    ($($piece:ty),*) => {$(
        impl<'a> FromIterator<$piece> for Text {
            fn from_iter<I: IntoIterator<Item = $piece>>(pieces: I) -> Self {
                let mut gathered = Gathered::EMPTY;
                for piece in pieces {
                    gathered.push(piece.as_ref());
                }
                gathered.text()
            }
        }
    )*};
}

gathers!(
    &'a str,
    String,
    Box<str>,
    std::borrow::Cow<'a, str>,
    &'a Text
);

impl FromIterator<Text> for Text {
    fn from_iter<I: IntoIterator<Item = Self>>(pieces: I) -> Self {
        let mut gathered = Gathered::EMPTY;
        for piece in pieces {
            gathered.push(&piece);
        }
        gathered.text()
    }
}
