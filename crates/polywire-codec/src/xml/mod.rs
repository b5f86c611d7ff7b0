//! XML with the bindings of Smithy: the bodies of restXml, and the responses of awsQuery and
//! ec2Query.
//!
//! <https://smithy.io/2.0/spec/protocol-traits.html#xml-bindings>
//!
//! Structures and unions are elements with a child element per member. A list is an element with
//! `member` elements, and a map an element with `entry` elements, each with a `key` and a `value`.
//! Flattened lists and maps have no element around their items. Blobs are base64. Timestamps are
//! RFC 3339, unless `@timestampFormat` selects another format. Floating-point numbers can be `NaN`,
//! `Infinity` and `-Infinity`. A null in a sparse list or map is an empty element with
//! `xsi:nil="true"`.
//!
//! The decoder accepts members in any order, items of a flattened list with other elements between
//! them, missing namespaces, any prefix, CDATA in text, and comments and processing instructions
//! anywhere. It skips unknown elements and attributes. It rejects what XML 1.0 forbids: invalid names,
//! declarations and processing instructions, tags that do not match, and content after the root
//! element. It also rejects document types, and all entities except the five of XML.
//!
//! ```
//! use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
//! use polywire_schema::{Decode, Encode, Limits, MemberSpec, SchemaBuilder, ShapeKind, Value};
//!
//! let mut builder = SchemaBuilder::new();
//! let string = builder.shape(ShapeKind::String, "smithy.api#String");
//! let city = builder.shape(ShapeKind::Structure, "example#City");
//! builder.member(city, MemberSpec::new("name", string));
//! let set = builder.finish()?;
//! let city = set.find_shape("example#City").unwrap().root();
//!
//! let text = "<City xmlns='http://example.com/'><name>Oslo &amp; Ski</name></City>";
//! let mut decoder = XmlDecoder::from_str(text, XmlProfile::DEFAULT, &Limits::DEFAULT)?;
//! let value = Value::decode(city, &mut decoder)?;
//! decoder.finish()?;
//! assert_eq!(value["name"].as_str(), Some("Oslo & Ski"));
//!
//! let mut encoder = XmlEncoder::new(XmlProfile::DEFAULT, Vec::new());
//! value.encode(city, &mut encoder);
//! assert_eq!(encoder.finish()?, b"<City><name>Oslo &amp; Ski</name></City>");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Types of serde
//!
//! With the feature `serde`, `from_str`, `to_string` and the functions beside them read
//! and write types of serde without a schema. The conventions are those of quick-xml:
//!
//! | type | XML |
//! |---|---|
//! | the root | an element with the name of the structure or variant, else `root`; any name is read |
//! | field `name` | a child element; its prefix is ignored, unless the name of a field has one |
//! | field `@name` | an attribute |
//! | field `$text` | the character data |
//! | field `$value` | any child element that is not another field, or the character data |
//! | list or tuple in a field | adjacent elements of the same name |
//! | list or tuple in `$value` | all child elements and texts, up to another field |
//! | list or tuple elsewhere | values with white space between them |
//! | map | child elements by name; `@name` and `$text` as in a structure |
//! | number, boolean | text; white space around it is ignored; booleans may be 1 and 0 |
//! | string, `char` | text as it is |
//! | bytes | base64 |
//! | `()`, unit structure | an empty element; any element is read |
//! | `None` | no element or attribute; in a list, a map or a variant, and at the root, `xsi:nil="true"` |
//! | unit variant | its name as text; in `$value` and at the root, an element of its name |
//! | other variant | an element of its name, in the element of the field if there is one |
//! | variant `$text` | text, in `$value` |
//!
//! ```
//! # #[cfg(feature = "serde")] {
//! use polywire_codec::xml;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, Deserialize, PartialEq, Serialize)]
//! struct City {
//!     #[serde(rename = "@id")]
//!     id: u32,
//!     name: String,
//!     #[serde(default)]
//!     station: Vec<String>,
//! }
//!
//! let text = r#"<City id="7"><name>Oslo</name><station>Majorstuen</station></City>"#;
//! let city: City = xml::from_str(text)?;
//! assert_eq!(city.station, ["Majorstuen"]);
//! assert_eq!(xml::to_string(&city)?, text);
//! # }
//! # Ok::<(), polywire_schema::Error>(())
//! ```
//!
//! Unknown elements and attributes are skipped. The elements of a list must be adjacent.
//! Attributes may be anywhere in the type. Declarations of namespaces are not written, but a
//! field `@xmlns` is.
//!
//! What differs from other formats:
//!
//! - An empty list has no elements, so its field is missing when it is read: it needs
//!   `#[serde(default)]`. In a map its key is lost.
//! - A `$text` field of an element without text is an empty string, an empty list or `None`;
//!   it is an error for a number. A `$value` field of an element without content is missing.
//! - Types that serde reads through a buffer get all scalars as strings: fields and maps that
//!   are flattened, variants of internally tagged enums, and untagged enums. Numbers,
//!   booleans and lists are not read there. An untagged enum takes the variant for strings.
//! - A structure with flattened fields has no `$value` field.
//!
//! The following are errors, because no well-formed document can contain them: a name that XML does
//! not allow; a key of a map, or a field of a structure with flattened fields, that has a prefix;
//! a character that XML cannot hold; an item of a list in text that is empty or has white
//! space in it; a list of structures at the root or in a list; a map in `$value`; two texts
//! without an element between them.

