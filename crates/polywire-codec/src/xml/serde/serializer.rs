//! Writing values as elements.

use polywire_schema::Error;
use polywire_text::{base64, number};
use serde::ser::{Serialize, Serializer};

use super::TEXT;
use super::compound::{Items, Members};
use super::simple::{TextList, TextSerializer, push_float};
use super::writer::{XmlWriter, check_name, unwritable};

type Result<T> = std::result::Result<T, Error>;

/// The name of the root element of values whose type has none.
const ROOT: &str = "root";

/// What an element is to the element around it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    /// The root: named like its type or variant.
    Root,
    /// A field of a structure: `None` omits it.
    Field,
    /// An entry of a map, or the data of a variant: not left out.
    Entry,
    /// An item of a list that is a field.
    Item,
    /// A `$value` field: named like its type or variant, or text.
    Content,
    /// An item of a list that is a `$value` field.
    ContentItem,
}

impl Role {
    /// Whether the name of the element is that of the type or variant.
    const fn is_named_by_type(self) -> bool {
        matches!(self, Self::Root | Self::Content | Self::ContentItem)
    }

    /// Whether a list is written as text, since repeated elements are another list.
    const fn has_text_lists(self) -> bool {
        matches!(self, Self::Root | Self::Item | Self::ContentItem)
    }
}

/// A writer of the next value.
pub(super) struct ElementSerializer<'w, 'n> {
    pub(super) writer: &'w mut XmlWriter,
    pub(super) role: Role,
    /// The name of the element. Not checked if the type gives it.
    pub(super) name: Option<&'n str>,
}

#[cold]
fn no_name() -> Error {
    unwritable("a structure or variant, which gives the element its name".to_owned())
}

#[cold]
fn no_value() -> Error {
    unwritable("a value that is an element or text".to_owned())
}

impl<'w, 'n> ElementSerializer<'w, 'n> {
    pub(super) fn root(writer: &'w mut XmlWriter) -> Self {
        Self {
            writer,
            role: Role::Root,
            name: None,
        }
    }

