//! The writer: puts the key of each field together from all of its segments.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Member, MemberFlags, ShapeKind, Timestamp,
    TimestampFormat,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::number;
use polywire_text::reference::{base64, percent, timestamp};
use polywire_text::timestamp::Fraction;

use crate::form::FormProfile;

/// The twin of [`crate::form::FormEncoder`].
#[derive(Debug)]
pub struct FormEncoder {
    /// Keys and values, as they are.
    fields: Vec<(String, String)>,
    open: Vec<Level>,
    profile: FormProfile,
    error: Option<Error>,
}

/// A structure, list or map that is open.
#[derive(Debug)]
struct Level {
    kind: ShapeKind,
    /// The segments that lead to it, and in a map to the entry.
    key: Vec<String>,
    count: usize,
    /// How many fields there were when it began.
    begun: usize,
}

impl FormEncoder {
    /// A writer of one form.
    #[must_use]
    pub fn new(profile: FormProfile) -> Self {
        Self {
            fields: Vec::new(),
            open: Vec::new(),
            profile,
            error: None,
        }
    }

    /// The form.
    ///
    /// # Errors
    ///
    /// The first error that a call met.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        match self.error {
            Some(error) => Err(error),
            None if !self.open.is_empty() => Err(Error::new(ErrorKind::Internal)
                .in_format("form")
                .expected("as many ends as beginnings")),
            None => {
                let encoded = |text: &str| percent::encoded(text.as_bytes(), b"");
                let fields = self.fields.iter();
                let fields =
                    fields.map(|(key, value)| format!("{}={}", encoded(key), encoded(value)));
                Ok(fields.collect::<Vec<_>>().join("&").into_bytes())
            }
        }
    }

    fn name(&self, at: Member<'_>) -> String {
        at.plain(self.profile.names.source()).to_owned()
    }

    /// The segments that lead to the value of `at`, whose turn it is.
    fn key_of(&mut self, at: Member<'_>) -> Vec<String> {
        let name = self.name(at);
        let Some(level) = self.open.last_mut() else {
            return Vec::new();
        };
        let mut key = level.key.clone();
        if level.kind == ShapeKind::List {
            level.count += 1;
            key.push(level.count.to_string());
        } else {
            key.push(name);
        }
        key
    }

    fn begin(&mut self, kind: ShapeKind, key: Vec<String>) {
        self.open.push(Level {
            kind,
            key,
            count: 0,
            begun: self.fields.len(),
        });
    }

    fn end(&mut self, at: Member<'_>) {
        let level = self.open.pop();
        let empty = level.is_none_or(|level| level.begun == self.fields.len());
        let in_list = self
            .open
            .last()
            .is_some_and(|level| level.kind == ShapeKind::List);
        if empty && (in_list || at.kind() == ShapeKind::Union) {
            self.unwritable("something in it");
        }
    }

    fn scalar(&mut self, at: Member<'_>, value: impl Into<String>) {
        if self.open.is_empty() {
            self.unwritable("a structure at the top");
        }
        let key = self.key_of(at).join(".");
        self.fields.push((key, value.into()));
    }

    fn unwritable(&mut self, expected: &'static str) {
        self.fail(
            Error::new(ErrorKind::Unwritable)
                .in_format("form")
                .expected(expected),
        );
    }

    fn check_collection(&mut self, at: Member<'_>) {
        if self.open.is_empty() || at.element().kind() == ShapeKind::Document {
            self.unwritable("a structure at the top, and no document in it");
        }
    }
}

fn written(push: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    push(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

impl Encoder for FormEncoder {
    fn begin_structure(&mut self, at: Member<'_>, _: usize) {
        let key = self.key_of(at);
        self.begin(ShapeKind::Structure, key);
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        let is_document = at.kind() == ShapeKind::Document;
        if is_document {
            self.unwritable("no document");
        }
        !is_document
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills(at)
    }

    fn end_structure(&mut self, at: Member<'_>) {
        self.end(at);
    }

    fn begin_list(&mut self, at: Member<'_>, len: usize) {
        self.check_collection(at);
        let mut key = self.key_of(at);
        if len == 0 && !self.profile.flat {
            self.fields.push((key.join("."), String::new()));
        }
        if !self.profile.flat && !at.has(MemberFlags::XML_FLATTENED) {
            key.push(self.name(at.element()));
        }
        self.begin(ShapeKind::List, key);
        if len == 0
            && !self.profile.flat
            && let Some(level) = self.open.last_mut()
        {
            level.begun -= 1;
        }
    }

    fn end_list(&mut self, at: Member<'_>) {
        self.end(at);
    }

    fn begin_map(&mut self, at: Member<'_>, _: usize) {
        self.check_collection(at);
        if self.profile.flat {
            self.unwritable("no map");
        }
        let mut key = self.key_of(at);
        if !at.has(MemberFlags::XML_FLATTENED) {
            key.push("entry".to_owned());
        }
        // A place for the number of the entry.
        key.push(String::new());
        self.begin(ShapeKind::Map, key);
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        if at.kind() != ShapeKind::Map {
            return;
        }
        if let Some(level) = self.open.last_mut() {
            level.count += 1;
            level.key.pop();
            level.key.push(level.count.to_string());
        }
        self.scalar(at.target().member(0), key);
    }

    fn end_map(&mut self, at: Member<'_>) {
        self.end(at);
    }

    fn boolean(&mut self, at: Member<'_>, value: bool) {
        self.scalar(at, value.to_string());
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        self.scalar(at, value.to_string());
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.scalar(at, written(|out| number::push_f32(out, value)));
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.scalar(at, written(|out| number::push_f64(out, value)));
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.scalar(at, value.as_str());
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.scalar(at, value.as_str());
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        self.scalar(at, value);
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        self.scalar(
            at,
            base64::encode(value, Alphabet::Standard, Padding::Required),
        );
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        let format = at.timestamp_format();
        let text = match format.unwrap_or(self.profile.timestamp_format) {
            TimestampFormat::EpochSeconds => {
                timestamp::write_epoch_seconds(value, Fraction::Needed)
            }
            // Years of more than four digits have no form.
            _ if value.push_date_time(&mut Vec::new()).is_err() => {
                return self.unwritable("a year from 0001 to 9999");
            }
            TimestampFormat::DateTime => timestamp::write_date_time(value, Fraction::Needed),
            TimestampFormat::HttpDate => timestamp::write_http_date(value, Fraction::Needed),
        };
        self.scalar(at, text);
    }

    fn null(&mut self, _: Member<'_>) {
        if let Some(level) = self.open.last()
            && level.kind == ShapeKind::List
        {
            self.unwritable("no null in a list");
        }
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
