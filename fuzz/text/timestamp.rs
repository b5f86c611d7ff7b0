//! As a timestamp in every form, by the policies that the first byte tells.

use polywire_text::reference::timestamp as twin;
use polywire_text::timestamp::{
    Fraction, LeapSecond, ReadPolicy, ShortYear, Timestamp, WritePolicy, Years,
};

pub(crate) fn any(data: &[u8]) {
    let Some((bits, text)) = data.split_first() else {
        return;
    };
    let read = ReadPolicy::new()
        .leap_second(match bits & 3 {
            0 | 1 => LeapSecond::Next,
            2 => LeapSecond::Hold,
            _ => LeapSecond::Refuse,
        })
        .years(match bits >> 2 & 3 {
            0 | 1 => Years::Common,
            2 => Years::FourDigits,
            _ => Years::Expanded,
        })
        .short_year(match bits >> 4 & 1 {
            0 => ShortYear::From1970,
            _ => ShortYear::Near(Timestamp::new(1_795_293_000, 250_000_000)),
        })
        .space(bits >> 5 & 1 == 1);
    let fraction = match bits >> 6 {
        0 => Fraction::Needed,
        1 => Fraction::Exactly(bits & 15),
        _ => Fraction::AllOrNone(bits & 15),
    };
    let found = [
        alike(
            Timestamp::parse_date_time_with(text, read),
            twin::date_time(text, read),
        ),
        alike(
            Timestamp::parse_http_date_with(text, read),
            twin::http_date(text, read),
        ),
        alike(
            Timestamp::parse_xmlrpc_with(text, read),
            twin::xmlrpc(text, read),
        ),
        epoch_seconds(text),
    ];
    for instant in found.into_iter().flatten() {
        written(instant, Fraction::Needed);
        written(instant, fraction);
        assert_eq!(
            Timestamp::from_civil(instant.civil()),
            Ok(instant.with_unzoned(false))
        );
        assert_eq!(instant.as_f64(), twin::as_f64(instant), "{instant}");
    }
}

fn alike(
    found: Result<Timestamp, polywire_text::Malformed>,
    expected: Result<Timestamp, usize>,
) -> Option<Timestamp> {
    assert_eq!(found.map_err(|error| error.offset), expected);
    found.ok()
}

fn epoch_seconds(text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?;
    let found = Timestamp::parse_epoch_seconds(text).ok();
    assert_eq!(found, twin::epoch_seconds(text));
    found
}

/// Every form is written as its twin writes it, and is read again.
fn written(instant: Timestamp, fraction: Fraction) {
    let policy = WritePolicy::new().fraction(fraction).years(Years::Expanded);
    let read = ReadPolicy::new().years(Years::Expanded);
    let zoned = instant.with_unzoned(false);
    let mut out = Vec::new();
    instant.push_epoch_seconds_with(&mut out, fraction);
    assert_eq!(out, twin::write_epoch_seconds(instant, fraction).as_bytes());
    let kept = Timestamp::parse_epoch_seconds_bytes(&out);
    assert!(kept.is_ok_and(|kept| kept <= zoned));
    let mut out = Vec::new();
    if instant.push_date_time_with(&mut out, policy).is_ok() {
        assert_eq!(out, twin::write_date_time(instant, fraction).as_bytes());
        assert_eq!(Timestamp::parse_date_time_with(&out, read), kept);
    }
    let mut out = Vec::new();
    if instant.push_http_date_with(&mut out, policy).is_ok() {
        assert_eq!(out, twin::write_http_date(instant, fraction).as_bytes());
        assert_eq!(Timestamp::parse_http_date_with(&out, read), kept);
    }
    let mut out = Vec::new();
    if instant.push_xmlrpc_with(&mut out, policy).is_ok() {
        assert_eq!(out, twin::write_xmlrpc(instant, fraction).as_bytes());
        let unzoned = kept.map(|kept| kept.with_unzoned(true));
        assert_eq!(Timestamp::parse_xmlrpc_with(&out, read), unzoned);
    }
}
