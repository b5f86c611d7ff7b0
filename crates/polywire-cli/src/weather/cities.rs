//! The cities: `GetCity`, `ListCities`, `DeleteCity`.

use std::sync::Arc;

use polywire::prelude::*;

use super::faults;
use super::forecast::{Day, Outlook};
use super::input::{count_or, optional_text, text};
use super::output::{Place, fixed, fixed_list, fixed_map};
use super::world::World;

/// The data of a city.
#[derive(Debug)]
pub(super) struct City {
    pub(super) id: &'static str,
    name: &'static str,
    place: Place,
    climate: &'static str,
    population: i64,
    elevation: i16,
    capital: bool,
    founded: Timestamp,
    tags: &'static [&'static str],
    local_names: &'static [(&'static str, &'static str)],
    revision: &'static str,
    pub(super) outlook: Outlook,
    /// A typical year, for statistics: rain per month, in quarters of a millimetre.
    pub(super) rain: [u16; 12],
    /// The mean temperature in thousandths of a degree.
    pub(super) mean: u32,
    /// The temperatures of the coldest and the warmest hour of a typical year.
    pub(super) extremes: (f32, f32),
}

/// All cities, sorted by identifier. Do not add more: the examples of `ListCities` list all of
/// them.
pub(super) static CITIES: [City; 3] = [
    City {
        id: "kyoto",
        name: "Kyoto",
        place: Place {
            latitude: 35.0116,
            longitude: 135.7681,
        },
        climate: "temperate",
        population: 1_463_723,
        elevation: 50,
        capital: false,
        // 22 November 794.
        founded: Timestamp::new(-37_082_880_000, 0),
        tags: &["temples", "gardens", "river"],
        local_names: &[("ja", "京都"), ("ko", "교토")],
        revision: "\"r-9\"",
        outlook: Outlook {
            chance_of_rain: 0.125,
            hours: &[16.5, 17.0, 15.25, 13.5, 12.0],
            days: &[
                Day::new(9.5, 18.5, "clear", 10),
                Day::new(10.0, 19.0, "clear", 20),
                Day::new(12.5, 17.0, "rain", 90),
                Day::new(8.0, 16.5, "cloudy", 60),
            ],
            trend: -0.5,
            reading: || ("sky", fixed("clear")),
        },
        rain: [212, 260, 426, 483, 643, 894, 885, 661, 716, 574, 287, 228],
        mean: 16_250,
        extremes: (-2.5, 38.0),
    },
    City {
        id: "oslo",
        name: "Oslo",
        place: Place {
            latitude: 59.9139,
            longitude: 10.7522,
        },
        climate: "continental",
        population: 717_710,
        elevation: 23,
        capital: true,
        // 1 January 1048.
        founded: Timestamp::new(-29_095_545_600, 0),
        tags: &["fjord", "harbour"],
        local_names: &[("nb", "Oslo"), ("ja", "オスロ")],
        revision: "\"r-17\"",
        outlook: Outlook {
            chance_of_rain: 0.25,
            hours: &[3.5, 4.25, 2.0, 1.5, 0.5, -0.25],
            days: &[
                Day::new(1.5, 6.0, "cloudy", 80),
                Day::new(-0.5, 4.5, "snow", 100),
                Day::new(-2.0, 3.0, "clear", 15),
                Day::new(0.5, 5.5, "rain", 95),
                Day::new(1.0, 5.0, "cloudy", 70),
            ],
            trend: -1.0,
            reading: || {
                let wind = [
                    ("speed", Value::from(7.5)),
                    ("direction", Value::from(225)),
                    ("gusts", Value::from(true)),
                ];
                ("wind", Map::from_iter(wind).into())
            },
        },
        rain: [218, 192, 165, 188, 236, 320, 348, 412, 340, 376, 344, 248],
        mean: 7_000,
        extremes: (-18.0, 31.5),
    },
    City {
        id: "quito",
        name: "Quito",
        place: Place {
            latitude: -0.1807,
            longitude: -78.4678,
        },
        climate: "tropical",
        population: 1_763_275,
        elevation: 2850,
        capital: true,
        // 6 December 1534.
        founded: Timestamp::new(-13_729_564_800, 0),
        tags: &["mountains", "equator"],
        local_names: &[("es", "Quito"), ("qu", "Kitu"), ("ja", "キト")],
        revision: "\"r-4\"",
        outlook: Outlook {
            chance_of_rain: 0.75,
            hours: &[17.5, 18.25, 16.0, 14.5],
            days: &[
                Day::new(9.0, 19.5, "rain", 85),
                Day::new(8.5, 18.0, "thunder", 100),
                Day::new(9.5, 20.0, "cloudy", 65),
            ],
            // The equator has no seasons.
            trend: 0.0,
            reading: || {
                let rainfall = "12.50".parse().map(Value::BigDecimal);
                ("rainfall", rainfall.unwrap_or_default())
            },
        },
        rain: [331, 446, 580, 644, 441, 168, 92, 101, 290, 472, 423, 348],
        mean: 14_500,
        extremes: (4.5, 26.0),
    },
];

impl City {
    /// Returns the output of `GetCity`, which is constant.
    pub(super) fn output(&self) -> Map {
        Map::from_iter([
            ("cityId", fixed(self.id)),
            ("name", fixed(self.name)),
            ("coordinates", self.place.into()),
            ("climate", fixed(self.climate)),
            ("population", self.population.into()),
            ("elevation", self.elevation.into()),
            ("capital", self.capital.into()),
            ("founded", self.founded.into()),
            ("tags", fixed_list(self.tags)),
            ("localNames", fixed_map(self.local_names)),
            ("revision", fixed(self.revision)),
        ])
    }
}

/// `GetCity`.
pub(super) fn get(world: &World, input: &Map) -> Result<Arc<Map>, Fault> {
    world.city_output(text(input, "cityId"))
}

/// `ListCities`. The token is the identifier of the last city of the previous page. It stays valid
/// if that city is deleted between two pages. Other tokens are invalid.
pub(super) fn list(world: &World, input: &Map) -> Result<Map, Fault> {
    const MOST: usize = 100;

    let size = count_or(input, "pageSize", MOST);
    let after = optional_text(input, "nextToken");
    if let Some(token) = after
        && !CITIES.iter().any(|city| city.id == token)
    {
        let expected = "the `nextToken` of an earlier page";
        return Err(faults::invalid("nextToken", expected));
    }
    let mut rest = world
        .cities()
        .filter(|city| after.is_none_or(|after| city.id > after))
        .peekable();
    let page: Vec<&City> = rest.by_ref().take(size).collect();

    let summaries: Vec<Value> = page.iter().map(|city| summary(city)).collect();
    let mut output = Map::from_iter([("cities", summaries)]);
    if let (Some(last), Some(_)) = (page.last(), rest.peek()) {
        output.insert("nextToken", fixed(last.id));
    }
    Ok(output)
}

fn summary(city: &City) -> Value {
    Map::from_iter([
        ("cityId", fixed(city.id)),
        ("name", fixed(city.name)),
        ("climate", fixed(city.climate)),
    ])
    .into()
}

/// `DeleteCity`. Deleting a city again succeeds too: the caller may repeat the call because the
/// first response was lost.
pub(super) fn delete(world: &World, input: &Map) -> Result<Map, Fault> {
    let id = text(input, "cityId");
    if world.forget(id) {
        Ok(Map::new())
    } else {
        Err(faults::no_such_resource("city", id))
    }
}
