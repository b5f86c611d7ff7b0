//! Writing lists, structures and maps.

use polywire_schema::Error;
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::serializer::{ElementSerializer, Role, empty_variant};
use super::simple::{TextList, TextSerializer};
use super::writer::{XmlWriter, check_key, check_name, unwritable};
use super::{TEXT, VALUE};
use crate::serde::Capture;

type Result<T> = std::result::Result<T, Error>;

/// A list that is being written.
pub(super) enum Items<'w, 'n> {
    /// Elements of one name.
    Elements {
        writer: &'w mut XmlWriter,
        name: &'n str,
        /// The element around the variant that the list is.
        around: Option<&'n str>,
        is_variant: bool,
        count: usize,
    },
    /// A `$value` field.
    Content {
        writer: &'w mut XmlWriter,
    },
    Text(TextList<'w>),
}

impl Items<'_, '_> {
    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let (writer, role, name) = match self {
            Self::Elements {
                writer,
                name,
                count,
                ..
            } => {
                *count += 1;
                (writer, Role::Item, Some(*name))
            }
            Self::Content { writer } => (writer, Role::ContentItem, None),
            Self::Text(list) => return list.item(value),
        };
        let result = value.serialize(ElementSerializer { writer, role, name });
        writer.keep(result)
    }

    #[inline]
    fn finish(self) -> Result<()> {
        match self {
            Self::Elements {
                is_variant: true,
                count: 0,
                ..
            } => Err(empty_variant()),
            Self::Elements {
                writer,
                around: Some(name),
                ..
            } => {
                writer.close(name);
                Ok(())
            }
            Self::Text(list) => {
                list.finish();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

macro_rules! items {
    ($($name:ident $method:ident)*) => {
        $(impl $name for Items<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.item(value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

/// A structure or map that is being written.
pub(super) struct Members<'w, 'n> {
    writer: &'w mut XmlWriter,
    name: &'n str,
    /// The element around the variant that the structure is.
    around: Option<&'n str>,
    /// Whether the start tag has no `>` yet.
    is_open: bool,
    /// Where its `>` is, once it has one.
    tag_end: usize,
    /// The attributes that a type writes after elements.
    late: Vec<u8>,
    /// The names of the attributes of a map, of which each may come once. A structure has
    /// each once.
    attributes: Option<Vec<String>>,
    /// The key of the entry whose value comes next.
    key: String,
}

impl<'w, 'n> Members<'w, 'n> {
    #[inline]
    pub(super) fn new(
        writer: &'w mut XmlWriter,
        name: &'n str,
        around: Option<&'n str>,
        is_map: bool,
    ) -> Self {
        writer.out.push(b'<');
        writer.out.extend_from_slice(name.as_bytes());
        Self {
            writer,
            name,
            around,
            is_open: true,
            tag_end: 0,
            late: Vec::new(),
            attributes: is_map.then(Vec::new),
            key: String::new(),
        }
    }

    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<()> {
        let result = match name.as_bytes().first() {
            Some(b'@') => self.attribute(&name[1..], value),
            _ => self.child(name, value),
        };
        self.writer.keep(result)
    }

    #[inline]
    fn child<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<()> {
        let tag_end = self.writer.out.len();
        if self.is_open {
            self.writer.out.push(b'>');
        }
        let start = self.writer.out.len();
        let writer = &mut *self.writer;
        match name {
            TEXT => {
                let write = |writer: &mut XmlWriter| {
                    value.serialize(TextSerializer {
                        writer,
                        is_attribute: false,
                        in_list: false,
                    })
                };
                writer.content(write)?;
            }
            VALUE => value.serialize(ElementSerializer {
                writer,
                role: Role::Content,
                name: None,
            })?,
            _ => {
                check_name(name)?;
                let role = match self.attributes {
                    Some(_) => Role::Entry,
                    None => Role::Field,
                };
                value.serialize(ElementSerializer {
                    writer,
                    role,
                    name: Some(name),
                })?;
            }
        }
        if self.is_open {
            if self.writer.out.len() == start {
                self.writer.out.pop();
            } else {
                self.tag_end = tag_end;
                self.is_open = false;
            }
        }
        Ok(())
    }

    fn attribute<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<()> {
        check_name(name)?;
        if let Some(attributes) = &mut self.attributes {
            if attributes.iter().any(|own| own == name) {
                return Err(unwritable("each attribute once".to_owned()));
            }
            attributes.push(name.to_owned());
        }
        let out = &mut self.writer.out;
        let start = out.len();
        out.push(b' ');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"=\"");
        let is_there = value.serialize(TextSerializer {
            writer: self.writer,
            is_attribute: true,
            in_list: false,
        })?;
        let out = &mut self.writer.out;
        out.push(b'"');
        if !is_there {
            out.truncate(start);
        } else if !self.is_open {
            self.late.extend_from_slice(&out[start..]);
            out.truncate(start);
        }
        Ok(())
    }

    #[inline]
    fn finish(mut self) -> Result<()> {
        if self.is_open {
            self.writer.out.extend_from_slice(b"/>");
        } else {
            self.writer.close(self.name);
            if !self.late.is_empty() {
                self.insert_late();
            }
        }
        if let Some(name) = self.around {
            self.writer.close(name);
        }
        Ok(())
    }

    #[cold]
    fn insert_late(&mut self) {
        let at = self.tag_end..self.tag_end;
        self.writer.out.splice(at, self.late.drain(..));
    }
}

macro_rules! members {
    ($($name:ident)*) => {
        $(impl $name for Members<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<()> {
                self.member(name, value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

members! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Members<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let own = &mut self.key;
        own.clear();
        let result = key.serialize(Capture::new(|key: &str| own.push_str(key)));
        let result = result.map_err(|error| error.in_format("XML"));
        self.writer.keep(result.and_then(|()| check_key(own)))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let key = std::mem::take(&mut self.key);
        let result = self.member(&key, value);
        self.key = key;
        result
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}
