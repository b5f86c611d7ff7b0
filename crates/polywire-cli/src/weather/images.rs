//! `GetStationImage`.

use polywire::prelude::*;

use super::input::{optional_timestamp, text};
use super::output::fixed_map;
use super::world::World;
use super::{faults, png, stations};

/// The image in the example of the model: one half transparent green pixel.
const ONE_PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, // the signature
    0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, // IHDR: 1 by 1, RGBA
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, //
    0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4, 0x89, //
    0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, // IDAT
    0x78, 0xda, 0x63, 0x64, 0xf8, 0xcf, 0x50, 0x0f, 0x00, //
    0x03, 0x86, 0x01, 0x80, 0x5a, 0x34, 0x7d, 0x6b, //
    0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, // IEND
    0xae, 0x42, 0x60, 0x82,
];

/// The images with more than one pixel.
const WIDTH: u16 = 16;
const HEIGHT: u16 = 9;

/// `GetStationImage`. Callers that have the latest image get `NoSuchResource`: the output must
/// contain an image, so there is no equivalent of status 304.
/// response with status 304 does.
pub(super) fn get(_: &World, input: &Map) -> Result<Map, Fault> {
    let id = text(input, "stationId");
    let (_, station) = stations::find(id)?;
    let picture = &station.picture;
    if let Some(since) = optional_timestamp(input, "ifModifiedSince")
        && picture.taken <= since
    {
        let message = format!("station \"{id}\" has no picture after {since}");
        return Err(faults::no_resource("station", id, message));
    }
    let (width, height, image) = match picture.colours {
        None => (1, 1, Blob::from_static(ONE_PIXEL)),
        Some((top, bottom)) => {
            let image = png::gradient(WIDTH, HEIGHT, top, bottom);
            (WIDTH, HEIGHT, Blob::from(image))
        }
    };
    Ok(Map::from_iter([
        ("width", Value::from(width)),
        ("height", Value::from(height)),
        ("takenAt", picture.taken.into()),
        ("metadata", fixed_map(picture.metadata)),
        ("image", image.into()),
    ]))
}
