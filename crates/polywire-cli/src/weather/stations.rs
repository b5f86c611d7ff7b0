//! The weather stations.

use polywire::prelude::*;

use super::faults;
use super::output::{Place, fixed};

/// The data of a station.
#[derive(Debug)]
pub(super) struct Station {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// Its name in other languages.
    pub(super) local_names: &'static [(&'static str, &'static str)],
    pub(super) kind: &'static str,
    pub(super) elevation: i16,
    pub(super) place: Place,
    pub(super) active: bool,
    /// The city of its measurements.
    pub(super) city: &'static str,
    /// The time of its latest observation in the initial data.
    pub(super) reported: Timestamp,
    /// Additional properties for searches.
    pub(super) properties: &'static [(&'static str, &'static [&'static str])],
    pub(super) picture: Picture,
}

/// The latest image of a station.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) taken: Timestamp,
    pub(super) metadata: &'static [(&'static str, &'static str)],
    /// The colours of the sky at the top and at the horizon. `None` for the image with one pixel in
    /// the example of the model.
    pub(super) colours: Option<([u8; 3], [u8; 3])>,
}

/// A quarter of an hour before the fixed time of this service.
const QUARTER_TO: Timestamp = Timestamp::new(1_793_533_500, 0);
/// One day before the fixed time of this service.
const YESTERDAY: Timestamp = Timestamp::new(1_793_448_000, 0);

/// All stations, sorted by identifier. Do not add more: the examples of `SearchStations` contain
/// the number of stations.
pub(super) static STATIONS: [Station; 3] = [
    Station {
        id: "kyoto-nakagyo",
        name: "Kyoto Nakagyō",
        local_names: &[("ja", "京都中京")],
        kind: "automatic",
        elevation: 41,
        place: Place {
            latitude: 35.0139,
            longitude: 135.7317,
        },
        active: true,
        city: "kyoto",
        reported: QUARTER_TO,
        properties: &[("owner", &["jma"]), ("sensor", &["rain", "temperature"])],
        picture: Picture {
            taken: QUARTER_TO,
            metadata: &[("camera", "roof"), ("exposure", "1/500")],
            colours: Some(([0x4a, 0x90, 0xd9], [0xf5, 0xe6, 0xca])),
        },
    },
    Station {
        id: "oslo-blindern",
        name: "Oslo Blindern",
        local_names: &[],
        kind: "manned",
        elevation: 94,
        place: Place {
            latitude: 59.9423,
            longitude: 10.72,
        },
        active: true,
        city: "oslo",
        reported: QUARTER_TO,
        properties: &[
            ("owner", &["met"]),
            ("sensor", &["rain", "snow", "temperature", "wind"]),
        ],
        picture: Picture {
            taken: QUARTER_TO,
            metadata: &[("camera", "north"), ("exposure", "1/250")],
            colours: None,
        },
    },
    Station {
        id: "quito-inaquito",
        name: "Quito Iñaquito",
        local_names: &[],
        kind: "automatic",
        elevation: 2789,
        place: Place {
            latitude: -0.175,
            longitude: -78.4853,
        },
        active: false,
        city: "quito",
        reported: YESTERDAY,
        properties: &[("owner", &["inamhi"]), ("sensor", &["rain", "wind"])],
        picture: Picture {
            taken: YESTERDAY,
            metadata: &[("camera", "east"), ("exposure", "1/125")],
            colours: Some(([0x5b, 0x6b, 0x7b], [0xc9, 0xd1, 0xd6])),
        },
    },
];

/// Returns the station with this identifier and its index in [`STATIONS`], or the modelled error.
pub(super) fn find(id: &str) -> Result<(usize, &'static Station), Fault> {
    let mut stations = STATIONS.iter().enumerate();
    let found = stations.find(|(_, station)| station.id == id);
    found.ok_or_else(|| faults::no_such_resource("station", id))
}

impl Station {
    /// Returns the name in the first of these languages in which the station has a name.
    pub(super) fn name_in<'l>(&self, mut languages: impl Iterator<Item = &'l str>) -> &'static str {
        let named = languages.find_map(|language| {
            let mut names = self.local_names.iter();
            names.find(|(own, _)| own.eq_ignore_ascii_case(language))
        });
        named.map_or(self.name, |(_, name)| name)
    }

    /// Returns the structure `Station` with a given name.
    pub(super) fn described(&self, name: &'static str) -> Value {
        Map::from_iter([
            ("stationId", fixed(self.id)),
            ("name", fixed(name)),
            ("kind", fixed(self.kind)),
            ("elevation", self.elevation.into()),
            ("coordinates", self.place.into()),
        ])
        .into()
    }
}
