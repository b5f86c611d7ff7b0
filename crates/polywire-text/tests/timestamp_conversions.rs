//! Conversions of timestamps from and to other types.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::{Duration, SystemTime};

use polywire_text::{Malformed, Timestamp};
use proptest::prelude::*;

#[test]
fn the_edges_of_the_system_clock() {
    for timestamp in [
        Timestamp::new(i64::MIN, 0),
        Timestamp::new(i64::MIN, 1),
        Timestamp::new(-1, 999_999_999),
        Timestamp::new(i64::MAX, 999_999_999),
    ] {
        // Not every clock reaches so far.
        if let Ok(time) = SystemTime::try_from(timestamp) {
            assert_eq!(Timestamp::from(time), timestamp);
        }
    }
}

/// There and back within a range, and an error a nanosecond beyond it.
fn edges<T>(first: Timestamp, last: Timestamp)
where
    T: TryFrom<Timestamp, Error = Malformed>,
    Timestamp: From<T>,
{
    let there = |timestamp| T::try_from(timestamp).map(Timestamp::from);
    assert_eq!(there(first), Ok(first));
    assert_eq!(there(last), Ok(last));
    let step = Duration::from_nanos(1);
    for beyond in [first.checked_sub(step), last.checked_add(step)] {
        let error = there(beyond.unwrap()).unwrap_err();
        assert!(error.expected.starts_with("a timestamp within"));
    }
    for beyond in [Timestamp::new(i64::MIN, 0), Timestamp::new(i64::MAX, 0)] {
        assert!(there(beyond).is_err());
    }
}

#[test]
fn the_edges_of_time() {
    use ::time::{OffsetDateTime, UtcDateTime, UtcOffset};
    let (first, last) = (UtcDateTime::MIN.into(), UtcDateTime::MAX.into());
    edges::<UtcDateTime>(first, last);
    edges::<OffsetDateTime>(first, last);
    let there = OffsetDateTime::UNIX_EPOCH.to_offset(UtcOffset::from_hms(5, 30, 0).unwrap());
    assert_eq!(Timestamp::from(there), Timestamp::EPOCH);
}

#[test]
fn the_edges_of_jiff() {
    use ::jiff::Timestamp as Theirs;
    edges::<Theirs>(Theirs::MIN.into(), Theirs::MAX.into());
}

#[test]
fn the_edges_of_chrono() {
    use ::chrono::{DateTime, NaiveDate, Utc};
    let (first, last) = (
        DateTime::<Utc>::MIN_UTC.into(),
        DateTime::<Utc>::MAX_UTC.into(),
    );
    edges::<DateTime<Utc>>(first, last);
    let leap = NaiveDate::from_ymd_opt(2016, 12, 31).unwrap();
    let leap = leap.and_hms_nano_opt(23, 59, 59, 1_500_000_000).unwrap();
    assert_eq!(
        Timestamp::from(leap.and_utc()),
        Timestamp::new(1_483_228_800, 500_000_000)
    );
}

proptest! {
    /// Years that everybody has: the date is the same everywhere.
    #[test]
    fn there_and_back(
        seconds in -60_000_000_000_i64..250_000_000_000,
        nanoseconds in 0..1_000_000_000_u32,
    ) {
        let timestamp = Timestamp::new(seconds, nanoseconds);
        let there = SystemTime::try_from(timestamp).unwrap();
        prop_assert_eq!(Timestamp::from(there), timestamp);
                {
            let there = ::time::OffsetDateTime::try_from(timestamp).unwrap();
            prop_assert_eq!(i64::from(there.year()), timestamp.civil().year);
            prop_assert_eq!(Timestamp::from(there), timestamp);
        }
                {
            let there = ::jiff::Timestamp::try_from(timestamp).unwrap();
            prop_assert_eq!(there.as_nanosecond(), timestamp.as_nanoseconds());
            prop_assert_eq!(Timestamp::from(there), timestamp);
        }
                {
            let there = ::chrono::DateTime::<::chrono::Utc>::try_from(timestamp).unwrap();
            prop_assert_eq!(there.timestamp(), timestamp.seconds());
            prop_assert_eq!(Timestamp::from(there), timestamp);
        }
    }
}
