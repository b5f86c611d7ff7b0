//! The names of operations: which the server knows, and how they travel.

use super::{Refused, Request};
use crate::Output;
use crate::draft::Draft;
use crate::extension::{MAX_EXTENSION, is_key, name};

impl Request<'_> {
    /// Whether its name and its metadata can be sent, whatever the size of all of it.
    ///
    /// # Errors
    ///
    /// Which of them is wrong.
    pub fn check(&self) -> Result<(), Refused> {
        if name(self.operation.name.as_bytes()).is_none() {
            return Err(Refused::Invalid("the name of an operation"));
        }
        let wrong =
            |(key, value): &(&str, &[u8])| !is_key(key.as_bytes()) || value.len() > MAX_EXTENSION;
        if self.metadata.iter().any(wrong) {
            return Err(Refused::Invalid("a key of metadata"));
        }
        Ok(())
    }
}

/// Writes the extension of a call: its name, where the server does not know its number, and what
/// else it has.
#[cold]
pub(crate) fn extend(
    output: &mut Output,
    draft: &mut Draft,
    request: &Request<'_>,
    named: bool,
) -> Result<(), Refused> {
    request.check()?;
    let extended = draft.extend(output, |writer| {
        if !named {
            writer.operation(request.operation.name);
        }
        if let Some(trace) = &request.trace {
            writer.trace(trace);
        }
        for (key, value) in request.metadata {
            writer.metadata(key, value);
        }
    });
    extended.map_err(|_| Refused::Invalid("an extension of at most 16384 bytes"))
}

/// A set of numbers of operations.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// A bit each.
    words: Vec<u64>,
}

impl Numbers {
    #[inline]
    pub(crate) fn has(&self, number: u16) -> bool {
        let word = self.words.get(usize::from(number) / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    #[cold]
    pub(crate) fn insert(&mut self, number: u16) {
        let word = usize::from(number) / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }
}
