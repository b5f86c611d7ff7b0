//! Writes values in the canonical form of `docs/xmlrpc-mapping.md`.

use polywire_schema::{Defaults, Error, Member};
use polywire_text::escape::{Forbidden, XmlPlace};
use polywire_text::reference::{number, timestamp, xml};
use polywire_text::timestamp::Fraction;

use super::XmlRpcFormat;
use crate::reference::encode::{EncodeFormat, TreeEncoder, plain_text, unwritable};
use crate::reference::node::{Data, Element, Node};
use crate::xmlrpc::{ForbiddenText, Nil, Style, XmlRpcProfile};

/// The reference implementation of [`crate::xmlrpc::XmlRpcEncoder`], for one value.
pub type XmlRpcEncoder = TreeEncoder<XmlRpcFormat>;

impl XmlRpcEncoder {
    /// An encoder of one value.
    #[must_use]
    pub fn new(style: Style, defaults: Defaults) -> Self {
        let mut profile = XmlRpcProfile::DEFAULT;
        profile.rules.defaults = defaults;
        Self::of(XmlRpcFormat { profile, style })
    }
}

impl EncodeFormat for XmlRpcFormat {
    fn of_scalar(&self, _: Member<'_>, value: Data) -> Result<Data, Error> {
        let Data::Timestamp(value) = value else {
            return Ok(value);
        };
        if !(1..=9999).contains(&value.civil().year) {
            return Err(unwritable("a year from 0001 to 9999"));
        }
        let fraction = match self.style.fractions {
            true => Fraction::Needed,
            false => Fraction::Exactly(0),
        };
        let text = Node::text(timestamp::write_xmlrpc(value, fraction));
        Ok(Data::Element(Element::new("dateTime.iso8601", vec![text])))
    }

    fn write(&self, node: &Node) -> Result<Vec<u8>, Error> {
        self.value(node).map(String::into_bytes)
    }
}

pub(super) fn element(name: &str, inside: &str) -> String {
    format!("<{name}>{inside}</{name}>")
}

pub(super) fn document(name: &str, inside: &str) -> String {
    "<?xml version=\"1.0\"?>".to_owned() + &element(name, inside)
}

/// Escapes a name. Other changes are not allowed, because two names could become equal.
pub(super) fn escaped(text: &str) -> Result<String, Error> {
    xml::escaped(text.as_bytes(), XmlPlace::Text, Forbidden::Reject)
        .map_err(|malformed| unwritable(malformed.expected))
}

/// The digits without an exponent and with a fraction. Words such as `NaN` are not changed.
fn plain(digits: &str) -> String {
    if !digits.ends_with(|last: char| last.is_ascii_digit()) {
        return digits.to_owned();
    }
    let plain = number::plain(digits);
    match plain.contains('.') {
        true => plain,
        false => plain + ".0",
    }
}

const EXTENSIONS: &str = "xmlns:ex=\"http://ws.apache.org/xmlrpc/namespaces/extensions\"";

impl XmlRpcFormat {
    fn value(&self, node: &Node) -> Result<String, Error> {
        let inside = match &node.data {
            Data::Null => match self.style.nil {
                Nil::Plain => "<nil/>".to_owned(),
                Nil::Prefixed => format!("<ex:nil {EXTENSIONS}/>"),
                Nil::Reject => return Err(unwritable("a value")),
            },
            Data::Boolean(value) => element("boolean", &u8::from(*value).to_string()),
            Data::Integer(value) => match i32::try_from(*value) {
                Ok(value) => element("int", &value.to_string()),
                Err(_) if self.style.prefixed_i8 => {
                    format!("<ex:i8 {EXTENSIONS}>{value}</ex:i8>")
                }
                Err(_) => element("i8", &value.to_string()),
            },
            Data::Single(_) | Data::Double(_) => element("double", &plain(&plain_text(&node.data))),
            Data::Bytes(_) => element("base64", &plain_text(&node.data)),
            Data::Text(text) | Data::Digits(text) | Data::Decimal(text) => self.string(text)?,
            Data::List(items) => {
                let items: Result<String, Error> =
                    items.iter().map(|item| self.value(item)).collect();
                element("array", &element("data", &items?))
            }
            Data::Map(entries) => {
                let mut members = String::new();
                for (name, value) in entries {
                    let name = element("name", &escaped(&plain_text(&name.data))?);
                    members += &element("member", &(name + &self.value(value)?));
                }
                element("struct", &members)
            }
            Data::Element(date) => element(&date.name, &date.text()),
            _ => return Err(unwritable("a value of a known kind")),
        };
        Ok(element("value", &inside))
    }

    fn string(&self, text: &str) -> Result<String, Error> {
        let forbidden = match self.style.forbidden {
            ForbiddenText::Replace => Forbidden::Replace,
            ForbiddenText::Strip => Forbidden::Strip,
            _ => Forbidden::Reject,
        };
        match xml::escaped(text.as_bytes(), XmlPlace::Text, forbidden) {
            Ok(text) if self.style.untyped_strings => Ok(text),
            Ok(text) => Ok(element("string", &text)),
            Err(_) if self.style.forbidden == ForbiddenText::Base64 => {
                let bytes = Data::Bytes(text.as_bytes().to_vec());
                Ok(element("base64", &plain_text(&bytes)))
            }
            Err(malformed) => Err(unwritable(malformed.expected)),
        }
    }
}
