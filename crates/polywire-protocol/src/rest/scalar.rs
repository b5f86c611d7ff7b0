//! Scalars in headers, queries and labels: their text forms.

use polywire_schema::{Location, Member, Timestamp, TimestampFormat};
use polywire_text::timestamp::ReadPolicy;
use polywire_text::{Malformed, number};

/// The form of a timestamp at a place: the trait's, else HTTP-date in headers
/// and RFC 3339 elsewhere.
pub(super) fn timestamp_format(at: Member<'_>, location: Location) -> TimestampFormat {
    at.timestamp_format().unwrap_or(match location {
        Location::Header | Location::PrefixHeaders => TimestampFormat::HttpDate,
        _ => TimestampFormat::DateTime,
    })
}

/// Reads a timestamp; a date of RFC 3339 must be in UTC where `utc` says so.
pub(super) fn parse_timestamp(
    text: &str,
    format: TimestampFormat,
    utc: bool,
) -> Result<Timestamp, Malformed> {
    match format {
        TimestampFormat::DateTime => {
            Timestamp::parse_date_time_with(text, ReadPolicy::new().utc(utc))
        }
        TimestampFormat::EpochSeconds => Timestamp::parse_epoch_seconds(text),
        TimestampFormat::HttpDate => Timestamp::parse_http_date(text),
    }
}

pub(super) fn write_timestamp(
    value: Timestamp,
    format: TimestampFormat,
) -> Result<Vec<u8>, Malformed> {
    // As long as an HTTP date.
    let mut out = Vec::with_capacity(29);
    match format {
        TimestampFormat::DateTime => value.push_date_time(&mut out)?,
        TimestampFormat::EpochSeconds => value.push_epoch_seconds(&mut out),
        TimestampFormat::HttpDate => value.push_http_date(&mut out)?,
    }
    Ok(out)
}

pub(super) fn write(push: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    push(&mut out);
    text_of(out)
}

pub(super) fn write_f64(value: f64) -> String {
    write(|out| number::push_f64(out, value))
}

pub(super) fn write_f32(value: f32) -> String {
    write(|out| number::push_f32(out, value))
}

/// Numbers, dates and base64 are ASCII.
pub(super) fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}
