//! Strings from pieces.

use std::fmt;

use super::Text;
use crate::repr::{INLINE_CAPACITY, Repr};

/// A string under construction: inline while it fits, then a `String`.
struct Builder {
    inline: [u8; INLINE_CAPACITY],
    /// The used length of `inline`, which consists of whole `str`s.
    len: usize,
    /// The whole string, once it does not fit.
    long: Option<String>,
}

impl Builder {
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

impl fmt::Write for Builder {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push(piece);
        Ok(())
    }
}

pub(super) fn formatted(arguments: fmt::Arguments<'_>) -> Result<Text, fmt::Error> {
    let mut builder = Builder::EMPTY;
    fmt::write(&mut builder, arguments)?;
    Ok(builder.text())
}

impl FromIterator<char> for Text {
    fn from_iter<I: IntoIterator<Item = char>>(characters: I) -> Self {
        let mut builder = Builder::EMPTY;
        for character in characters {
            builder.push(character.encode_utf8(&mut [0; 4]));
        }
        builder.text()
    }
}

macro_rules! from_pieces {
    ($($piece:ty),*) => {$(
        impl<'a> FromIterator<$piece> for Text {
            fn from_iter<I: IntoIterator<Item = $piece>>(pieces: I) -> Self {
                let mut builder = Builder::EMPTY;
                for piece in pieces {
                    builder.push(piece.as_ref());
                }
                builder.text()
            }
        }
    )*};
}

from_pieces!(
    &'a str,
    String,
    Box<str>,
    std::borrow::Cow<'a, str>,
    &'a Text
);

impl FromIterator<Text> for Text {
    fn from_iter<I: IntoIterator<Item = Self>>(pieces: I) -> Self {
        let mut builder = Builder::EMPTY;
        for piece in pieces {
            builder.push(&piece);
        }
        builder.text()
    }
}