    /// The name of the element, unless the type determines it.
    #[inline]
    fn element_name(&self) -> Option<&'n str> {
        match self.role {
            Role::Root => self.name.or(Some(ROOT)),
            _ => self.name,
        }
    }

    /// The name of the element of a type with this name.
    fn type_name(&self, name: &'static str) -> Result<&'n str> {
        match self.name {
            Some(name) => Ok(name),
            None => check_name(name).map(|()| name),
        }
    }

    #[inline]
    fn scalar(self, push: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.text(|writer| {
            push(&mut writer.out);
            Ok(())
        })
    }

    #[inline]
    fn text(self, write: impl FnOnce(&mut XmlWriter) -> Result<()>) -> Result<()> {
        let Some(name) = self.element_name() else {
            let start = self.writer.out.len();
            self.writer.content(|writer| write(writer).map(|()| true))?;
            return match self.role == Role::ContentItem && self.writer.out.len() == start {
                true => Err(no_value()),
                false => Ok(()),
            };
        };
        self.writer.open(name);
        write(self.writer)?;
        self.writer.close(name);
        Ok(())
    }

    /// Writes values with white space between them.
    fn text_list(self, name: Option<&str>) -> Items<'w, 'n> {
        if let Some(name) = name {
            self.writer.open(name);
        }
        Items::Text(TextList {
            writer: self.writer,
            is_attribute: false,
            is_first: true,
            close: name.map(str::to_owned),
        })
    }

    /// The name around an element that is named like a variant, if there is one.
    fn around_variant(&self, variant: &'static str) -> Result<Option<&'n str>> {
        check_name(variant)?;
        Ok(match self.role.is_named_by_type() {
            true => None,
            false => self.name,
        })
    }
}

macro_rules! element_scalars {
    ($($method:ident($type:ty) $value:ident $out:ident => $push:expr;)*) => {
        $(
            #[inline]
            fn $method(self, $value: $type) -> Result<()> {
                self.scalar(|$out| $push)
            }
        )*
    };
}

impl<'w, 'n> Serializer for ElementSerializer<'w, 'n> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'w, 'n>;
    type SerializeTuple = Items<'w, 'n>;
    type SerializeTupleStruct = Items<'w, 'n>;
    type SerializeTupleVariant = Items<'w, 'n>;
    type SerializeMap = Members<'w, 'n>;
    type SerializeStruct = Members<'w, 'n>;
    type SerializeStructVariant = Members<'w, 'n>;

    element_scalars! {
        serialize_bool(bool) value out => out.extend_from_slice(if value { b"true" } else { b"false" });
        serialize_i8(i8) value out => number::push_i64(out, value.into());
        serialize_i16(i16) value out => number::push_i64(out, value.into());
        serialize_i32(i32) value out => number::push_i64(out, value.into());
        serialize_i64(i64) value out => number::push_i64(out, value);
        serialize_i128(i128) value out => out.extend_from_slice(value.to_string().as_bytes());
        serialize_u8(u8) value out => number::push_u64(out, value.into());
        serialize_u16(u16) value out => number::push_u64(out, value.into());
        serialize_u32(u32) value out => number::push_u64(out, value.into());
        serialize_u64(u64) value out => number::push_u64(out, value);
        serialize_u128(u128) value out => out.extend_from_slice(value.to_string().as_bytes());
        serialize_f32(f32) value out => push_float(out, value);
        serialize_f64(f64) value out => push_float(out, value);
        serialize_bytes(&[u8]) value out => base64::push(out, value);
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        self.text(|writer| writer.text(value))
    }

    fn serialize_none(self) -> Result<()> {
        match (self.role, self.element_name()) {
            (Role::Field | Role::Content, _) => Ok(()),
            (_, Some(name)) => {
                self.writer.nil(name);
                Ok(())
            }
            (_, None) => Err(no_value()),
        }
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        match self.element_name() {
            Some(name) => {
                self.writer.empty(name);
                Ok(())
            }
            None => Err(no_name()),
        }
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<()> {
        let name = self.type_name(name)?;
        self.writer.empty(name);
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        if !self.role.is_named_by_type() {
            let text = if variant == TEXT { "" } else { variant };
            return self.serialize_str(text);
        }
        if variant == TEXT && self.role == Role::Content {
            return Ok(());
        }
        check_name(variant)?;
        self.writer.empty(variant);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        if self.role == Role::Root && self.name.is_none() && !name.starts_with('$') {
            check_name(name)?;
            self.name = Some(name);
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        if variant == TEXT && matches!(self.role, Role::Content | Role::ContentItem) {
            return self.text(|writer| {
                let is_attribute = false;
                let in_list = false;
                value
                    .serialize(TextSerializer {
                        writer,
                        is_attribute,
                        in_list,
                    })
                    .map(|_| ())
            });
        }
        let around = self.around_variant(variant)?;
        if let Some(name) = around {
            self.writer.open(name);
        }
        let start = self.writer.out.len();
        value.serialize(ElementSerializer {
            writer: &mut *self.writer,
            role: match self.role.has_text_lists() && around.is_none() {
                true => Role::Item,
                false => Role::Entry,
            },
            name: Some(variant),
        })?;
        if self.writer.out.len() == start {
            return Err(empty_variant());
        }
        if let Some(name) = around {
            self.writer.close(name);
        }
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'w, 'n>> {
        let name = self.element_name();
        match self.role {
            Role::Root | Role::Item | Role::ContentItem => Ok(self.text_list(name)),
            Role::Content => Ok(Items::Content {
                writer: self.writer,
            }),
            Role::Field | Role::Entry => Ok(Items::Elements {
                name: name.unwrap_or(ROOT),
                writer: self.writer,
                around: None,
                is_variant: false,
                count: 0,
            }),
        }
    }

    fn serialize_tuple(self, len: usize) -> Result<Items<'w, 'n>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(mut self, name: &'static str, len: usize) -> Result<Items<'w, 'n>> {
        if self.role == Role::Root && self.name.is_none() {
            check_name(name)?;
            self.name = Some(name);
        }
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'w, 'n>> {
        if variant == TEXT && self.role == Role::Content {
            return Ok(self.text_list(None));
        }
        let around = self.around_variant(variant)?;
        if around.is_none() && self.role.has_text_lists() {
            return Ok(self.text_list(Some(variant)));
        }
        if let Some(name) = around {
            self.writer.open(name);
        }
        Ok(Items::Elements {
            writer: self.writer,
            name: variant,
            around,
            is_variant: true,
            count: 0,
        })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'w, 'n>> {
        match self.element_name() {
            Some(name) => Ok(Members::new(self.writer, name, None, true)),
            None => Err(no_name()),
        }
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members<'w, 'n>> {
        let name = self.type_name(name)?;
        Ok(Members::new(self.writer, name, None, false))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'w, 'n>> {
        let around = self.around_variant(variant)?;
        if let Some(name) = around {
            self.writer.open(name);
        }
        Ok(Members::new(self.writer, variant, around, false))
    }
}

#[cold]
pub(super) fn empty_variant() -> Error {
    unwritable("a value in a variant".to_owned())
}
