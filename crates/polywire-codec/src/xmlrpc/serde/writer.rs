//! Writes serde types.

use polywire_schema::serde_names::{BLOB, TIMESTAMP, number_of_digits};
use polywire_schema::{Encode as _, Encoder as _, Error, Member};
use serde::Serialize;

use crate::serde::{BlobContent, Capture, Role, SerdeWriter, ValueSerializer, parse};
use crate::xmlrpc::XmlRpcEncoder;

/// The role of the value of a member. The member begins at `start`, and is removed if the value is
/// `None`.
struct OptionalMember {
    start: usize,
}

impl Role<XmlRpcEncoder> for OptionalMember {
    fn none(self, writer: &mut XmlRpcEncoder) {
        writer.out.truncate(self.start);
    }
}

impl SerdeWriter for XmlRpcEncoder {
    const FORMAT: &'static str = "XML-RPC";
    const HUMAN_READABLE: bool = true;
    /// XML-RPC does not contain the number of elements.
    const CHECKS_COUNT: bool = false;

    #[inline]
    fn unsigned(&mut self, value: u64) -> Result<(), Error> {
        match i64::try_from(value) {
            Ok(value) => self.integer(Member::DOCUMENT, value),
            Err(_) => return Err(self.too_large(&value)),
        }
        Ok(())
    }

    fn digits(&mut self, digits: &str) -> Result<(), Error> {
        match number_of_digits(digits) {
            Some(number) => number.encode(Member::DOCUMENT, self),
            None => return Err(self.unwritable("the digits of a number".to_owned())),
        }
        Ok(())
    }

    fn wide_signed(&mut self, value: i128) -> Result<(), Error> {
        Err(self.too_large(&value))
    }

    fn wide_unsigned(&mut self, value: u128) -> Result<(), Error> {
        Err(self.too_large(&value))
    }

    #[inline]
    fn len(&self) -> usize {
        self.out.len()
    }

    #[inline]
    fn begin(&mut self, is_map: bool, len: Option<usize>) {
        let len = len.unwrap_or_default();
        match is_map {
            true => self.begin_map(Member::DOCUMENT, len),
            false => self.begin_list(Member::DOCUMENT, len),
        }
    }

    #[inline]
    fn end(&mut self, is_map: bool, _: usize, _: Option<usize>, _: usize) {
        match is_map {
            true => self.end_map(Member::DOCUMENT),
            false => self.end_list(Member::DOCUMENT),
        }
    }

    #[inline]
    fn map_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        key.serialize(Capture::new(|key: &str| self.key(Member::DOCUMENT, key)))
    }

    /// Writes a member. Omits it if its value is `None`.
    #[inline]
    fn member<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let start = self.out.len();
        self.key(Member::DOCUMENT, name);
        value.serialize(ValueSerializer::with_role(self, OptionalMember { start }))
    }

    fn reserved_newtype<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        match name {
            BLOB => value.serialize(ValueSerializer::with_role(self, BlobContent)),
            TIMESTAMP => {
                let value = parse(self, value)?;
                self.timestamp(Member::DOCUMENT, value);
                Ok(())
            }
            _ => value.serialize(ValueSerializer::new(self)),
        }
    }
}

impl XmlRpcEncoder {
    #[cold]
    fn too_large(&self, value: &dyn std::fmt::Display) -> Error {
        let error = self.unwritable("an integer of 64 bits".to_owned());
        error.found(value.to_string())
    }
}
