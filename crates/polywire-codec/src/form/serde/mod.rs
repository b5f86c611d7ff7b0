//! serde for forms. See the [parent module](super).

mod access;
mod compound;
mod key;
mod pairs;
mod reader;
mod scalar;
mod serializer;
mod top;
mod value;
mod writer;

use polywire_schema::Error;
use serde::{Deserialize, Serialize};

use reader::Reader;
use serializer::FormSerializer;
use top::FormDeserializer;
use writer::FormWriter;

pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let mut reader = Reader::new(bytes)?;
    let value = T::deserialize(FormDeserializer(&mut reader));
    let value = reader.with_position(value, None)?;
    reader.finish()?;
    Ok(value)
}

pub(super) fn read_text<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    read(text.as_bytes())
}

pub(super) fn write<T: Serialize + ?Sized>(value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut writer = FormWriter::new(out);
    let result = value.serialize(FormSerializer(&mut writer));
    writer.keep(result)?;
    writer.finish()
}
