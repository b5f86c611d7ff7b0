//! Timestamps, compared with the reference implementation.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::Malformed;
use polywire_text::reference::timestamp as slow;
use polywire_text::timestamp::{Civil, DateCache, Fraction, ReadPolicy, Timestamp, WritePolicy};
use proptest::prelude::*;

const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

/// Every format accepts `text` as the reference does, and reports the same offset.
fn agree(text: &[u8], utc: bool) {
    let policy = ReadPolicy::new().utc(utc);
    let found = Timestamp::parse_date_time_with(text, policy);
    compare(text, found, slow::date_time(text, policy));
    compare(text, Timestamp::parse_xmlrpc(text), slow::xmlrpc(text));
    let followed = [text, b"<and more>"].concat();
    let mut last = DateCache::default();
    // The second time with the date that it remembers.
    for _ in 0..2 {
        if let Some((found, len)) = last.utc_prefix(&followed) {
            assert!(len <= text.len(), "{}", text.escape_ascii());
            assert_eq!(slow::date_time(&text[..len], policy.utc(true)), Ok(found));
        }
    }
    if let Ok(text) = std::str::from_utf8(text) {
        let expected = slow::http_date(text.as_bytes());
        compare(text.as_bytes(), Timestamp::parse_http_date(text), expected);
        let found = Timestamp::parse_epoch_seconds(text);
        assert_eq!(found.ok(), slow::epoch_seconds(text), "{text}");
        if let Err(error) = found {
            assert!(error.offset <= text.len());
        }
    }
}

fn compare(text: &[u8], found: Result<Timestamp, Malformed>, expected: Result<Timestamp, usize>) {
    let offset = found.map_err(|error| error.offset);
    assert_eq!(offset, expected, "{}", text.escape_ascii());
    assert!(found.is_err() || found.is_ok_and(|found| found.nanoseconds() < 1_000_000_000));
}

fn fractions() -> impl Strategy<Value = Fraction> {
    prop_oneof![
        Just(Fraction::Needed),
        (0..11_u8).prop_map(Fraction::Exactly),
        (0..11_u8).prop_map(Fraction::AllOrNone),
    ]
}

/// Almost dates: fields in and out of range, with various separators.
fn nearly() -> impl Strategy<Value = String> {
    let two = |most: u32| {
        prop_oneof![
            8 => (0..=most).prop_map(|value| format!("{value:02}")),
            1 => "[0-9]{1,3}",
        ]
    };
    let year = prop_oneof![
        8 => (0..10_000_u32).prop_map(|year| format!("{year:04}")),
        2 => "000[01]|9999|1900|2000|[+-][0-9]{6}|[0-9]{2}",
    ];
    let month = "(0[0-9]|1[0-3]|Jan|Feb|Dec|Jux)";
    let separator = "(T|T|T|T|t| |x|)";
    let dash = "(-|-|-||/)";
    let second = prop_oneof![6 => two(60), 3 => Just("59:60".to_owned())];
    let fraction = "(|||[.]|[.][0-9]{1,12}|[.][0-9]{7,9})";
    let zone = "(Z|Z|z||[+-][0-2][0-9]:[0-6][0-9]|[+-](00|23):?(00|59)| GMT)";
    (
        year,
        (dash, month, dash, two(31)),
        separator,
        (two(24), two(60), second),
        fraction,
        zone,
    )
        .prop_map(
            |(year, (dash, month, other, day), separator, (h, m, s), fraction, zone)| {
                let time = if s.contains(':') {
                    format!("23:{s}")
                } else {
                    format!("{h}:{m}:{s}")
                };
                format!("{year}{dash}{month}{other}{day}{separator}{time}{fraction}{zone}")
            },
        )
}

