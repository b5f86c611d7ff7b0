//! `DescribeRegion`.

use polywire::prelude::*;

use super::faults;
use super::input::text;
use super::output::{Place, fixed};
use super::world::World;

/// A region, which may contain other regions.
#[derive(Debug)]
struct Region {
    /// Its segment of the path.
    key: &'static str,
    name: &'static str,
    center: Option<Place>,
    cities: &'static [&'static str],
    parts: &'static [Region],
}

const fn region(key: &'static str, name: &'static str) -> Region {
    Region {
        key,
        name,
        center: None,
        cities: &[],
        parts: &[],
    }
}

const fn center(latitude: f64, longitude: f64) -> Option<Place> {
    Some(Place {
        latitude,
        longitude,
    })
}

static REGIONS: &[Region] = &[
    Region {
        center: center(34.0, 100.0),
        parts: &[Region {
            center: center(36.0, 138.0),
            parts: &[
                Region {
                    parts: &[Region {
                        cities: &["kyoto"],
                        ..region("kyoto", "Kyoto Prefecture")
                    }],
                    ..region("kansai", "Kansai")
                },
                region("kanto", "Kantō"),
            ],
            ..region("japan", "Japan")
        }],
        ..region("asia", "Asia")
    },
    Region {
        center: center(54.5, 15.25),
        parts: &[
            region("iceland", "Iceland"),
            Region {
                center: center(61.0, 8.5),
                parts: &[Region {
                    cities: &["oslo"],
                    ..region("eastern", "Eastern Norway")
                }],
                ..region("norway", "Norway")
            },
        ],
        ..region("europe", "Europe")
    },
    Region {
        center: center(-15.0, -60.0),
        parts: &[Region {
            center: center(-1.5, -78.5),
            parts: &[
                Region {
                    cities: &["quito"],
                    ..region("sierra", "Sierra")
                },
                region("galapagos", "Galápagos"),
            ],
            ..region("ecuador", "Ecuador")
        }],
        ..region("south-america", "South America")
    },
];

/// `DescribeRegion`: returns the region at the end of a path such as `europe/norway`, with all
/// regions in it.
pub(super) fn describe(world: &World, input: &Map) -> Result<Map, Fault> {
    let path = text(input, "path");
    let region = find(path).ok_or_else(|| faults::no_such_resource("region", path))?;
    Ok(Map::from_iter([
        ("region", whole(region, world)),
        ("depth", depth(region).into()),
    ]))
}

fn find(path: &str) -> Option<&'static Region> {
    let mut parts = REGIONS;
    let mut found = None;
    for key in path.split('/') {
        let region = parts.iter().find(|region| region.key == key)?;
        parts = region.parts;
        found = Some(region);
    }
    found
}

/// Returns a region with its subregions. Omits deleted cities.
fn whole(region: &Region, world: &World) -> Value {
    let is_known = |id: &&str| world.cities().any(|city| city.id == *id);
    let cities = region.cities.iter().copied().filter(is_known).map(fixed);
    let parts = region.parts.iter().map(|part| whole(part, world));
    let mut map = Map::from_iter([("name", fixed(region.name))]);
    if let Some(center) = region.center {
        map.insert("center", center);
    }
    map.insert("cities", cities.collect::<Vec<_>>());
    map.insert("parts", parts.collect::<Vec<_>>());
    map.into()
}

/// Returns the number of levels of a region, including itself.
fn depth(region: &Region) -> i32 {
    1 + region.parts.iter().map(depth).max().unwrap_or(0)
}
