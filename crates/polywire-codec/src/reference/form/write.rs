//! Writes fields, each with all segments of its key.

use polywire_schema::{Error, Member, MemberFlags, ShapeKind};
use polywire_text::reference::percent;

use super::FormFormat;
use crate::form::FormProfile;
use crate::reference::encode::{EncodeFormat, TreeEncoder, plain_text, unwritable};
use crate::reference::node::{Data, Node};

/// The reference implementation of [`crate::form::FormEncoder`].
pub type FormEncoder = TreeEncoder<FormFormat>;

impl FormEncoder {
    /// An encoder of one form.
    #[must_use]
    pub fn new(profile: FormProfile) -> Self {
        Self::of(FormFormat(profile))
    }
}

/// A level of keys around a value.
fn wrapped(name: &str, data: Data) -> Data {
    Data::Map(vec![(Node::text(name), data.into())])
}

impl EncodeFormat for FormFormat {
    fn check(&self, at: Member<'_>, is_top: bool) -> Result<(), Error> {
        let collection = matches!(at.kind(), ShapeKind::List | ShapeKind::Map);
        let inner = if collection { at.element() } else { at }.kind();
        if inner == ShapeKind::Document || (is_top && !at.kind().is_structure()) {
            return Err(unwritable("a structure at the top, and no document in it"));
        }
        match self.0.flat && at.kind() == ShapeKind::Map {
            true => Err(unwritable("no map")),
            false => Ok(()),
        }
    }

    fn of_structure(&self, at: Member<'_>, members: Vec<(Node, Node)>) -> Result<Data, Error> {
        let data = Data::Map(members);
        match at.kind() == ShapeKind::Union && fields("", &data).is_empty() {
            true => Err(unwritable("something in a union")),
            false => Ok(data),
        }
    }

    fn of_list(&self, at: Member<'_>, items: Vec<Node>) -> Result<Data, Error> {
        if items.is_empty() && !self.0.flat {
            return Ok(Data::Text(String::new()));
        }
        if items.iter().any(|item| fields("", &item.data).is_empty()) {
            return Err(unwritable("something in each item of a list"));
        }
        let items = Data::List(items);
        Ok(match self.0.flat || at.has(MemberFlags::XML_FLATTENED) {
            true => items,
            false => wrapped(at.element().plain(self.0.names.source()), items),
        })
    }

    fn of_map(&self, at: Member<'_>, entries: Vec<(Node, Node)>) -> Result<Data, Error> {
        let names = [0, 1].map(|half| at.target().member(half).plain(self.0.names.source()));
        let entry = |(key, value)| {
            let [key_name, value_name] = names.map(Node::text);
            Data::Map(vec![(key_name, key), (value_name, value)]).into()
        };
        let entries = Data::List(entries.into_iter().map(entry).collect());
        Ok(match at.has(MemberFlags::XML_FLATTENED) {
            true => entries,
            false => wrapped("entry", entries),
        })
    }

    fn write(&self, node: &Node) -> Result<Vec<u8>, Error> {
        let encoded = |text: &str| percent::encoded(text.as_bytes(), b"");
        let fields = fields("", &node.data).into_iter();
        let fields = fields.map(|(key, value)| format!("{}={}", encoded(&key), encoded(&value)));
        Ok(fields.collect::<Vec<_>>().join("&").into_bytes())
    }
}

/// The keys and values of the fields whose keys begin with `key`.
fn fields(key: &str, data: &Data) -> Vec<(String, String)> {
    let below = |name: &str| match key {
        "" => name.to_owned(),
        key => format!("{key}.{name}"),
    };
    match data {
        Data::Null => Vec::new(),
        Data::List(items) => {
            let numbered = items.iter().zip(1..);
            let numbered = numbered.map(|(item, number)| (below(&number.to_string()), item));
            numbered
                .flat_map(|(key, item)| fields(&key, &item.data))
                .collect()
        }
        Data::Map(entries) => {
            let named = entries.iter();
            let named = named.map(|(name, value)| (below(&plain_text(&name.data)), value));
            named
                .flat_map(|(key, value)| fields(&key, &value.data))
                .collect()
        }
        scalar => vec![(key.to_owned(), plain_text(scalar))],
    }
}
