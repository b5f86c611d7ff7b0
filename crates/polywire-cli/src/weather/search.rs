//! `SearchStations`.

use polywire::prelude::*;

use super::input::{optional_integer, optional_timestamp, text, texts};
use super::stations::{STATIONS, Station};
use super::world::World;

/// Parameters with a member of their own: a server of restJson1 finds them
/// among the others as well.
const BOUND: [&str; 6] = [
    "active",
    "kind",
    "maxLatitude",
    "minElevation",
    "since",
    "text",
];

/// `SearchStations`: the stations that meet every condition.
pub(super) fn search(world: &World, input: &Map) -> Result<Map, Fault> {
    let wanted = text(input, "text").to_lowercase();
    let reported = world.observations().latest();
    let found = STATIONS
        .iter()
        .zip(reported)
        .filter(|(station, reported)| {
            is_named(station, &wanted)
                && is_described(station, *reported, input)
                && meets_conditions(station, input)
        })
        .map(|(station, _)| station.described(station.name_in(texts(input, "languages"))));
    Ok(Map::from_iter([
        ("stations", Value::from(found.collect::<Vec<_>>())),
        ("searched", (STATIONS.len() as i32).into()),
    ]))
}

/// Whether a name of the station, in any language, or its identifier holds a
/// text, whatever the case of its letters.
fn is_named(station: &Station, wanted: &str) -> bool {
    let local = station.local_names.iter().map(|(_, name)| *name);
    let mut names = [station.id, station.name].into_iter().chain(local);
    names.any(|name| name.to_lowercase().contains(wanted))
}

/// Whether the station fits the members of the input, those that are there.
fn is_described(station: &Station, reported: Timestamp, input: &Map) -> bool {
    let mut kinds = texts(input, "kinds").peekable();
    let kind = kinds.peek().is_none() || kinds.any(|kind| kind == station.kind);
    let least = optional_integer(input, "minElevation");
    let elevation = least.is_none_or(|least| i64::from(station.elevation) >= least);
    let active = input.get("active").and_then(Value::as_bool);
    let active = active.is_none_or(|active| station.active == active);
    let since = optional_timestamp(input, "since");
    let since = since.is_none_or(|since| reported >= since);
    let most = input.get("maxLatitude").and_then(Value::as_f64);
    let latitude = most.is_none_or(|most| station.place.latitude.abs() <= most);
    kind && elevation && active && since && latitude
}

/// Whether the station has all the properties that the other parameters ask
/// for. A station does not meet a condition that it knows nothing of.
fn meets_conditions(station: &Station, input: &Map) -> bool {
    let Some(conditions) = input.get("parameters").and_then(Value::as_map) else {
        return true;
    };
    let has = |name: &str, value: &str| {
        let mut properties = station.properties.iter();
        properties.any(|(own, values)| *own == name && values.contains(&value))
    };
    conditions
        .iter()
        .filter(|(name, _)| !BOUND.contains(name))
        .all(|(name, values)| {
            let mut values = values.as_list().unwrap_or_default().iter();
            values.all(|value| value.as_str().is_some_and(|value| has(name, value)))
        })
}
