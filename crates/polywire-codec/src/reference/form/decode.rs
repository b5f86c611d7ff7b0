//! The reader: walks the tree of a whole form.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, LimitKind, Limits, Member,
    MemberFlags, Schema, Seq, Text, Timestamp, TimestampFormat,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::number::{Grammar, Spelling};
use polywire_text::reference::{base64, number, timestamp};
use polywire_text::timestamp::ReadPolicy;

use super::tree::{self, Node};
use crate::form::FormProfile;

/// The twin of [`crate::form::FormDecoder`].
#[derive(Debug)]
pub struct FormDecoder {
    /// What is to be read next; nothing, where an entry has only a key.
    here: Option<Node>,
    /// What is left of the structures, lists and maps around it, by the number
    /// of the member or item.
    open: Vec<std::vec::IntoIter<(u32, Node)>>,
    offset: usize,
    items_left: u32,
    limits: Limits,
    profile: FormProfile,
}

/// The number of members that the shape does not have.
const UNKNOWN: u32 = u32::MAX;

impl FormDecoder {
    /// A reader of a form.
    ///
    /// # Errors
    ///
    /// It is too long, or not percent-encoded as it should be.
    pub fn new(form: &str, profile: FormProfile, limits: &Limits) -> Result<Self, Error> {
        if form.len() > limits.bytes() {
            let limit = ErrorKind::Limit(LimitKind::Bytes(limits.bytes()));
            return Err(tree::error(limit, 0, ""));
        }
        Ok(Self {
            here: Some(tree::parse(form, profile.own)?),
            open: Vec::new(),
            offset: 0,
            items_left: limits.items(),
            limits: *limits,
            profile,
        })
    }

    fn enter(&mut self, children: Vec<(u32, Node)>) -> Result<Seq, Error> {
        if self.open.len() >= self.limits.depth() as usize {
            let limit = LimitKind::Depth(self.limits.depth());
            return Err(self.error(ErrorKind::Limit(limit), ""));
        }
        if !self.open.is_empty() {
            self.count(1)?;
        }
        self.open.push(children.into_iter());
        Ok(Seq::default())
    }

    /// The next child of the innermost level, which is left at its end.
    fn next(&mut self) -> Option<(u32, Node)> {
        let next = self.open.last_mut().and_then(Iterator::next);
        match &next {
            Some((_, node)) => self.offset = node.offset,
            None => drop(self.open.pop()),
        }
        next
    }

    fn count(&mut self, items: u32) -> Result<(), Error> {
        match self.items_left.checked_sub(items) {
            Some(left) => {
                self.items_left = left;
                Ok(())
            }
            None => {
                let limit = LimitKind::Items(self.limits.items());
                Err(self.error(ErrorKind::Limit(limit), ""))
            }
        }
    }

    fn wrong<T>(&self, expected: &'static str) -> Result<T, Error> {
        Err(self.error(ErrorKind::WrongType, expected))
    }

    /// The children of a list or map that have numbers, sorted.
    fn numbered(&mut self, wrapper: Option<&str>) -> Result<Vec<(u32, Node)>, Error> {
        if self.open.is_empty() {
            return self.wrong("a structure at the top");
        }
        let Some(mut node) = self.here.take() else {
            return Ok(Vec::new());
        };
        self.offset = node.offset;
        // `Name=`, and nothing that goes on.
        if node.values.len() == 1 && node.values[0].is_empty() && node.children.is_empty() {
            return Ok(Vec::new());
        }
        if !node.values.is_empty() {
            return self.wrong("the number of an item");
        }
        if let Some(wrapper) = wrapper {
            let only = node.children.len() == 1;
            node = match node.child(wrapper) {
                Some(inner) if only && inner.values.is_empty() => inner.clone(),
                _ => return self.wrong("what comes before the number of an item"),
            };
        }
        let mut items = Vec::new();
        for (name, child) in node.children {
            let plain = name.bytes().all(|byte| byte.is_ascii_digit()) && !name.starts_with('0');
            match name.parse() {
                Ok(number) if plain && number != UNKNOWN => items.push((number, child)),
                _ => return self.wrong("the number of an item"),
            }
        }
        items.sort_by_key(|(number, _)| *number);
        Ok(items)
    }

    fn scalar(&mut self) -> Result<String, Error> {
        let Some(node) = self.here.take() else {
            return Err(self.error(ErrorKind::Missing, "the value of the entry"));
        };
        self.offset = node.offset;
        let ([value], []) = (&node.values[..], &node.children[..]) else {
            return self.wrong("each key once, and none that goes on");
        };
        if value.len() > self.limits.string() {
            let limit = LimitKind::StringLength(self.limits.string());
            return Err(self.error(ErrorKind::Limit(limit), ""));
        }
        Ok(value.clone())
    }

