//! Types of serde in XML, with the conventions of quick-xml: see the [parent](super).

mod compound;
mod element;
mod items;
mod members;
mod reader;
mod serializer;
mod simple;
mod text;
mod writer;

use polywire_schema::Error;
use serde::{Deserialize, Serialize};

use element::ElementDeserializer;
use reader::Reader;
use serializer::ElementSerializer;
use writer::XmlWriter;

/// The name of the field that is the character data of its element.
const TEXT: &str = "$text";
/// The name of the field that is any element, or the character data.
const VALUE: &str = "$value";

pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let mut reader = Reader::new(bytes)?;
    let start = reader.cursor.at;
    let value = T::deserialize(ElementDeserializer::root(&mut reader));
    let value = reader.at(value, start)?;
    reader.finish()?;
    Ok(value)
}

pub(super) fn read_text<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    read(text.as_bytes())
}

pub(super) fn write<T: Serialize + ?Sized>(value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut writer = XmlWriter::new(out);
    let result = value.serialize(ElementSerializer::root(&mut writer));
    writer.keep(result)?;
    writer.finish()
}
