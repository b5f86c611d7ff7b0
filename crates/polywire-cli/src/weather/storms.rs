//! `ReportStorm`, and the storms that were reported.

use std::collections::VecDeque;

use polywire::prelude::*;

use super::faults;
use super::input::{items, optional_integer, optional_text, text, texts};
use super::ledger::{Fingerprint, Ledger, Token};
use super::world::{NOW, THIS_YEAR, World};

/// How many reports are kept. Then the oldest are dropped, and statistics no
/// longer name them.
const MOST: usize = 100;
/// How long the name of a storm may be.
const LONGEST_NAME: usize = 64;

/// The storms that were reported.
#[derive(Debug, Default)]
pub(super) struct Storms {
    /// The newest last.
    kept: VecDeque<Storm>,
    /// How many were reported in all.
    reported: u64,
    ledger: Ledger<u64>,
}

/// What is kept of a report: not the track and the attachment, which may be
/// large and for which nobody can ask.
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

    // A report with problems does not use up its token, and so the token is
    // looked at last.
    let token = optional_text(input, "clientToken");
    let asked = Fingerprint::of(input);
    let mut storms = world.storms();
    let number = match storms.ledger.look_up(token, asked) {
        Token::Repeated(number) => return Ok(accepted(number)),
        Token::New => storms.reported + 1,
        Token::Reused => {
            problems.insert("clientToken", "it came before with another report");
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
    storms.ledger.remember(token, asked, number);
    storms.keep(Storm {
        number,
        name: name.to_owned(),
        severity,
        cities,
    });
    Ok(accepted(number))
}

/// The points of a track lie on Earth and follow each other in time.
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
        return Err("a point does not lie on Earth");
    }
    if !track.is_sorted_by_key(|point| point["at"].as_timestamp()) {
        return Err("the points do not follow each other in time");
    }
    Ok(())
}

fn add_city(world: &World, id: &str, cities: &mut Vec<&'static str>) -> Result<(), String> {
    let city = world.cities().find(|city| city.id == id);
    let city = city.ok_or_else(|| format!("there is no city \"{id}\""))?;
    if cities.contains(&city.id) {
        return Err(format!("\"{id}\" is there twice"));
    }
    cities.push(city.id);
    Ok(())
}

/// The answer is the same whenever it is given: this world's clock stands.
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
        self.kept.push_back(storm);
        if self.kept.len() > MOST {
            self.kept.pop_front();
        }
    }

    /// The storms that are kept and affect a city, the newest first.
    pub(super) fn over(&self, city: &str) -> impl Iterator<Item = &Storm> {
        let newest = self.kept.iter().rev();
        newest.filter(move |storm| storm.cities.contains(&city))
    }
}

impl Storm {
    /// For the notes of statistics.
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
        for number in 1..=MOST as u64 + 2 {
            storms.keep(Storm {
                number,
                name: String::new(),
                severity: 1,
                cities: vec!["oslo"],
            });
        }
        assert_eq!(storms.over("oslo").count(), MOST);
        assert_eq!(storms.over("quito").count(), 0);
        assert_eq!(storms.kept[0].number, 3);
        assert_eq!(storms.reported, MOST as u64 + 2);
    }
}
