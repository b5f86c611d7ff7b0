//! Writing what is in arrays and structs.

use polywire_schema::serde_names::NUMBER_KEY;
use polywire_schema::{Encoder, Error, Member};
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::part::Part;
use super::ser::{Writer, Written};
use crate::xmlrpc::XmlRpcEncoder;

/// The items of an array.
pub(super) struct Items<'a> {
    pub(super) encoder: &'a mut XmlRpcEncoder,
    /// Whether they are the content of a variant, in a struct of its own.
    pub(super) variant: bool,
}

impl Items<'_> {
    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        // Kept: a type may go on as if nothing had happened, and what it makes is no message.
        match value.serialize(Writer::new(self.encoder)) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.encoder.failed(error)),
        }
    }

    #[inline]
    fn finish(self) -> Result<Written, Error> {
        self.encoder.end_list(Member::DOCUMENT);
        if self.variant {
            self.encoder.end_map(Member::DOCUMENT);
        }
        Ok(true)
    }
}

impl SerializeSeq for Items<'_> {
    type Ok = Written;
    type Error = Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    #[inline]
    fn end(self) -> Result<Written, Error> {
        self.finish()
    }
}

impl SerializeTuple for Items<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<Written, Error> {
        self.finish()
    }
}

impl SerializeTupleStruct for Items<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<Written, Error> {
        self.finish()
    }
}

impl SerializeTupleVariant for Items<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<Written, Error> {
        self.finish()
    }
}

/// The members of a struct.
pub(super) struct Entries<'a> {
    pub(super) encoder: &'a mut XmlRpcEncoder,
    pub(super) of: Of,
}

/// What members are of.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Of {
    /// A struct.
    Structure,
    /// A struct that is the content of a variant, in a struct of its own.
    Variant,
    /// A number of serde_json, whose digits are the only member.
    Number,
}

impl Entries<'_> {
    /// Writes a member, or nothing if its value is `None`.
    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        let mark = self.encoder.mark();
        self.encoder.key(Member::DOCUMENT, name);
        match value.serialize(Writer::of_member(self.encoder)) {
            Ok(true) => {}
            Ok(false) => self.encoder.back_to(mark),
            Err(error) => return Err(self.encoder.failed(error)),
        }
        Ok(())
    }

    #[inline]
    fn finish(self) -> Written {
        if self.of != Of::Number {
            self.encoder.end_map(Member::DOCUMENT);
        }
        if self.of == Of::Variant {
            self.encoder.end_map(Member::DOCUMENT);
        }
        true
    }
}

impl SerializeMap for Entries<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        match key.serialize(Part::Key(self.encoder)) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.encoder.failed(error)),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        match value.serialize(Writer::new(self.encoder)) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.encoder.failed(error)),
        }
    }

    fn end(self) -> Result<Written, Error> {
        Ok(self.finish())
    }
}

impl SerializeStruct for Entries<'_> {
    type Ok = Written;
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        // The name first: the compiler knows it, so that nothing is left of this elsewhere.
        if name == NUMBER_KEY && self.of == Of::Number {
            return value.serialize(Part::Digits(self.encoder)).map(|_| ());
        }
        self.member(name, value)
    }

    #[inline]
    fn end(self) -> Result<Written, Error> {
        Ok(self.finish())
    }
}

impl SerializeStructVariant for Entries<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.member(name, value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(self.finish())
    }
}
