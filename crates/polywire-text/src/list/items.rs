//! An iterator over the strings of an array.

use std::borrow::Cow;
use std::iter::FusedIterator;

use super::{NEXT, Next, begin, next};
use crate::Malformed;
use crate::escape::LoneSurrogate;
use crate::quote::{self, relocate};

/// Iterates over the strings of the array at the beginning of `bytes`. Strings without escapes are
/// borrowed.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::list;
///
/// let mut items = list::items(br#"["a", "b"], 1"#, LoneSurrogate::Reject);
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

/// The iterator that [`items`] returns. It ends after an error.
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
    /// After an item.
    Item(&'a [u8]),
    /// After the `]`.
    End(&'a [u8]),
    Failed,
}

impl<'a> Items<'a> {
    /// The input after the array, once all items have been read without an error.
    #[must_use]
    pub const fn rest(&self) -> Option<&'a [u8]> {
        match self.state {
            State::End(rest) => Some(rest),
            State::Begin | State::Item(_) | State::Failed => None,
        }
    }

    /// The input at the next item, if there is one.
    #[inline]
    fn advance(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        let next = match self.state {
            State::Begin => match begin(self.bytes)? {
                [b']', rest @ ..] => Next::End(rest),
                rest => Next::Item(rest),
            },
            State::Item(rest) => next(rest),
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
            quote::unquote(rest, self.lone).map_err(|error| relocate(error, self.bytes, rest))?;
        self.state = State::Item(rest);
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
