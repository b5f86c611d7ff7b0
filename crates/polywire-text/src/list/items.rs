//! The strings of an array, one after the other.

use std::borrow::Cow;
use std::iter::FusedIterator;

use super::{NEXT, Next, begin, next};
use crate::Malformed;
use crate::escape::LoneSurrogate;
use crate::quote::{self, behind};

/// The strings of the array that `bytes` begins with, read as they are asked
/// for, borrowed where they have no escapes.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::list;
///
/// let mut items = list::items(br#"["a", "b"], 1"#, LoneSurrogate::Refuse);
/// for item in &mut items {
///     assert!(["a", "b"].contains(&&*item?));
/// }
/// assert_eq!(items.rest(), Some(&b", 1"[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
#[must_use]
pub const fn items(bytes: &[u8], lone: LoneSurrogate) -> Items<'_> {
    Items {
        bytes,
        lone,
        state: State::Begin,
    }
}

/// An iterator over the strings of an array: see [`items`]. After an error
/// there are no more items.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    bytes: &'a [u8],
    lone: LoneSurrogate,
    state: State<'a>,
}

#[derive(Clone, Copy, Debug)]
enum State<'a> {
    /// Before the bracket.
    Begin,
    /// Behind an item.
    Behind(&'a [u8]),
    /// Behind the bracket that ends the array.
    End(&'a [u8]),
    Failed,
}

impl<'a> Items<'a> {
    /// What is behind the array, once all items have been read without an
    /// error.
    #[must_use]
    pub const fn rest(&self) -> Option<&'a [u8]> {
        match self.state {
            State::End(rest) => Some(rest),
            State::Begin | State::Behind(_) | State::Failed => None,
        }
    }

    /// Where the next item begins, if there is one.
    #[inline]
    fn advance(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        let next = match self.state {
            State::Begin => match begin(self.bytes)? {
                [b']', rest @ ..] => Next::End(rest),
                rest => Next::Item(rest),
            },
            State::Behind(rest) => next(rest),
            State::End(_) | State::Failed => return Ok(None),
        };
        match next {
            Next::Item(rest) => Ok(Some(rest)),
            Next::End(rest) => {
                self.state = State::End(rest);
                Ok(None)
            }
            Next::Neither(rest) => Err(Malformed::new(self.bytes.len() - rest.len(), NEXT)),
        }
    }

    #[inline]
    fn read(&mut self) -> Result<Option<Cow<'a, str>>, Malformed> {
        let Some(rest) = self.advance()? else {
            return Ok(None);
        };
        let (item, rest) =
            quote::unquote(rest, self.lone).map_err(|error| behind(error, self.bytes, rest))?;
        self.state = State::Behind(rest);
        Ok(Some(item))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<Cow<'a, str>, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let item = self.read();
        if item.is_err() {
            self.state = State::Failed;
        }
        item.transpose()
    }
}

impl FusedIterator for Items<'_> {}
