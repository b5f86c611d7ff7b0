//! Constructors for outputs.

use polywire::prelude::*;

/// Wraps a static string without allocating.
pub(super) fn fixed(text: &'static str) -> Value {
    Value::String(Text::from_static(text))
}

/// Returns a list of static strings.
pub(super) fn fixed_list(texts: &[&'static str]) -> Value {
    texts.iter().copied().map(fixed).collect::<Vec<_>>().into()
}

/// Returns a map of static strings.
pub(super) fn fixed_map(entries: &[(&'static str, &'static str)]) -> Value {
    let entries = entries.iter().map(|(key, value)| (*key, fixed(value)));
    Value::Map(entries.collect())
}

/// Returns `Coordinates`, in degrees.
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
