//! Writes values without a schema.

use polywire_schema::{Encoder as _, Error, ErrorKind, Map, Member, Value};
use polywire_text::element_writer;

use super::XmlRpcEncoder;
use super::encode::{BEGIN_LIST, CLOSE_NAME};
use super::tags::{END_ARRAY, END_STRUCT, FIRST_NAME, NEXT_NAME};

impl XmlRpcEncoder {
    /// Writes a value of any type, without a schema.
    pub(super) fn document_value(&mut self, at: Member<'_>, value: &Value) {
        match value {
            Value::String(value) => self.text(at, value),
            Value::Integer(value) => self.integer(at, *value),
            Value::Map(map) => self.document_map(at, map),
            Value::List(list) => self.document_list(at, list),
            Value::Boolean(value) => self.boolean(at, *value),
            Value::Double(value) => self.double(at, *value),
            value => self.rare_value(at, value),
        }
    }

    fn document_list(&mut self, at: Member<'_>, list: &[Value]) {
        self.out.extend_from_slice(BEGIN_LIST);
        self.depth += 1;
        for item in list {
            self.document_value(at, item);
        }
        self.depth -= 1;
        self.out.extend_from_slice(END_ARRAY);
    }

    fn document_map(&mut self, at: Member<'_>, map: &Map) {
        self.out.extend_from_slice(b"<value><struct>");
        self.depth += 1;
        // No need to check that each value was written: if not, `finish` returns an error.
        let mut is_first = true;
        for (key, item) in map.entries() {
            let pushed = match std::mem::take(&mut is_first) {
                true => element_writer::push_xml_text(&mut self.out, FIRST_NAME, key, CLOSE_NAME),
                false => element_writer::push_xml_text(&mut self.out, NEXT_NAME, key, CLOSE_NAME),
            };
            if !pushed {
                self.slow_key(at, key);
            }
            self.document_value(at, item);
        }
        self.depth -= 1;
        let close: &[u8] = match is_first {
            true => b"</struct></value>",
            false => END_STRUCT,
        };
        self.out.extend_from_slice(close);
    }

    /// Writes a value of a less frequent type.
    #[inline(never)]
    fn rare_value(&mut self, at: Member<'_>, value: &Value) {
        match value {
            Value::Null => self.null(at),
            Value::BigInteger(value) => self.big_integer(at, value),
            Value::Float(value) => self.float(at, *value),
            Value::BigDecimal(value) => self.big_decimal(at, value),
            Value::Blob(value) => self.blob(at, value),
            Value::Stream(value) => self.stream(at, value),
            Value::Timestamp(value) => self.timestamp(at, *value),
            other => {
                let error = Error::new(ErrorKind::Internal).in_format("XML-RPC");
                self.fail(error.found(other.describe()));
            }
        }
    }
}
