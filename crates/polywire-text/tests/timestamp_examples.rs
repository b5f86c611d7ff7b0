//! Timestamps by example.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::SystemTime;

use polywire_text::{Malformed, Timestamp};
use proptest::prelude::*;

const FIRST_SECOND: i64 = -62_135_596_800;
const LAST_SECOND: i64 = 253_402_300_799;

fn written(push: impl Fn(&mut Vec<u8>) -> Result<(), Malformed>) -> String {
    let mut out = Vec::new();
    push(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn known_instants() {
    for (text, seconds) in [
        ("0001-01-01T00:00:00Z", FIRST_SECOND),
        ("1969-12-31T23:59:59Z", -1),
        ("1970-01-01T00:00:00Z", 0),
        ("2000-02-29T12:00:00Z", 951_825_600),
        ("9999-12-31T23:59:59Z", LAST_SECOND),
    ] {
        let instant = Timestamp::parse_date_time(text).unwrap();
        assert_eq!(instant.seconds(), seconds, "{text}");
        assert_eq!(instant.to_string(), text);
    }
}

#[test]
fn invalid_input_is_rejected() {
    for text in [
        "",
        "2026",
        "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00Zx",
        "0000-01-01T00:00:00Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+01",
        // In UTC these are of the years 0000 and 10000.
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:60Z",
        // There is no leap second at this time.
        "2016-12-31T23:58:60Z",
        "2016-12-31T12:59:60Z",
        "2016-12-31T23:59:60+01:00",
    ] {
        assert!(Timestamp::parse_date_time(text).is_err(), "{text}");
    }
    for text in [
        "20260231T00:00:00",
        "2026-1-1T00:00:00",
        "20260101",
        "20260101T000000",
        "20260101T00:58:60",
    ] {
        assert!(Timestamp::parse_xmlrpc(text).is_err(), "{text}");
    }
    for text in [
        "",
        "-",
        "1.",
        ".5",
        "1e",
        "NaN",
        "1 ",
        "99999999999999999999",
        "-9223372036854775808.5",
        "+5",
    ] {
        assert!(Timestamp::parse_epoch_seconds(text).is_err(), "{text}");
    }
    for text in [
        "Sunrise, 06 Nov 1994 08:49:37 GMT",
        "Sun. 06 Nov 1994 08:49:37 GMT",
        "sun, 06 Nov 1994 08:49:37 GMT",
        // Each form has its own day, separators and year.
        "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov 94 08:49:37 GMT",
        "Sunday, 06 Nov-94 08:49:37 GMT",
        "Sun, 06 Nov-1994 08:49:37 GMT",
        "Sunday Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:60 GMT",
    ] {
        assert!(Timestamp::parse_http_date(text).is_err(), "{text}");
    }
    assert!(Timestamp::from_f64(f64::NAN).is_none());
    assert!(Timestamp::from_f64(1e30).is_none());
}

#[test]
fn xmlrpc_forms_that_peers_send() {
    let expected = Timestamp::parse_date_time("2026-01-02T03:04:05Z").unwrap();
    for (text, unzoned) in [
        ("20260102T03:04:05", true),
        ("2026-01-02T03:04:05", true),
        ("20260102T03:04:05Z", false),
        ("2026-01-02T04:04:05+01:00", false),
        ("2026-01-01T22:04:05-0500", false),
    ] {
        assert_eq!(
            Timestamp::parse_xmlrpc(text).unwrap(),
            expected.with_unzoned(unzoned),
            "{text}"
        );
    }
    assert_eq!(
        Timestamp::parse_xmlrpc("20260102T03:04:05.250")
            .unwrap()
            .nanoseconds(),
        250_000_000
    );
    assert_eq!(
        written(|out| expected.push_xmlrpc(out)),
        "20260102T03:04:05"
    );
}

#[test]
fn a_leap_second_is_the_next_minute() {
    let leap = Timestamp::parse_date_time("2016-12-31T23:59:60Z").unwrap();
    assert_eq!(leap.to_string(), "2017-01-01T00:00:00Z");
    // The same instant where clocks show something else.
    for text in ["2017-01-01T05:29:60+05:30", "2016-12-31T15:59:60-08:00"] {
        assert_eq!(Timestamp::parse_date_time(text), Ok(leap), "{text}");
    }
    let local = Timestamp::parse_xmlrpc("20161231T15:59:60").unwrap();
    assert_eq!(local.to_string(), "2016-12-31T16:00:00");
}

#[test]
fn doubles_become_short_fractions() {
    assert_eq!(
        Timestamp::from_f64(1_795_293_000.25),
        Some(Timestamp::new(1_795_293_000, 250_000_000))
    );
    assert_eq!(
        Timestamp::from_f64(1_795_293_000.1).unwrap().nanoseconds(),
        100_000_000
    );
    assert_eq!(
        Timestamp::from_f64(-1.5),
        Some(Timestamp::new(-2, 500_000_000))
    );
    assert_eq!(
        Timestamp::from_f64(1_795_293_000.999_999_9)
            .unwrap()
            .nanoseconds(),
        0
    );
}

#[test]
fn doubles_have_the_shortest_fraction() {
    for (seconds, nanoseconds) in [
        (2_000_000.123456789, 123_456_789),
        (8_388_607.999_999_999, 999_999_999),
        // Six and a half: the next one, where a cut would give 6.
        (8_388_600.0 + 7.0 / 1_073_741_824.0, 7),
        (8_388_609.123_456_79, 123_456_790),
        (1_795_293_000.123457, 123_457_000),
        (1_795_293_000.2, 200_000_000),
        (10_000_000_000.7, 700_000_000),
        (-1_795_293_000.1, 900_000_000),
        (4_503_599_627_370_495.5, 500_000_000),
        (1e12 + 0.3, 300_000_000),
        (9e18, 0),
        (-1e-20, 0),
    ] {
        let instant = Timestamp::from_f64(seconds).unwrap();
        assert_eq!(instant.nanoseconds(), nanoseconds, "{seconds}");
    }
}

#[test]
fn system_time_both_ways() {
    for timestamp in [
        Timestamp::EPOCH,
        Timestamp::new(-2, 500_000_000),
        Timestamp::new(5, 1),
    ] {
        let time = SystemTime::try_from(timestamp).unwrap();
        assert_eq!(Timestamp::from(time), timestamp);
    }
}

proptest! {
    #[test]
    fn every_form_round_trips(
        seconds in FIRST_SECOND..=LAST_SECOND,
        nanoseconds in prop_oneof![Just(0_u32), 0..1_000_000_000_u32],
    ) {
        let instant = Timestamp::new(seconds, nanoseconds);
        let text = written(|out| instant.push_date_time(out));
        prop_assert_eq!(Timestamp::parse_date_time(&text), Ok(instant));
        let text = written(|out| instant.push_http_date(out));
        prop_assert_eq!(Timestamp::parse_http_date(&text), Ok(instant));
        let text = written(|out| { instant.push_epoch_seconds(out); Ok(()) });
        prop_assert_eq!(Timestamp::parse_epoch_seconds(&text), Ok(instant));
        let text = written(|out| instant.push_xmlrpc(out));
        prop_assert_eq!(Timestamp::parse_xmlrpc(&text), Ok(instant.with_unzoned(true)));
    }

    /// Within the ranges where doubles have the precision of nanoseconds or microseconds.
    #[test]
    fn doubles_round_trip(
        near in -8_388_607..8_388_607_i64,
        nanoseconds in 0..1_000_000_000_u32,
        far in -8_589_934_591..8_589_934_591_i64,
        digits in 0..1_000_000_u32,
    ) {
        let instant = Timestamp::new(near, nanoseconds);
        prop_assert_eq!(Timestamp::from_f64(instant.as_f64()), Some(instant));
        let instant = Timestamp::new(far, digits * 1000);
        prop_assert_eq!(Timestamp::from_f64(instant.as_f64()), Some(instant));
    }

    /// The result has the same double, and no shorter decimal has, by the standard library.
    #[test]
    fn far_doubles_have_the_shortest_fraction(
        bits in 0x4160_0000_0000_0000..0x4330_0000_0000_0000_u64,
    ) {
        let seconds = f64::from_bits(bits);
        let instant = Timestamp::from_f64(seconds).unwrap();
        let digits = written(|out| { instant.push_epoch_seconds(out); Ok(()) });
        prop_assert_eq!(digits.parse::<f64>(), Ok(seconds));
        prop_assert_eq!(digits.len(), seconds.to_string().len());
    }

    #[test]
    fn nothing_panics(text in "[0-9TZ:., +a-zA-Z-]{0,40}") {
        let _ = Timestamp::parse_date_time(&text);
        let _ = Timestamp::parse_http_date(&text);
        let _ = Timestamp::parse_epoch_seconds(&text);
        let _ = Timestamp::parse_xmlrpc(&text);
    }
}