/// Almost HTTP-dates.
fn nearly_http() -> impl Strategy<Value = String> {
    let name = "(Mon|Tue|Wed|Thu|Fri|Sat|Sun|Sunday|Wednesday|Sum|sun|)";
    let month = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Feb|Jen|dec)";
    let year = "([0-9]{4}|[0-9]{2}|000[01]|9999|1900)";
    let time = "([01][0-9]|2[0-4]):[0-6][0-9]:[0-5][0-9]|23:59:60";
    let fraction = "(||[.][0-9]{1,11}|[.])";
    let layout = prop_oneof![
        4 => Just("w, d m y t G"),
        4 => Just("w, d-m-y t G"),
        4 => Just("w m d t y"),
        1 => Just("w, d m-y t G"),
        1 => Just("w, d m y t UTC"),
        1 => Just("w,d m y t G "),
    ];
    let day = "([ 0-3][0-9]|[0-9])";
    (layout, name, day, month, year, time, fraction).prop_map(
        |(layout, name, day, month, year, time, fraction)| {
            let part = |letter| match letter {
                'w' => name.clone(),
                'd' => day.clone(),
                'm' => month.clone(),
                'y' => year.clone(),
                't' => format!("{time}{fraction}"),
                'G' => "GMT".to_owned(),
                other => other.to_string(),
            };
            layout.chars().map(part).collect()
        },
    )
}

/// The bytes that `push` appends; `None` if it fails. Checks that it changes nothing else.
fn written(push: impl Fn(&mut Vec<u8>) -> Result<(), Malformed>) -> Option<String> {
    let mut out = b"before".to_vec();
    match push(&mut out) {
        Ok(()) => Some(String::from_utf8(out).unwrap().split_off(6)),
        Err(_) => {
            assert_eq!(out, b"before");
            None
        }
    }
}

const SAMPLES: [&str; 16] = [
    "2024-02-29T23:59:59Z",
    "2024-02-29T23:59:59.123Z",
    "2024-02-29T23:59:59.123456789Z",
    "2024-02-29T23:59:59+05:30",
    "2024-02-29T23:59:59.12345678-05:30",
    "2016-12-31T23:59:60Z",
    "20240229T23:59:59",
    "20240229T23:59:59Z",
    "20240229T23:59:59.5+0530",
    "2024-02-29T23:59:59",
    "Thu, 29 Feb 2024 23:59:59 GMT",
    "Thursday, 29-Feb-24 23:59:59 GMT",
    "Thu Feb 29 23:59:59 2024",
    "Thu Feb  9 23:59:59.25 2024",
    "1709251199.25",
    "-1709251199",
];

/// Every byte at every offset of every format, replaced and inserted; and every truncation.
#[test]
fn one_byte_is_different() {
    for sample in SAMPLES {
        for at in 0..sample.len() {
            agree(&sample.as_bytes()[..at], false);
            for byte in 0..=u8::MAX {
                let mut text = sample.as_bytes().to_vec();
                text[at] = byte;
                agree(&text, false);
                text.insert(at, byte);
                agree(&text, false);
            }
        }
    }
}

/// Every full name of a day, with every letter changed; every short year.
#[test]
fn dates_of_rfc_850() {
    for day in 0..7 {
        let text = slow::write_rfc850(Timestamp::new(day * 86_400, 0));
        assert_eq!(
            Timestamp::parse_http_date(&text),
            Ok(Timestamp::new(day * 86_400, 0))
        );
        for at in 0..text.len() {
            for byte in [b'x', b'y', b' ', b'-', b'0', b'Y'] {
                let mut text = text.clone().into_bytes();
                text[at] = byte;
                agree(&text, false);
            }
        }
    }
    for year in 0..100 {
        let text = format!("Monday, 21-Nov-{year:02} 20:30:00 GMT");
        agree(text.as_bytes(), false);
        let full = if year < 70 { 2000 + year } else { 1900 + year };
        let read = Timestamp::parse_http_date(&text).unwrap();
        assert_eq!(read.civil().year, full);
    }
}

/// Every length of a fraction, with a non-digit at every offset.
#[test]
fn fractions_of_all_lengths() {
    for (before, after) in [
        ("2024-02-29T23:59:59.", "Z"),
        ("2024-02-29T23:59:59.", "+01:00"),
        ("Thu, 29 Feb 2024 23:59:59.", " GMT"),
        ("20240229T23:59:59.", ""),
        ("0.", ""),
        ("-17.", ""),
    ] {
        for len in 0..130 {
            let digit = |at: u8| char::from(b'1' + at % 9);
            let digits: String = (0..len).map(digit).collect();
            let text = format!("{before}{digits}{after}");
            agree(text.as_bytes(), false);
            for at in 0..usize::from(len) {
                for stranger in [b'/', b':', 0xb0] {
                    let mut text = text.clone().into_bytes();
                    text[before.len() + at] = stranger;
                    agree(&text, false);
                }
            }
        }
    }
}

