//! The input as a timestamp in every format, with options from the first byte.

use polywire_text::reference::timestamp as twin;
use polywire_text::timestamp::{Fraction, ReadPolicy, Timestamp, WritePolicy};

pub(crate) fn any(data: &[u8]) {
    let Some((bits, text)) = data.split_first() else {
        return;
    };
    let policy = ReadPolicy::new().utc(bits >> 5 & 1 == 1);
    let fraction = match bits >> 6 {
        0 => Fraction::Needed,
        1 => Fraction::Exactly(bits & 15),
        _ => Fraction::AllOrNone(bits & 15),
    };
    let found = [
        alike(
            Timestamp::parse_date_time_with(text, policy),
            twin::date_time(text, policy),
        ),
        alike(Timestamp::parse_xmlrpc(text), twin::xmlrpc(text)),
        http_date(text),
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

fn http_date(text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?;
    alike(
        Timestamp::parse_http_date(text),
        twin::http_date(text.as_bytes()),
    )
}

fn epoch_seconds(text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?;
    let found = Timestamp::parse_epoch_seconds(text).ok();
    assert_eq!(found, twin::epoch_seconds(text));
    found
}

/// Every format is written as the reference writes it, and read back.
fn written(instant: Timestamp, fraction: Fraction) {
    let policy = WritePolicy::new().fraction(fraction);
    let zoned = instant.with_unzoned(false);
    let mut out = Vec::new();
    instant.push_epoch_seconds(&mut out);
    let text = String::from_utf8_lossy(&out);
    assert_eq!(text, twin::write_epoch_seconds(instant, Fraction::Needed));
    assert_eq!(Timestamp::parse_epoch_seconds(&text), Ok(zoned));
    let mut out = Vec::new();
    if instant.push_http_date(&mut out).is_ok() {
        let text = String::from_utf8_lossy(&out);
        assert_eq!(text, twin::write_http_date(instant, Fraction::Needed));
        assert_eq!(Timestamp::parse_http_date(&text), Ok(zoned));
    }
    let mut out = Vec::new();
    if instant.push_date_time_with(&mut out, policy).is_ok() {
        assert_eq!(out, twin::write_date_time(instant, fraction).as_bytes());
        let kept = Timestamp::parse_date_time_with(&out, ReadPolicy::new());
        assert!(kept.is_ok_and(|kept| kept <= zoned));
        let mut out = Vec::new();
        assert!(instant.push_xmlrpc_with(&mut out, policy).is_ok());
        assert_eq!(out, twin::write_xmlrpc(instant, fraction).as_bytes());
        let unzoned = kept.map(|kept| kept.with_unzoned(true));
        assert_eq!(Timestamp::parse_xmlrpc(&out), unzoned);
    }
}
