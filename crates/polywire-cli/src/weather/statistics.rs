//! `GetStatistics`.

use polywire::prelude::*;
use polywire::schema::{BigDecimal, BigInteger};

use super::cities::City;
use super::input::{optional_integer, text};
use super::output::{fixed, fixed_list, fixed_map};
use super::world::{THIS_YEAR, World};

/// The first year with data.
const FIRST_YEAR: i64 = 1900;
/// The maximum number of observations and storms in the notes on the current year.
const NOTED: usize = 5;

/// `GetStatistics`. The year 2025 of Oslo is that of the model's example. Other years are derived
/// deterministically from the city's typical year. Years before 1900 and future years have no data.
/// The current year is incomplete and includes data stored by callers.
pub(super) fn get(world: &World, input: &Map) -> Result<Map, Fault> {
    let city = world.city(text(input, "cityId"))?;
    let year = optional_integer(input, "year").unwrap_or_default();
    let mut output = Map::from_iter([("cityId", fixed(city.id)), ("year", year.into())]);
    output.extend(match (city.id, year) {
        ("oslo", 2025) => oslo_2025(),
        (_, FIRST_YEAR..=THIS_YEAR) => Year { city, year }.made_up(world),
        _ => Map::from_iter([("observations", 0)]),
    });
    Ok(output)
}

/// Returns the output in the example of the model.
fn oslo_2025() -> Map {
    let rain = [("2025-01", 54.5), ("2025-02", 48.0), ("2025-03", 41.25)];
    let gaps = fixed_map(&[("february", "sensor under snow")]);
    let notes = [
        ("reviewed", Value::from(true)),
        ("authors", fixed_list(&["Ada", "Grace"])),
        ("gaps", gaps),
    ];
    Map::from_iter([
        ("observations", Value::from(4_294_967_296_i64)),
        (
            "rainfallLitres",
            litres(123_456_789_012_345_678_901_234_567_890),
        ),
        ("meanTemperature", thousandths(7_125)),
        ("rainfallByMonth", Map::from_iter(rain).into()),
        (
            "extremes",
            Value::from(Map::from_iter([
                ("coldest", extreme("2025-01-12T06:00:00Z", -17.5)),
                ("warmest", extreme("2025-07-20T14:00:00Z", 31.0)),
            ])),
        ),
        ("notes", Map::from_iter(notes).into()),
    ])
}

/// A year of a city.
#[derive(Clone, Copy)]
struct Year {
    city: &'static City,
    year: i64,
}

impl Year {
    fn made_up(self, world: &World) -> Map {
        let rain: Vec<Option<u32>> = (1..=12).map(|month| self.rain(month)).collect();
        let total: u128 = rain.iter().flatten().map(|rain| u128::from(*rain)).sum();
        let by_month = rain.iter().zip(1..).map(|(rain, month)| {
            let millimetres = rain.map(|quarters| f64::from(quarters) / 4.0);
            (format!("{:04}-{month:02}", self.year), millimetres)
        });

        let (coldest, warmest) = self.city.extremes;
        let shift = self.vary(20, 9) as f32 * 0.5 - 2.0;
        let day = |salt| self.vary(salt, 28) + 1;
        let coldest_at = format!("{:04}-01-{:02}T06:00:00Z", self.year, day(21));
        let warmest_at = format!("{:04}-07-{:02}T14:00:00Z", self.year, day(22));

        let filed = world.observations().of(self.city.id, self.year).count();
        let observations = (1 << 32) + self.vary(23, 1 << 20) as i64 + filed as i64;
        let mean = self.city.mean + self.vary(24, 8) as u32 * 125;
        Map::from_iter([
            ("observations", Value::from(observations)),
            ("rainfallLitres", litres(total * LITRES)),
            ("meanTemperature", thousandths(mean)),
            ("rainfallByMonth", by_month.collect::<Map>().into()),
            (
                "extremes",
                Value::from(Map::from_iter([
                    ("coldest", extreme(&coldest_at, coldest + shift)),
                    ("warmest", extreme(&warmest_at, warmest + shift)),
                ])),
            ),
            ("notes", self.notes(world)),
        ])
    }

    /// Returns the rain of a month in quarters of a millimetre. `None` if it was not measured: one
    /// month of each year, and the last two of the current year.
    fn rain(self, month: u64) -> Option<u32> {
        let is_gap = month == self.gap();
        let is_to_come = self.year == THIS_YEAR && month > 10;
        let typical = u64::from(self.city.rain[month as usize - 1]);
        // Between half and one and a half times the typical amount.
        let rain = typical / 2 + self.vary(month, typical + 1);
        (!is_gap && !is_to_come).then_some(rain as u32)
    }

    /// Returns the month without measurement.
    fn gap(self) -> u64 {
        self.vary(0, 12) + 1
    }

    /// Returns notes on the year. The notes are a document, so their members differ between the
    /// current year and earlier years.
    fn notes(self, world: &World) -> Value {
        const MONTHS: [&str; 12] = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        let gap = MONTHS[self.gap() as usize - 1];
        let mut notes = Map::from_iter([
            ("reviewed", Value::from(self.year < THIS_YEAR)),
            ("gaps", fixed_map(&[(gap, "out of order")])),
        ]);
        if self.year == THIS_YEAR {
            let observations = world.observations();
            let latest = observations.of(self.city.id, self.year).take(NOTED);
            let latest = latest.map(|own| {
                Value::from(Map::from_iter([
                    ("observationId", Value::from(own.id)),
                    ("stationId", fixed(own.station.id)),
                    ("observedAt", own.observed.to_string().into()),
                ]))
            });
            notes.insert("latest", latest.collect::<Vec<_>>());
            drop(observations);
            let storms = world.storms();
            let over = storms.over(self.city.id).take(NOTED);
            notes.insert(
                "storms",
                over.map(|storm| storm.noted()).collect::<Vec<_>>(),
            );
        }
        notes.into()
    }

    /// Returns a pseudo-random number below `bound` that depends only on the city, the year and a
    /// salt (FNV-1a).
    fn vary(self, salt: u64, bound: u64) -> u64 {
        let year = self.year.to_le_bytes();
        let bytes = self.city.id.bytes().chain(year).chain(salt.to_le_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // The upper half is mixed better.
        (hash >> 32) % bound
    }
}

/// The litres of a quarter of a millimetre of rain on a city. Unrealistically large, so that the
/// big integer needs more than 64 bits.
const LITRES: u128 = 30_864_197_253_086_419_725_308_641;

fn litres(count: u128) -> Value {
    let count = count.to_string().parse::<BigInteger>();
    count.map_or(Value::Null, Value::from)
}

fn thousandths(count: u32) -> Value {
    let number = format!("{}.{:03}", count / 1000, count % 1000);
    let number = number.parse::<BigDecimal>();
    number.map_or(Value::Null, Value::from)
}

fn extreme(at: &str, value: f32) -> Value {
    let at = Timestamp::parse_date_time(at).unwrap_or_default();
    Map::from_iter([("at", Value::from(at)), ("value", value.into())]).into()
}
