//! `PutObservation`, and the stored observations.

use std::collections::VecDeque;

use polywire::prelude::*;

use super::faults;
use super::input::{optional_text, optional_timestamp, text};
use super::ledger::{Fingerprint, Ledger, Token};
use super::stations::{self, STATIONS, Station};
use super::world::World;

/// The maximum number of stored observations. The oldest are dropped, and then no longer included
/// in statistics.
const MAX_STORED: usize = 1000;
/// The number of observation numbers per day. Numbers are then reused: the earlier observation with
/// that number was dropped long before.
const NUMBERS: i64 = 1_000_000;

/// The stored observations.
#[derive(Debug, Default)]
pub(super) struct Observations {
    /// Oldest first.
    stored: VecDeque<Observation>,
    /// The total number of observations, including dropped ones.
    total: i64,
    /// The time of the latest observation of each station, if any was stored.
    latest: [Option<Timestamp>; STATIONS.len()],
    ledger: Ledger<i64>,
}

/// A stored observation. Omits the reading, which may be large and which no operation returns.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    pub(super) id: i64,
    pub(super) station: &'static Station,
    pub(super) observed: Timestamp,
    pub(super) year: i64,
}

/// `PutObservation`.
pub(super) fn put(world: &World, input: &Map) -> Result<Map, Fault> {
    let (index, station) = stations::find(text(input, "stationId"))?;
    let observed = optional_timestamp(input, "observedAt").unwrap_or_default();
    let date = Date::of(observed)
        .ok_or_else(|| faults::invalid("observedAt", "a time in the years 1 to 9999"))?;
    let token = optional_text(input, "clientToken");
    let fingerprint = Fingerprint::of(input);

    let mut observations = world.observations();
    let (status, id) = match observations.ledger.look_up(token, fingerprint) {
        Token::Repeated(id) => (200, id),
        Token::New => {
            let id = date.day * NUMBERS + observations.total % NUMBERS + 1;
            observations.file(
                index,
                Observation {
                    id,
                    station,
                    observed,
                    year: date.year,
                },
            );
            observations.ledger.remember(token, fingerprint, id);
            (201, id)
        }
        Token::Reused => {
            let expected = "a new token for another observation";
            return Err(faults::invalid("clientToken", expected));
        }
        Token::TooLong => {
            let expected = "a token of at most 128 bytes";
            return Err(faults::invalid("clientToken", expected));
        }
    };
    drop(observations);

    let mut output = Map::from_iter([
        ("status", Value::from(status)),
        ("observationId", Value::from(id)),
    ]);
    if let Some(reading) = input.get("reading") {
        output.insert("reading", reading.clone());
    }
    Ok(output)
}

impl Observations {
    fn file(&mut self, station: usize, observation: Observation) {
        self.total += 1;
        let latest = &mut self.latest[station];
        *latest = (*latest).max(Some(observation.observed));
        self.stored.push_back(observation);
        if self.stored.len() > MAX_STORED {
            self.stored.pop_front();
        }
    }

    /// Returns the time of the latest observation of each station, in the order of [`STATIONS`].
    pub(super) fn latest(&self) -> [Timestamp; STATIONS.len()] {
        std::array::from_fn(|index| {
            let began = STATIONS[index].reported;
            self.latest[index].map_or(began, |latest| latest.max(began))
        })
    }

    /// Returns the stored observations of a city in a year, newest first.
    pub(super) fn of(&self, city: &str, year: i64) -> impl Iterator<Item = &Observation> {
        let newest = self.stored.iter().rev();
        newest.filter(move |own| own.station.city == city && own.year == year)
    }
}

/// The date of a timestamp, in UTC.
struct Date {
    year: i64,
    /// Returns eight digits, such as 20261101.
    day: i64,
}

impl Date {
    /// Returns `None` outside the years 1 to 9999.
    fn of(instant: Timestamp) -> Option<Self> {
        let mut text = Vec::with_capacity(32);
        instant.push_date_time(&mut text).ok()?;
        let digits = text.iter().filter(|byte| byte.is_ascii_digit()).take(8);
        let day = digits.fold(0, |day, digit| day * 10 + i64::from(digit - b'0'));
        Some(Self {
            year: day / 10_000,
            day,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weather::world::NOW;

    #[test]
    fn the_oldest_observations_are_dropped() {
        let mut observations = Observations::default();
        for id in 0..MAX_STORED as i64 + 5 {
            let station = &STATIONS[0];
            observations.file(
                0,
                Observation {
                    id,
                    station,
                    observed: NOW,
                    year: 2026,
                },
            );
        }
        assert_eq!(observations.stored.len(), MAX_STORED);
        assert_eq!(observations.stored[0].id, 5);
        assert_eq!(observations.total, MAX_STORED as i64 + 5);
        assert_eq!(observations.of("kyoto", 2026).count(), MAX_STORED);
        assert_eq!(observations.of("kyoto", 2025).count(), 0);
        assert_eq!(observations.of("oslo", 2026).count(), 0);
    }

    #[test]
    fn dates_have_eight_digits() {
        let date = Date::of(NOW).unwrap();
        assert_eq!((date.year, date.day), (2026, 20_261_101));
        assert!(Date::of(Timestamp::new(i64::MAX, 0)).is_none());
    }
}