    fn parsed<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, Error> {
        let text = self.scalar()?;
        parse(&text).ok_or_else(|| self.error(ErrorKind::InvalidValue, "another value"))
    }

    fn double_of(text: &str) -> Option<f64> {
        number::double(text.as_bytes(), Spelling::SMITHY).ok()
    }
}

impl<'de> Decoder<'de> for FormDecoder {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if !at.kind().is_structure() {
            return self.wrong("a structure at the top");
        }
        let node = self.here.take().unwrap_or_default();
        self.offset = node.offset;
        if !node.values.is_empty() {
            return self.wrong("the key of a member");
        }
        let mut members = Vec::new();
        for (name, child) in node.children {
            let shape = at.target();
            let names = self.profile.names.source();
            let mut known = shape.members();
            match known.find(|member| member.plain(names) == name) {
                Some(member) => members.push((member.ordinal(), child)),
                None => members.push((UNKNOWN, child)),
            }
        }
        members.sort_by_key(|(ordinal, _)| *ordinal);
        self.enter(members)
    }

    fn member(&mut self, _: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        loop {
            match self.next() {
                None => return Ok(END),
                Some((UNKNOWN, node)) => {
                    seq.unknown = true;
                    self.count(node.fields())?;
                }
                Some((ordinal, node)) => {
                    self.here = Some(node);
                    return Ok(ordinal);
                }
            }
        }
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let flat = self.profile.flat || at.has(MemberFlags::XML_FLATTENED);
        let name = at.element().plain(self.profile.names.source());
        let items = self.numbered((!flat).then_some(name))?;
        self.enter(items)
    }

    fn item(&mut self, _: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        let Some((_, node)) = self.next() else {
            return Ok(false);
        };
        self.here = Some(node);
        self.count(1)?;
        Ok(true)
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let flat = at.has(MemberFlags::XML_FLATTENED);
        let entries = self.numbered((!flat).then_some("entry"))?;
        if self.profile.flat && !entries.is_empty() {
            return self.wrong("no map");
        }
        self.enter(entries)
    }

    fn key(&mut self, at: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        let Some((_, entry)) = self.next() else {
            return Ok(None);
        };
        self.count(1)?;
        if !entry.values.is_empty() {
            return self.wrong("the key or the value of an entry");
        }
        let names = self.profile.names.source();
        let [key, value] = [0, 1].map(|half| at.target().member(half).plain(names));
        for (name, other) in &entry.children {
            if name != key && name != value {
                self.count(other.fields())?;
            }
        }
        self.here = entry.child(key).cloned();
        let text = self.scalar()?;
        self.here = entry.child(value).cloned();
        Ok(Some(Text::from(text)))
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        Ok(self.here.is_none())
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        self.parsed(|text| match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        })
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let (least, most) = at.kind().integer_range();
        self.parsed(|text| {
            let (len, digits) = number::integer(text.as_bytes(), Grammar::XmlSchema).ok()?;
            let value = digits.parse().ok().filter(|_| len == text.len())?;
            (least..=most).contains(&value).then_some(value)
        })
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        self.parsed(|text| {
            let double = Self::double_of(text);
            // Rounded once, from the text; beyond the type is no value.
            match text {
                "NaN" | "Infinity" | "-Infinity" => double.map(|double| double as f32),
                text => double
                    .and(text.parse().ok())
                    .filter(|float: &f32| float.is_finite()),
            }
        })
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        self.parsed(Self::double_of)
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        self.parsed(|text| text.parse().ok())
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        self.parsed(|text| text.parse().ok())
    }

    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        self.scalar().map(Text::from)
    }

    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.scalar().map(Cow::Owned)
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        self.parsed(|text| {
            let bytes = base64::decode(
                text.as_bytes(),
                Alphabet::Standard,
                Padding::Required,
                false,
            );
            bytes.ok().map(Blob::from)
        })
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let format = at
            .timestamp_format()
            .unwrap_or(self.profile.timestamp_format);
        let policy = ReadPolicy::new().utc(self.profile.required);
        self.parsed(|text| match format {
            TimestampFormat::EpochSeconds => timestamp::epoch_seconds(text),
            TimestampFormat::DateTime => timestamp::date_time(text.as_bytes(), policy).ok(),
            TimestampFormat::HttpDate => timestamp::http_date(text.as_bytes()).ok(),
        })
    }

    fn any(&mut self) -> Result<Event, Error> {
        self.wrong("no document")
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills(at)
    }

    fn missing(&mut self, _: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        Err(self.error(ErrorKind::Missing, "a required member"))
    }

    fn unknown(&mut self, _: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        Err(self.error(ErrorKind::Unknown, "only members that the union has"))
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        tree::error(kind, self.offset, expected)
    }
}
