//! Dates in forms that nobody should send.

use polywire_text::Timestamp;

/// What WordPress sends for a date that is not set: `IXR_Date` writes the columns of the
/// database, where `0000-00-00 00:00:00` says so.
pub(super) const ZERO: &str = "00000000T00:00:00Z";

/// A date in a form that [`Timestamp::parse_xmlrpc`] does not take: one without a
/// time, one without colons, and the end of a day as its 24th hour. None of them
/// makes a day of one that no month has.
#[cold]
pub(super) fn odd(text: &str) -> Option<Timestamp> {
    let (date, rest) = match text.split_once(['T', 't', ' ']) {
        Some((date, rest)) => (date, rest),
        None => (text, ""),
    };
    if rest.is_empty() {
        return Timestamp::parse_xmlrpc(format!("{date}T00:00:00")).ok();
    }
    let end = rest.find(['Z', 'z', '+', '-', '.']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(end);
    let time = match *time.as_bytes() {
        [a, b, c, d, e, f] => format!("{}:{}:{}", pair(a, b)?, pair(c, d)?, pair(e, f)?),
        // Without seconds.
        [a, b, b':', c, d] => format!("{}:{}:00", pair(a, b)?, pair(c, d)?),
        _ => time.to_owned(),
    };
    if time != "24:00:00" {
        return Timestamp::parse_xmlrpc(format!("{date}T{time}{zone}")).ok();
    }
    // The end of a day is a moment, and has no fraction.
    if zone.starts_with('.') {
        return None;
    }
    let midnight = Timestamp::parse_xmlrpc(format!("{date}T00:00:00{zone}")).ok()?;
    let end = midnight.seconds().checked_add(24 * 60 * 60)?;
    let end = Timestamp::new(end, midnight.nanoseconds());
    Some(end.with_unzoned(midnight.is_unzoned()))
}

/// Two digits.
fn pair(tens: u8, ones: u8) -> Option<String> {
    let digits = [tens, ones];
    let digits = digits.iter().all(u8::is_ascii_digit).then_some(digits)?;
    Some(digits.map(char::from).iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (text, expected) in [
            ("20260102", "20260102T00:00:00"),
            ("2026-01-02", "20260102T00:00:00"),
            ("20260102T030405", "20260102T03:04:05"),
            ("20260102T030405Z", "20260102T03:04:05Z"),
            ("2026-01-02 03:04", "20260102T03:04:00"),
            ("20261231T24:00:00", "20270101T00:00:00"),
        ] {
            assert!(Timestamp::parse_xmlrpc(text).is_err(), "{text}");
            assert_eq!(odd(text), Timestamp::parse_xmlrpc(expected).ok(), "{text}");
        }
        for text in [
            "20260231",
            "yesterday",
            "",
            "T",
            "20260102T25:00:00",
            "20260102T24:00:00.5",
            "20260102T24:00:01",
            "2026",
        ] {
            assert_eq!(odd(text), None, "{text}");
        }
    }
}