mod collections;
mod cursor;
mod decode;
mod encode;
mod encode_special;
mod locate;
mod members;
mod scalars;
#[cfg(feature = "serde")]
mod serde;
mod wrapper;

use polywire_schema::{Part, Rules, TimestampFormat};

pub use decode::XmlDecoder;
pub use encode::XmlEncoder;

/// Options of the XML format, which protocols set.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct XmlProfile<'n> {
    /// The format of timestamps without `@timestampFormat`.
    pub timestamp_format: TimestampFormat,
    /// `@xmlNamespace` of the service, prefix and URI. The encoder writes it on the root element if
    /// its shape has no namespace.
    pub namespace: Option<(Option<&'n str>, &'n str)>,
    /// The rules for nulls, missing members, other violations of the model, and defaults.
    pub rules: Rules,
    /// Which members of the root structure the document contains.
    pub part: Part,
    /// Whether an unknown element whose name differs from `message` only in case is read as the
    /// member `message`. Some services write errors with `<Message>`, although their models say
    /// `message`.
    pub any_case_message: bool,
    /// Whether the only member of the root structure is the root element
    /// (`aws.customizations#s3UnwrappedXmlOutput`).
    pub unwrapped: bool,
}

impl XmlProfile<'_> {
    /// RFC 3339 timestamps, no namespace, all defaults, complete structures. Nulls, names and
    /// required members are checked.
    pub const DEFAULT: Self = Self {
        timestamp_format: TimestampFormat::DateTime,
        namespace: None,
        rules: Rules::SERVER,
        part: Part::Whole,
        any_case_message: false,
        unwrapped: false,
    };
}

impl<'n> XmlProfile<'n> {
    /// Sets the form of timestamps without a trait.
    #[must_use]
    pub const fn with_timestamp_format(mut self, format: TimestampFormat) -> Self {
        self.timestamp_format = format;
        self
    }

    /// Sets the namespace of the root element: prefix and URI.
    #[must_use]
    pub const fn with_namespace<'m>(
        self,
        namespace: Option<(Option<&'m str>, &'m str)>,
    ) -> XmlProfile<'m> {
        XmlProfile {
            timestamp_format: self.timestamp_format,
            namespace,
            rules: self.rules,
            part: self.part,
            any_case_message: self.any_case_message,
            unwrapped: self.unwrapped,
        }
    }

    /// Sets how input that the model does not allow is treated.
    #[must_use]
    pub const fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Decodes as a client: skips nulls in lists and maps that are not sparse, and accepts any root
    /// element and missing required members.
    #[must_use]
    pub const fn for_client(self) -> Self {
        self.with_rules(Rules::CLIENT)
    }

    /// Sets which members of the root structure the document contains.
    #[must_use]
    pub const fn with_part(mut self, part: Part) -> Self {
        self.part = part;
        self
    }

    /// Sets whether the only member of the root structure is the root element.
    #[must_use]
    pub const fn with_unwrapped(mut self, unwrapped: bool) -> Self {
        self.unwrapped = unwrapped;
        self
    }
}

impl Default for XmlProfile<'_> {
    fn default() -> Self {
        XmlProfile::DEFAULT
    }
}

#[cfg(feature = "serde")]
crate::serde::functions!("XML");
#[cfg(feature = "serde")]
crate::serde::functions!(@text "XML");
