//! The fields of a form, in the order of the form or, for nested values, sorted by their keys.

use std::borrow::Cow;

use polywire_schema::{Budget, Error, ErrorKind, LimitKind, Limits};
use polywire_text::utf8;

use super::super::index::{self, Fields};
use super::key::{self, Field};
use crate::snippet;

type Result<T> = std::result::Result<T, Error>;

pub(super) struct Reader<'de> {
    pub(super) form: &'de str,
    fields: Fields<'de>,
    /// The next field.
    next: Option<Field>,
    /// The fields after `next` in reverse order, if they have been sorted.
    sorted: Option<Vec<Field>>,
    budget: Budget,
}

impl<'de> Reader<'de> {
    pub(super) fn new(bytes: &'de [u8]) -> Result<Self> {
        let limits = Limits::DEFAULT;
        crate::checks::message_len(bytes.len(), &limits, "form")?;
        let form = utf8::validate(bytes).map_err(|malformed| {
            Error::malformed(ErrorKind::Characters, malformed, 0).in_format("form")
        })?;
        let mut fields = Fields::new(form);
        Ok(Self {
            form,
            next: fields.next_offsets().map(Field::new),
            fields,
            sorted: None,
            budget: Budget::new(&limits),
        })
    }

    /// Checks that all fields have been read.
    pub(super) fn finish(&self) -> Result<()> {
        match self.next {
            None => Ok(()),
            Some(field) => Err(self.error(field, ErrorKind::InvalidValue, "fewer fields")),
        }
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<Field> {
        self.next
    }

    /// The field after the next one, if the fields are sorted.
    pub(super) fn second(&self) -> Option<Field> {
        self.sorted.as_ref()?.last().copied()
    }

    /// Moves to the field after the next one.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<()> {
        self.next = match &mut self.sorted {
            Some(sorted) => sorted.pop(),
            None => self.fields.next_offsets().map(Field::new),
        };
        self.count()
    }

    /// An estimate of the number of fields, if they have not been sorted.
    pub(super) fn size_hint(&self) -> Option<usize> {
        let rest = self.form.as_bytes().get(self.next?.key..)?;
        let separators = memchr::memchr_iter(b'&', rest).count();
        self.sorted.is_none().then_some(separators + 1)
    }

    /// Sorts the fields so that those with the same segments are adjacent. The fields that share the
    /// first segment of the next field come first.
    pub(super) fn sort(&mut self) -> Result<()> {
        let (None, Some(next)) = (&self.sorted, self.next) else {
            return Ok(());
        };
        let form = self.form;
        let mut sorted = vec![next];
        while let Some(offsets) = self.fields.next_offsets() {
            sorted.push(Field::new(offsets));
        }
        for field in &sorted {
            self.decode(field.key, field.key_end)?;
        }
        let keys = |left: &Field, right: &Field| key::compare(left.key(form), right.key(form));
        // The sort is stable, so that the values of a repeated key keep their order.
        sorted.sort_by(keys);
        let first = next.key(form);
        let first = &first[..key::segment_end(first, 0)];
        let belongs = |field: &Field| key::strip_prefix(field.key(form), first).is_some();
        let start = sorted.iter().position(belongs).unwrap_or(0);
        let len = sorted[start..]
            .iter()
            .take_while(|field| belongs(field))
            .count();
        sorted[..start + len].rotate_left(start);
        sorted.reverse();
        self.next = sorted.pop();
        self.sorted = Some(sorted);
        Ok(())
    }

    /// Decodes a part of the form.
    #[inline]
    pub(super) fn decode(&self, start: usize, end: usize) -> Result<Cow<'de, str>> {
        let part = &self.form[start..end];
        match spaces(part) {
            Some(text) => Ok(Cow::Owned(text)),
            None => index::decode(part, start),
        }
    }

    /// The value of a field.
    #[inline]
    pub(super) fn value(&self, field: Field) -> Result<Cow<'de, str>> {
        let text = self.decode(field.value, field.end)?;
        match self.budget.string(text.len()) {
            Ok(()) => Ok(text),
            Err(limit) => Err(self.limit_error(limit)),
        }
    }

    #[inline]
    pub(super) fn enter(&mut self) -> Result<()> {
        self.budget.enter().map_err(|limit| self.limit_error(limit))
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.budget.leave();
    }

    #[inline]
    fn count(&mut self) -> Result<()> {
        self.budget
            .count(1)
            .map_err(|limit| self.limit_error(limit))
    }

    #[cold]
    fn limit_error(&self, limit: LimitKind) -> Error {
        let error = Error::new(ErrorKind::Limit(limit));
        self.locate(error, self.next)
    }

    /// Adds the position of a field to an error of a visitor.
    #[inline(always)]
    pub(super) fn with_position<T>(&self, result: Result<T>, field: Option<Field>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.locate(error, field)),
        }
    }

    /// Adds the position of a field to an error. Without a field, the error is about the form.
    #[cold]
    pub(super) fn locate(&self, error: Error, field: Option<Field>) -> Error {
        if error.offset().is_some() {
            return error;
        }
        let error = error.in_format("form");
        match field {
            None => error.at_offset(0),
            Some(field) => error
                .at_offset(field.value)
                .at_path(key::shown(field.key(self.form))),
        }
    }

    /// An error about the value of a field.
    #[cold]
    pub(super) fn error(&self, field: Field, kind: ErrorKind, expected: &'static str) -> Error {
        let error = self.locate(Error::new(kind).expected(expected), Some(field));
        match kind {
            ErrorKind::Duplicate => error,
            _ if field.value >= field.end => error.found("the end of the value"),
            _ => {
                let form = &self.form.as_bytes()[..field.end];
                error.found(snippet::rest(form, field.value))
            }
        }
    }

    /// An error about the key of a field, at the offset `at` in the key.
    #[cold]
    pub(super) fn key_error(
        &self,
        field: Field,
        at: usize,
        kind: ErrorKind,
        expected: &'static str,
    ) -> Error {
        let start = (field.key + at).min(field.key_end);
        let key = &self.form.as_bytes()[..field.key_end];
        let error = Error::new(kind)
            .in_format("form")
            .expected(expected)
            .at_offset(start)
            .at_path(key::shown(field.key(self.form)));
        match kind {
            ErrorKind::Duplicate => error,
            _ if start >= field.key_end => error.found("the end of the key"),
            _ => error.found(snippet::rest(key, start)),
        }
    }
}

/// Decodes a short text that contains `+` but no `%`. `None` for anything else.
#[inline]
fn spaces(part: &str) -> Option<String> {
    const SHORT: usize = 64;
    let bytes = part.as_bytes();
    // Without an early exit, the compiler can vectorise this.
    let contains = |searched: u8| {
        bytes
            .iter()
            .fold(false, |found, byte| found | (*byte == searched))
    };
    if bytes.len() > SHORT || !contains(b'+') || contains(b'%') {
        return None;
    }
    let space = |byte: u8| if byte == b'+' { b' ' } else { byte };
    String::from_utf8(part.bytes().map(space).collect()).ok()
}
