//! `ReportStorm`, and the stored storms.

use std::collections::VecDeque;

use polywire::prelude::*;

use super::faults;
use super::input::{items, optional_integer, optional_text, text, texts};
use super::ledger::{Fingerprint, Ledger, Token};
use super::world::{NOW, THIS_YEAR, World};

/// The maximum number of stored reports. The oldest are dropped, and then no longer included in
/// statistics.
const MAX_STORED: usize = 100;
/// The maximum length of the name of a storm, in characters.
const LONGEST_NAME: usize = 64;

/// The stored storms.
#[derive(Debug, Default)]
pub(super) struct Storms {
    /// Oldest first.
    stored: VecDeque<Storm>,
    /// The total number of reports, including dropped ones.
    reported: u64,
    ledger: Ledger<u64>,
}

/// A stored report. Omits the track and the attachment, which may be large and which no operation
/// returns.
#[derive(Debug)]
pub(super) struct Storm {
    number: u64,
    name: String,
    severity: i64,
    cities: Vec<&'static str>,
}

/// `ReportStorm`.
pub(super) fn report(world: &World, input: &Map) -> Result<Map, Fault> {
    let mut problems = Map::new();
    let name = text(input, "name");
    if !(1..=LONGEST_NAME).contains(&name.chars().count()) {
        problems.insert("name", "expected 1 to 64 characters");
    }
    let severity = optional_integer(input, "severity").unwrap_or_default();
    if !(1..=3).contains(&severity) {
        let expected = "expected 1 (watch), 2 (warning) or 3 (emergency)";
        problems.insert("severity", expected);
    }
    let track = items(input, "track");
    if let Err(problem) = check_track(track) {
        problems.insert("track", problem);
    }
    let mut cities = Vec::new();
    for id in texts(input, "affectedCities") {
        if let Err(problem) = add_city(world, id, &mut cities) {
            problems.insert("affectedCities", problem);
            break;
        }
    }

    // Check the token last, so that an invalid report does not use it up.
    let token = optional_text(input, "clientToken");
    let fingerprint = Fingerprint::of(input);
    let mut storms = world.storms();
    let number = match storms.ledger.look_up(token, fingerprint) {
        Token::Repeated(number) => return Ok(accepted(number)),
        Token::New => storms.reported + 1,
        Token::Reused => {
            problems.insert("clientToken", "already used with a different report");
            0
        }
        Token::TooLong => {
            problems.insert("clientToken", "expected at most 128 bytes");
            0
        }
    };
    if !problems.is_empty() {
        let message = if track.is_empty() {
            "the report has nothing to go by"
        } else {
            "the report contradicts itself or the facts"
        };
        return Err(faults::invalid_report(message, problems));
    }
    storms.ledger.remember(token, fingerprint, number);
    storms.keep(Storm {
        number,
        name: name.to_owned(),
        severity,
        cities,
    });
    Ok(accepted(number))
}

/// Checks that the points of a track are on Earth and in chronological order.
fn check_track(track: &[Value]) -> Result<(), &'static str> {
    if track.is_empty() {
        return Err("at least one point is needed");
    }
    let within = |place: &Value, member: &str, most: f64| {
        let degrees = place[member].as_f64();
        degrees.is_some_and(|degrees| (-most..=most).contains(&degrees))
    };
    let on_earth = track.iter().all(|point| {
        let place = &point["position"];
        within(place, "latitude", 90.0) && within(place, "longitude", 180.0)
    });
    if !on_earth {
        return Err("a point is not on Earth");
    }
    if !track.is_sorted_by_key(|point| point["at"].as_timestamp()) {
        return Err("the points are not in chronological order");
    }
    Ok(())
}

fn add_city(world: &World, id: &str, cities: &mut Vec<&'static str>) -> Result<(), String> {
    let city = world.cities().find(|city| city.id == id);
    let city = city.ok_or_else(|| format!("there is no city \"{id}\""))?;
    if cities.contains(&city.id) {
        return Err(format!("\"{id}\" is listed twice"));
    }
    cities.push(city.id);
    Ok(())
}

/// The response is constant, because the time of this service is fixed.
fn accepted(number: u64) -> Map {
    Map::from_iter([
        ("stormId", Value::from(identifier(number))),
        ("acceptedAt", NOW.into()),
    ])
}

fn identifier(number: u64) -> String {
    format!("storm-{THIS_YEAR}-{number}")
}

impl Storms {
    fn keep(&mut self, storm: Storm) {
        self.reported += 1;
        self.stored.push_back(storm);
        if self.stored.len() > MAX_STORED {
            self.stored.pop_front();
        }
    }

    /// Returns the stored storms that affect a city, newest first.
    pub(super) fn over(&self, city: &str) -> impl Iterator<Item = &Storm> {
        let newest = self.stored.iter().rev();
        newest.filter(move |storm| storm.cities.contains(&city))
    }
}

impl Storm {
    /// Formats a storm for the notes of statistics.
    pub(super) fn noted(&self) -> Value {
        Map::from_iter([
            ("stormId", Value::from(identifier(self.number))),
            ("name", Value::from(self.name.as_str())),
            ("severity", Value::from(self.severity)),
        ])
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_reports_are_dropped() {
        let mut storms = Storms::default();
        for number in 1..=MAX_STORED as u64 + 2 {
            storms.keep(Storm {
                number,
                name: String::new(),
                severity: 1,
                cities: vec!["oslo"],
            });
        }
        assert_eq!(storms.over("oslo").count(), MAX_STORED);
        assert_eq!(storms.over("quito").count(), 0);
        assert_eq!(storms.stored[0].number, 3);
        assert_eq!(storms.reported, MAX_STORED as u64 + 2);
    }
}
