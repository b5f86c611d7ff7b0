//! Timestamps in headers, query parameters and labels.

use polywire_schema::{Location, Member, Timestamp, TimestampFormat};
use polywire_text::Malformed;
use polywire_text::timestamp::ReadPolicy;

/// Returns the format of a timestamp: `@timestampFormat`, or by default HTTP-date in headers and
/// RFC 3339 in other locations.
pub(super) fn format_of(at: Member<'_>, location: Location) -> TimestampFormat {
    at.timestamp_format().unwrap_or(match location {
        Location::Header | Location::PrefixHeaders => TimestampFormat::HttpDate,
        _ => TimestampFormat::DateTime,
    })
}

/// Parses a timestamp. With `utc`, a timestamp of RFC 3339 must have the offset `Z`.
pub(super) fn parse(
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

pub(super) fn push(
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