/// The first and last seconds of the years that can be read and written.
#[test]
fn the_edges_of_the_years() {
    for (text, expected) in [
        ("0001-01-01T00:00:00Z", Some(FIRST)),
        ("0001-01-01T00:00:00+00:01", None),
        ("0000-12-31T23:59:59Z", None),
        // The year as written must be within the limits, too.
        ("0000-12-31T23:59:59-00:01", None),
        ("9999-12-31T23:59:59Z", Some(LAST)),
        ("9999-12-31T23:59:59-00:01", None),
        ("9999-12-31T23:59:60Z", None),
        ("+010000-01-01T00:00:00Z", None),
        ("+002024-02-29T00:00:00Z", None),
        ("-000001-12-31T23:59:59Z", None),
    ] {
        agree(text.as_bytes(), false);
        let read = Timestamp::parse_date_time(text).ok();
        assert_eq!(read.map(Timestamp::seconds), expected, "{text}");
    }
    for seconds in [FIRST - 1, LAST + 1, i64::MIN, i64::MAX] {
        let instant = Timestamp::new(seconds, 999_999_999);
        assert_eq!(written(|out| instant.push_date_time(out)), None);
        assert_eq!(written(|out| instant.push_encoded_date_time(out)), None);
        assert_eq!(written(|out| instant.push_http_date(out)), None);
        assert_eq!(written(|out| instant.push_xmlrpc(out)), None);
    }
}

/// 31 February, 29 February of other years, 31 April and their like.
#[test]
fn days_that_do_not_exist_are_rejected() {
    for year in [1900, 2000, 2023, 2024] {
        for month in 0..=13 {
            for day in 0..=32 {
                let exists = (1..=12).contains(&month)
                    && (1..=slow::days_in_month(year, month)).contains(&day);
                let text = format!("{year}{month:02}{day:02}T00:00:00");
                assert_eq!(Timestamp::parse_xmlrpc(&text).is_ok(), exists, "{text}");
                let text = format!("{year}-{month:02}-{day:02}T00:00:00Z");
                assert_eq!(Timestamp::parse_date_time(&text).is_ok(), exists, "{text}");
            }
        }
    }
}

/// `FromStr` reads what `Display` writes. The zone may be missing; otherwise only RFC 3339.
#[test]
fn from_str_reads_what_display_writes() {
    for unzoned in [false, true] {
        for nanoseconds in [0, 1, 250_000_000] {
            for seconds in [FIRST, -1, 0, 1_795_293_000, LAST] {
                let instant = Timestamp::new(seconds, nanoseconds).with_unzoned(unzoned);
                assert_eq!(instant.to_string().parse(), Ok(instant));
            }
        }
    }
    // Also by the slow path.
    let unzoned: Result<Timestamp, _> = "2016-12-31t23:59:60".parse();
    assert_eq!(unzoned.unwrap().to_string(), "2017-01-01T00:00:00");
    for (text, offset) in [
        ("", 0),
        ("20261121T20:30:00", 4),
        ("2026-11-21 20:30:00", 10),
        ("2026-11-21T20:30:00+0100", 22),
        ("2026-11-21T20:30:00 ", 19),
        ("2026-11-21T20:30:00Z ", 20),
        ("@0", 0),
    ] {
        let read: Result<Timestamp, _> = text.parse();
        assert_eq!(read.unwrap_err().offset, offset, "{text}");
    }
}

/// Any number of digits and zeros, and very large exponents.
#[test]
fn exponents_of_any_size() {
    let (zeros, many) = ("0".repeat(400), "9".repeat(400));
    for (text, expected) in [
        ("1e-10".to_owned(), Some((0, 0))),
        ("-1e-10".to_owned(), Some((0, 0))),
        ("-1e-9".to_owned(), Some((-1, 999_999_999))),
        ("9.9999999999e-1".to_owned(), Some((0, 999_999_999))),
        (
            "9223372036854775807999999999e-9".to_owned(),
            Some((i64::MAX, 999_999_999)),
        ),
        ("9223372036854775808e0".to_owned(), None),
        ("-9223372036854775808e0".to_owned(), Some((i64::MIN, 0))),
        ("-9223372036854775808000000001e-9".to_owned(), None),
        (format!("0.{zeros}15e401"), Some((1, 500_000_000))),
        (format!("15{zeros}e-401"), Some((1, 500_000_000))),
        (format!("1.5e{zeros}1"), Some((15, 0))),
        (format!("1e{many}"), None),
        (format!("1e-{many}"), Some((0, 0))),
        (format!("0e{many}"), Some((0, 0))),
        (format!("{many}e-400"), Some((0, 999_999_999))),
    ] {
        let read = Timestamp::parse_epoch_seconds(&text);
        let read = read.map(|read| (read.seconds(), read.nanoseconds()));
        assert_eq!(read.ok(), expected, "{text}");
        agree(text.as_bytes(), false);
    }
}

