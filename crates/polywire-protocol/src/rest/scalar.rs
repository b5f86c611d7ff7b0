//! Scalars in headers, queries and labels: their text forms.

use polywire_schema::{Location, Member, Timestamp, TimestampFormat};
use polywire_text::Malformed;
use polywire_text::timestamp::ReadPolicy;

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

pub(super) fn push_timestamp(
    out: &mut Vec<u8>,
    value: Timestamp,
    format: TimestampFormat,
) -> Result<(), Malformed> {
    match format {
        TimestampFormat::DateTime => value.push_date_time(out),
        TimestampFormat::EpochSeconds => {
            value.push_epoch_seconds(out);
            Ok(())
        }
        TimestampFormat::HttpDate => value.push_http_date(out),
    }
}
