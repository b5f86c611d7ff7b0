//! `GetForecast`.

use polywire::prelude::*;

use super::input::{count_or, optional_text, text};
use super::output::fixed;
use super::world::{NOW, World};

/// The forecast of a city.
#[derive(Debug)]
pub(super) struct Outlook {
    pub(super) chance_of_rain: f32,
    /// Hourly temperatures from now on, repeated cyclically.
    pub(super) hours: &'static [f32],
    /// Days from today on, repeated cyclically.
    pub(super) days: &'static [Day],
    /// The temperature difference in degrees between two cycles of `days`.
    pub(super) trend: f32,
    /// The most important reading: a member of the union `Reading`, and its value.
    pub(super) reading: fn() -> (&'static str, Value),
}

/// The weather of a day.
#[derive(Debug)]
pub(super) struct Day {
    low: f32,
    high: f32,
    sky: &'static str,
    cloud_cover: i8,
}

impl Day {
    pub(super) const fn new(low: f32, high: f32, sky: &'static str, cloud_cover: i8) -> Self {
        Self {
            low,
            high,
            sky,
            cloud_cover,
        }
    }
}

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// `GetForecast`. Only temperatures are converted to imperial units: in the model, wind is always
/// in metres per second.
pub(super) fn get(world: &World, input: &Map) -> Result<Map, Fault> {
    let city = world.city(text(input, "cityId"))?;
    let days = count_or(input, "days", 3);
    let units = match optional_text(input, "units") {
        Some("imperial") => "imperial",
        _ => "metric",
    };
    let degrees = |celsius: f32| match units {
        "imperial" => fahrenheit(celsius),
        _ => celsius,
    };

    let outlook = &city.outlook;
    let (member, reading) = (outlook.reading)();
    let day = |index: usize| {
        let rounds = index / outlook.days.len();
        let shift = outlook.trend * rounds as f32;
        let day = &outlook.days[index % outlook.days.len()];
        Value::from(Map::from_iter([
            ("date", Value::from(midnight_after(index as i64))),
            ("low", degrees(day.low + shift).into()),
            ("high", degrees(day.high + shift).into()),
            ("sky", fixed(day.sky)),
            ("cloudCover", day.cloud_cover.into()),
        ]))
    };
    Ok(Map::from_iter([
        ("cityId", fixed(city.id)),
        ("units", fixed(units)),
        ("issuedAt", NOW.into()),
        ("expiresAt", after(6 * HOUR).into()),
        ("chanceOfRain", outlook.chance_of_rain.into()),
        ("temperatures", hours(outlook, days + 1, degrees)),
        ("outlook", Map::from_iter([(member, reading)]).into()),
        ("days", (0..days).map(day).collect::<Vec<_>>().into()),
    ]))
}

/// Returns the temperatures of the coming hours, one more than the number of days. Every fourth is
/// unknown, so that forecasts of three days or more contain a null.
fn hours(outlook: &Outlook, count: usize, degrees: impl Fn(f32) -> f32) -> Value {
    let hour = |index: usize| {
        let is_known = index % 4 != 3;
        is_known.then(|| degrees(outlook.hours[index % outlook.hours.len()]))
    };
    (0..count)
        .map(|index| Value::from(hour(index)))
        .collect::<Vec<_>>()
        .into()
}

/// Rounds to a tenth of a degree.
fn fahrenheit(celsius: f32) -> f32 {
    let exact = f64::from(celsius) * 1.8 + 32.0;
    ((exact * 10.0).round() / 10.0) as f32
}

fn after(seconds: i64) -> Timestamp {
    Timestamp::new(NOW.seconds() + seconds, 0)
}

/// Returns the start of a day, relative to today.
fn midnight_after(days: i64) -> Timestamp {
    let today = NOW.seconds() - NOW.seconds().rem_euclid(DAY);
    Timestamp::new(today + days * DAY, 0)
}
