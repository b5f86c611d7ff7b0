//! Writing outputs.

use polywire::prelude::*;

/// A string of the program: costs nothing, whatever its length.
pub(super) fn fixed(text: &'static str) -> Value {
    Value::String(Text::from_static(text))
}

/// A list of strings of the program.
pub(super) fn fixed_list(texts: &[&'static str]) -> Value {
    texts.iter().copied().map(fixed).collect::<Vec<_>>().into()
}

/// A map of strings of the program.
pub(super) fn fixed_map(entries: &[(&'static str, &'static str)]) -> Value {
    let entries = entries.iter().map(|(key, value)| (*key, fixed(value)));
    Value::Map(entries.collect())
}

/// A place on Earth, in degrees: `Coordinates`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

impl From<Place> for Value {
    fn from(place: Place) -> Self {
        Map::from_iter([("latitude", place.latitude), ("longitude", place.longitude)]).into()
    }
}
