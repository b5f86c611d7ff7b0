//! The writer: a comma before every element but the first.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Member, Part, ShapeKind, Timestamp,
    TimestampFormat,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::number;
use polywire_text::reference::{base64, json, timestamp};
use polywire_text::timestamp::Fraction;

use crate::json::JsonProfile;

/// The twin of [`crate::json::JsonEncoder`].
#[derive(Debug)]
pub struct JsonEncoder {
    out: Vec<u8>,
    /// For each object or array that is open, how it began and whether it has
    /// an element already.
    open: Vec<(char, bool)>,
    /// Whether a key stands before the next value.
    keyed: bool,
    /// Whether the structure around a payload is open, of which nothing is
    /// written.
    around: bool,
    profile: JsonProfile,
    error: Option<Error>,
}

impl JsonEncoder {
    /// A writer of one value.
    #[must_use]
    pub fn new(profile: JsonProfile) -> Self {
        Self {
            out: Vec::new(),
            open: Vec::new(),
            keyed: false,
            around: false,
            profile,
            error: None,
        }
    }

    /// The text.
    ///
    /// # Errors
    ///
    /// The first error that a call met.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        match self.error {
            Some(error) => Err(error),
            None if !self.open.is_empty() => Err(Error::new(ErrorKind::Internal)
                .in_format("JSON")
                .expected("as many ends as beginnings")),
            None => Ok(self.out),
        }
    }

    /// Separates what comes from the element before it.
    fn element(&mut self) {
        if self.keyed {
            self.keyed = false;
            return;
        }
        if let Some((_, begun)) = self.open.last_mut() {
            if *begun {
                self.out.push(b',');
            }
            *begun = true;
        }
    }

    fn value(&mut self, text: &str) {
        self.element();
        self.out.extend_from_slice(text.as_bytes());
    }

    /// A floating-point number. Which of two decimals that are as short and as
    /// near is for all of Polywire the same.
    fn digits(&mut self, at: Member<'_>, push: impl FnOnce(&mut Vec<u8>)) {
        self.element();
        let mut digits = Vec::new();
        push(&mut digits);
        let is_whole = !digits.iter().any(|byte| b".eE".contains(byte));
        if at.kind() == ShapeKind::Document && is_whole {
            digits.extend(b".0");
        }
        self.out.extend(digits);
    }

    fn big_number(&mut self, digits: &str) {
        match self.profile.quoted_big_numbers {
            true => self.quoted(digits),
            false => self.value(digits),
        }
    }

    fn quoted(&mut self, text: &str) {
        self.element();
        self.out.push(b'"');
        self.out.extend(json::escape(text.as_bytes()));
        self.out.push(b'"');
    }

    fn name(&mut self, name: &str) {
        self.quoted(name);
        self.out.push(b':');
        self.keyed = true;
    }

    fn begin(&mut self, bracket: char) {
        self.value(&bracket.to_string());
        self.open.push((bracket, false));
    }

    fn end(&mut self, opening: char, closing: u8) {
        if self.open.pop().is_none_or(|(own, _)| own != opening) {
            let error = Error::new(ErrorKind::Internal).in_format("JSON");
            self.fail(error.expected("as many ends as beginnings"));
        }
        self.out.push(closing);
    }

    /// Dates have the years 1 to 9999.
    fn date(&mut self, at: Member<'_>, value: Timestamp, text: &str) {
        if !(1..=9999).contains(&value.civil().year) {
            let error = Error::new(ErrorKind::Unwritable).in_format("JSON");
            self.fail(
                error
                    .expected("a year from 1 to 9999")
                    .at_path(format!("{at:?}")),
            );
        }
        self.quoted(text);
    }

    const fn is_payload(&self) -> bool {
        matches!(self.profile.part, Part::Payload(_))
    }
}

impl Encoder for JsonEncoder {
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        if self.is_payload() && !self.around {
            self.around = true;
            return;
        }
        self.begin('{');
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        if self.is_payload() && self.open.is_empty() {
            return self.profile.part.payload(at.container()) == Some(at.ordinal());
        }
        if self.open.len() == 1 && !self.is_payload() && !self.profile.part.holds(at) {
            return false;
        }
        self.name(at.plain(self.profile.names.source()));
        true
    }

    fn end_structure(&mut self, _: Member<'_>) {
        if self.is_payload() && self.open.is_empty() {
            return;
        }
        self.end('{', b'}');
    }

    fn begin_list(&mut self, _: Member<'_>, _: usize) {
        self.begin('[');
    }

    fn end_list(&mut self, _: Member<'_>) {
        self.end('[', b']');
    }

    fn begin_map(&mut self, _: Member<'_>, _: usize) {
        self.begin('{');
    }

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.name(key);
    }

    fn end_map(&mut self, _: Member<'_>) {
        self.end('{', b'}');
    }

    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.value(if value { "true" } else { "false" });
    }

    fn integer(&mut self, _: Member<'_>, value: i64) {
        self.value(&value.to_string());
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        if !value.is_finite() {
            return self.double(at, f64::from(value));
        }
        self.digits(at, |out| number::push_f32(out, value));
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        if at.kind() == ShapeKind::Document && !value.is_finite() {
            let error = Error::new(ErrorKind::Unwritable).in_format("JSON");
            self.fail(error.expected("a finite number").found(value.to_string()));
        }
        if value.is_nan() {
            self.quoted("NaN");
        } else if value.is_infinite() {
            self.quoted(if value > 0.0 { "Infinity" } else { "-Infinity" });
        } else {
            self.digits(at, |out| number::push_f64(out, value));
        }
    }

    fn big_integer(&mut self, _: Member<'_>, value: &BigInteger) {
        self.big_number(value.as_str());
    }

    fn big_decimal(&mut self, _: Member<'_>, value: &BigDecimal) {
        self.big_number(value.as_str());
    }

    fn string(&mut self, _: Member<'_>, value: &str) {
        self.quoted(value);
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.quoted(&base64::encode(
            value,
            Alphabet::Standard,
            Padding::Required,
        ));
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        match self.profile.timestamp_format_of(at) {
            TimestampFormat::EpochSeconds => {
                self.value(&timestamp::write_epoch_seconds(value, Fraction::Needed));
            }
            TimestampFormat::DateTime => {
                let text = timestamp::write_date_time(value, Fraction::Needed);
                self.date(at, value, &text);
            }
            TimestampFormat::HttpDate => {
                let text = timestamp::write_http_date(value, Fraction::Needed);
                self.date(at, value, &text);
            }
        }
    }

    fn null(&mut self, _: Member<'_>) {
        self.value("null");
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills(at)
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
