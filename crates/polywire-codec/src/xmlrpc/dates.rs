//! Invalid forms of dates that the leniencies accept.

use polywire_text::Timestamp;

/// WordPress sends this for a date that is not set. Its database then has `0000-00-00 00:00:00`, which
/// `IXR_Date` copies.
pub(super) const ZERO_DATE: &str = "00000000T00:00:00Z";

/// Parses forms that [`Timestamp::parse_xmlrpc`] rejects: without a time, without seconds, without
/// colons, or with the time 24:00:00. Days that a month does not have are still rejected.
#[cold]
pub(super) fn parse_odd(text: &str) -> Option<Timestamp> {
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
        [a, b, c, d, e, f] => format!(
            "{}:{}:{}",
            two_digits(a, b)?,
            two_digits(c, d)?,
            two_digits(e, f)?
        ),
        // Without seconds.
        [a, b, b':', c, d] => format!("{}:{}:00", two_digits(a, b)?, two_digits(c, d)?),
        _ => time.to_owned(),
    };
    if time != "24:00:00" {
        return Timestamp::parse_xmlrpc(format!("{date}T{time}{zone}")).ok();
    }
    // 24:00:00 has no fraction.
    if zone.starts_with('.') {
        return None;
    }
    let midnight = Timestamp::parse_xmlrpc(format!("{date}T00:00:00{zone}")).ok()?;
    let end = midnight.seconds().checked_add(24 * 60 * 60)?;
    let end = Timestamp::new(end, midnight.nanoseconds());
    Some(end.with_unzoned(midnight.is_unzoned()))
}

/// Returns two bytes as text if they are digits.
fn two_digits(tens: u8, ones: u8) -> Option<String> {
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
            assert_eq!(
                parse_odd(text),
                Timestamp::parse_xmlrpc(expected).ok(),
                "{text}"
            );
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
            assert_eq!(parse_odd(text), None, "{text}");
        }
    }
}