#[test]
fn doubles_before_the_epoch_keep_their_digits() {
    for (seconds, nanoseconds, expected) in [
        (-1, 999_999_999, -1e-9),
        (-2, 500_000_000, -1.5),
        (-1, 0, -1.0),
        (i64::MIN, 0, -9_223_372_036_854_775_808.0),
        (i64::MIN, 1, -9_223_372_036_854_775_808.0),
        (i64::MAX, 999_999_999, 9_223_372_036_854_775_808.0),
    ] {
        assert_eq!(Timestamp::new(seconds, nanoseconds).as_f64(), expected);
    }
    let first = Timestamp::from_f64(-9_223_372_036_854_775_808.0);
    assert_eq!(first, Some(Timestamp::new(i64::MIN, 0)));
    assert_eq!(Timestamp::from_f64(9_223_372_036_854_775_808.0), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn reading_matches_the_reference(text in nearly(), utc: bool) {
        agree(text.as_bytes(), utc);
    }

    #[test]
    fn remembered_dates(texts in prop::collection::vec(
        ("(2021-01|2021-02|2020-02|0000-00|19/1-01)-(01|29|3a)", "T[01][0-9]:00:00([.]5)?Z"), 1..20,
    )) {
        let mut last = DateCache::default();
        for (date, time) in texts {
            let text = format!("{date}{time}");
            let found = last.utc_prefix(format!("{text}</and-more>").as_bytes());
            let expected = slow::date_time(text.as_bytes(), ReadPolicy::new()).ok();
            prop_assert_eq!(found, expected.map(|instant| (instant, text.len())));
        }
    }

    #[test]
    fn http_dates_match_the_reference(text in nearly_http(), utc: bool) {
        agree(text.as_bytes(), utc);
    }

    #[test]
    fn epoch_seconds_match_the_reference(
        text in "-?[0-9]{0,21}([.][0-9]{0,14})?([eE][+-]?[0-9]{0,3})?",
    ) {
        agree(text.as_bytes(), false);
    }

    /// The exponent moves the point.
    #[test]
    fn an_exponent_moves_the_point(
        seconds in any::<i64>(),
        nanoseconds in 0..1_000_000_000_u32,
        exponent in 0..40_i32,
    ) {
        let instant = Timestamp::new(seconds, nanoseconds);
        let nanoseconds = instant.as_nanoseconds();
        for text in [
            format!("{nanoseconds}e-9"),
            format!("{nanoseconds}{}E-{}", "0".repeat(exponent as usize), 9 + exponent),
            format!("{nanoseconds}.99e-009"),
        ] {
            prop_assert_eq!(Timestamp::parse_epoch_seconds(&text), Ok(instant), "{}", text);
            agree(text.as_bytes(), false);
        }
    }

    #[test]
    fn arbitrary_bytes_match_the_reference(
        text in proptest::collection::vec(any::<u8>(), 0..50),
        utc: bool,
    ) {
        agree(&text, utc);
    }

    #[test]
    fn writing_matches_the_reference(
        seconds in FIRST..=LAST,
        nanoseconds in prop_oneof![
            Just(0),
            0..1_000_000_000_u32,
            (0..1000_u32).prop_map(|milliseconds| milliseconds * 1_000_000),
        ],
        fraction in fractions(),
    ) {
        let instant = Timestamp::new(seconds, nanoseconds);
        let policy = WritePolicy::new().fraction(fraction);
        let text = written(|out| instant.push_date_time_with(out, policy)).unwrap();
        prop_assert_eq!(&text, &slow::write_date_time(instant, fraction));
        let back = Timestamp::parse_date_time(&text).unwrap();
        let lost = instant.as_nanoseconds() - back.as_nanoseconds();
        prop_assert!((0..1_000_000_000).contains(&lost));
        let text = written(|out| instant.push_xmlrpc_with(out, policy)).unwrap();
        prop_assert_eq!(&text, &slow::write_xmlrpc(instant, fraction));
        let unzoned = back.with_unzoned(true);
        prop_assert_eq!(Timestamp::parse_xmlrpc(&text), Ok(unzoned));
        // An unzoned instant is written without a zone in any case.
        let zoned = policy.zone(true);
        let same = written(|out| instant.with_unzoned(true).push_xmlrpc_with(out, zoned));
        prop_assert_eq!(same.as_ref(), Some(&text));
        let zoned = written(|out| instant.push_xmlrpc_with(out, zoned)).unwrap();
        prop_assert_eq!(&zoned, &format!("{text}Z"));
        prop_assert_eq!(Timestamp::parse_xmlrpc(&zoned), Ok(back));
        let text = written(|out| instant.push_http_date(out)).unwrap();
        prop_assert_eq!(&text, &slow::write_http_date(instant, Fraction::Needed));
        prop_assert_eq!(Timestamp::parse_http_date(&text), Ok(instant));
        let plain = written(|out| instant.push_date_time(out));
        let encoded = written(|out| instant.push_encoded_date_time(out));
        prop_assert_eq!(encoded, plain.map(|plain| plain.replace(':', "%3A")));
    }

    #[test]
    fn written_epoch_seconds_match_the_reference(
        seconds in prop_oneof![any::<i64>(), FIRST..=LAST],
        nanoseconds in prop_oneof![Just(0), 0..1_000_000_000_u32],
    ) {
        let instant = Timestamp::new(seconds, nanoseconds);
        let mut out = Vec::new();
        instant.push_epoch_seconds(&mut out);
        let text = String::from_utf8(out).unwrap();
        prop_assert_eq!(&text, &slow::write_epoch_seconds(instant, Fraction::Needed));
        prop_assert_eq!(Timestamp::parse_epoch_seconds(&text), Ok(instant));
    }

    #[test]
    fn civil_both_ways(
        seconds in prop_oneof![any::<i64>(), FIRST..=LAST],
        nanoseconds in 0..1_000_000_000_u32,
    ) {
        let instant = Timestamp::new(seconds, nanoseconds);
        let civil = instant.civil();
        prop_assert_eq!(Timestamp::from_civil(civil), Ok(instant));
        let date = (civil.year, civil.month.into(), civil.day.into());
        prop_assert_eq!(slow::date_of_day(seconds.div_euclid(86_400)), date);
        prop_assert_eq!(Timestamp::from_nanoseconds(instant.as_nanoseconds()), Some(instant));
    }

    #[test]
    fn no_civil_date_panics(
        year: i64, month: u8, day: u8, hour: u8, minute: u8, second: u8, nanosecond: u32,
    ) {
        let civil = Civil { year, month, day, hour, minute, second, nanosecond };
        if let Ok(instant) = Timestamp::from_civil(civil) {
            prop_assert_eq!(instant.civil(), civil);
        }
    }

    #[test]
    fn nearest_doubles(
        bits: i64,
        shift in 0..62_u32,
        nanoseconds in prop_oneof![
            0..1_000_000_000_u32,
            (0..1024_u32).prop_map(|part| part * 976_562),
        ],
    ) {
        let instant = Timestamp::new(bits >> shift, nanoseconds);
        prop_assert_eq!(instant.as_f64(), slow::as_f64(instant), "{:?}", instant);
    }

    #[test]
    fn sums_and_differences(
        one: i64, one_more in 0..1_000_000_000_u32,
        other: i64, other_more in 0..1_000_000_000_u32,
    ) {
        let (one, other) = (Timestamp::new(one, one_more), Timestamp::new(other, other_more));
        let (earlier, later) = (one.min(other), one.max(other));
        let between = later.duration_since(earlier).unwrap();
        let nanoseconds = later.as_nanoseconds() - earlier.as_nanoseconds();
        prop_assert_eq!(between.as_nanos() as i128, nanoseconds);
        prop_assert_eq!(earlier.checked_add(between), Some(later));
        prop_assert_eq!(later.checked_sub(between), Some(earlier));
        prop_assert_eq!(earlier.duration_since(later).is_some(), earlier == later);
    }
}
