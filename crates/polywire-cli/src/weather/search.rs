//! `SearchStations`.

use polywire::prelude::*;

use super::input::{optional_integer, optional_timestamp, text, texts};
use super::stations::{STATIONS, Station};
use super::world::World;

/// Parameters with their own member. restJson1 servers also include them in the map of all
/// parameters.
const BOUND: [&str; 6] = [
    "active",
    "kind",
    "maxLatitude",
    "minElevation",
    "since",
    "text",
];

/// `SearchStations`: returns the stations that match all conditions.
pub(super) fn search(world: &World, input: &Map) -> Result<Map, Fault> {
    let query = text(input, "text").to_lowercase();
    let reported = world.observations().latest();
    let found = STATIONS
        .iter()
        .zip(reported)
        .filter(|(station, reported)| {
            is_named(station, &query)
                && is_described(station, *reported, input)
                && meets_conditions(station, input)
        })
        .map(|(station, _)| station.described(station.name_in(texts(input, "languages"))));
    Ok(Map::from_iter([
        ("stations", Value::from(found.collect::<Vec<_>>())),
        ("searched", (STATIONS.len() as i32).into()),
    ]))
}

/// Whether the name of the station in any language, or its identifier, contains a text, ignoring
/// case.
fn is_named(station: &Station, query: &str) -> bool {
    let local = station.local_names.iter().map(|(_, name)| *name);
    let mut names = [station.id, station.name].into_iter().chain(local);
    names.any(|name| name.to_lowercase().contains(query))
}

/// Whether the station matches the members of the input that are present.
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

/// Whether the station has all properties in the other parameters. A station without a property
/// does not match.
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
