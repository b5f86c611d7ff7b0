//! Structures of the model as JSON: member names, times as RFC 3339, blobs in base64.

use polywire_codec::json::{self, JsonDecoder, JsonEncoder, JsonProfile};
use polywire_schema::{
    Encode, Error, Limits, Map, Rules, Schema, Value, complete_structure, decode_structure,
};

/// A structure as a JSON value.
///
/// # Errors
///
/// The structure does not fit its schema.
pub(crate) fn value(map: &Map, shape: Schema<'_>) -> Result<Value, Error> {
    let text = text(map, shape)?;
    json::read_value(&String::from_utf8_lossy(&text))
}

/// A structure as JSON text.
pub(crate) fn text(map: &Map, shape: Schema<'_>) -> Result<Vec<u8>, Error> {
    let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
    map.encode(shape.root(), &mut encoder);
    encoder.finish()
}

/// Reads a structure. Unknown members are errors, and missing required members are if `is_whole`.
///
/// # Errors
///
/// The value does not fit the schema.
pub(crate) fn structure(value: &Value, shape: Schema<'_>, is_whole: bool) -> Result<Map, Error> {
    let text = json::write_value(value)?;
    let text = String::from_utf8_lossy(&text);
    let mut profile = JsonProfile::HUMAN;
    if is_whole {
        let mut rules = Rules::SERVER;
        rules.defaults = JsonProfile::HUMAN.rules.defaults;
        profile = profile.with_rules(rules);
    }
    let mut map = Map::new();
    let mut decoder = JsonDecoder::from_str(&text, profile, &Limits::DEFAULT)?;
    decode_structure(&mut map, shape.root(), &mut decoder)?;
    complete_structure(&mut map, shape.root(), &mut decoder)?;
    decoder.finish()?;
    Ok(map.into_owned())
}
