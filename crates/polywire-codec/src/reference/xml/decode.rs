//! The reader: walks the tree of a whole document.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, LimitKind, Limits, Member,
    MemberFlags, NameSource, Schema, Seq, ShapeKind, Text, Timestamp, TimestampFormat,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::reference::{base64, timestamp};
use polywire_text::timestamp::ReadPolicy;

use super::tree::{self, Element, Tokens};
use crate::xml::XmlProfile;

/// The twin of [`crate::xml::XmlDecoder`].
#[derive(Debug)]
pub struct XmlDecoder {
    /// What is to be read next.
    here: Here,
    /// What is left of the structures, lists and maps around it.
    open: Vec<Frame>,
    /// Whether nothing has been read, and the element at the top is to have
    /// the name of its shape.
    top: Option<bool>,
    end: usize,
    items_left: u32,
    limits: Limits,
    profile: XmlProfile<'static>,
}

#[derive(Debug)]
enum Here {
    Nothing,
    Element(Element),
    Attribute(String),
    /// All items of a flattened list or map.
    Items(Vec<Element>),
}

#[derive(Debug)]
enum Frame {
    Structure {
        parts: std::vec::IntoIter<Part>,
        seen: Vec<u32>,
    },
    Items(std::vec::IntoIter<Element>),
}

#[derive(Debug)]
enum Part {
    Attribute(String, String),
    Element(Element),
}

impl XmlDecoder {
    /// A reader of a document.
    ///
    /// # Errors
    ///
    /// It is not well formed, or too long.
    pub fn from_str(text: &str, profile: XmlProfile<'_>, limits: &Limits) -> Result<Self, Error> {
        if text.len() > limits.bytes() {
            let limit = ErrorKind::Limit(LimitKind::Bytes(limits.bytes()));
            return Err(tree::error(limit, 0, ""));
        }
        let root = tree::document(text, limits)?;
        Ok(Self::of(root, text.len(), true, profile, limits))
    }

    /// A reader of the element whose start tag stands at an offset, or of an
    /// empty one. Named: it is the root, and must have the name of its shape.
    pub(crate) fn at(
        text: &str,
        start: Option<usize>,
        named: bool,
        profile: XmlProfile<'_>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let Some(start) = start else {
            return Ok(Self::of(Element::default(), 0, false, profile, limits));
        };
        let mut tokens = Tokens::new(text, start);
        let element = tokens.element(limits)?;
        Ok(Self::of(element, tokens.at, named, profile, limits))
    }

    fn of(
        root: Element,
        end: usize,
        named: bool,
        profile: XmlProfile<'_>,
        limits: &Limits,
    ) -> Self {
        Self {
            here: Here::Element(root),
            open: Vec::new(),
            top: Some(named),
            end,
            items_left: limits.items(),
            limits: *limits,
            profile: profile.with_namespace(None),
        }
    }

    /// Where the element that was read ends.
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    fn wrong<T>(&self, kind: ErrorKind, expected: &'static str) -> Result<T, Error> {
        Err(self.error(kind, expected))
    }

    fn element(&mut self, at: Member<'_>) -> Result<Element, Error> {
        let Here::Element(element) = std::mem::replace(&mut self.here, Here::Nothing) else {
            return self.wrong(ErrorKind::Internal, "an element");
        };
        if self.top.take() == Some(true) && self.profile.required && !self.profile.unwrapped {
            let named = match at.is_root() || at.has(MemberFlags::XML_NAMED) {
                true => at,
                false => at.target().root(),
            };
            if local(&element.name) != local(named.plain(NameSource::Xml)) {
                return self.wrong(ErrorKind::WrongType, "the element of the shape");
            }
        }
        Ok(element)
    }

    fn push(&mut self, frame: Frame) -> Result<(), Error> {
        self.open.push(frame);
        self.check_depth(self.open.len())?;
        match self.open.len() {
            1 => Ok(()),
            _ => self.count_item(),
        }
    }

    fn check_depth(&self, depth: usize) -> Result<(), Error> {
        let limit = LimitKind::Depth(self.limits.depth());
        match depth <= self.limits.depth() as usize {
            true => Ok(()),
            false => self.wrong(ErrorKind::Limit(limit), ""),
        }
    }

    /// On a client text beside elements means nothing.
    fn no_text(&self, element: &Element) -> Result<(), Error> {
        match element.has_text && self.profile.required {
            true => self.wrong(ErrorKind::Syntax, "elements, not text"),
            false => Ok(()),
        }
    }

    fn count_item(&mut self) -> Result<(), Error> {
        match self.items_left.checked_sub(1) {
            Some(left) => {
                self.items_left = left;
                Ok(())
            }
            None => {
                let limit = LimitKind::Items(self.limits.items());
                self.wrong(ErrorKind::Limit(limit), "")
            }
        }
    }

    /// What nobody wants is as deep as it is.
    fn skip(&self, element: &Element) -> Result<(), Error> {
        fn depth(element: &Element) -> usize {
            let children = element.children.iter().map(depth).max().unwrap_or(0);
            children + usize::from(element.has_content)
        }
        self.check_depth(self.open.len() + depth(element))
    }

    fn check_length(&self, text: &str) -> Result<(), Error> {
        let limit = LimitKind::StringLength(self.limits.string());
        match text.len() <= self.limits.string() {
            true => Ok(()),
            false => self.wrong(ErrorKind::Limit(limit), ""),
        }
    }

    /// The text of a scalar.
    fn scalar(&mut self, at: Member<'_>) -> Result<String, Error> {
        if let Here::Attribute(value) = &mut self.here {
            let value = std::mem::take(value);
            self.here = Here::Nothing;
            return Ok(value);
        }
        let element = self.element(at)?;
        match element.children.is_empty() {
            true => Ok(element.text),
            false => self.wrong(ErrorKind::Syntax, "text, not elements"),
        }
    }

    fn trimmed(&mut self, at: Member<'_>) -> Result<String, Error> {
        let text = self.scalar(at)?;
        Ok(text.trim_matches([' ', '\t', '\r', '\n']).to_owned())
    }

    fn parsed<T: std::str::FromStr>(&mut self, at: Member<'_>) -> Result<(T, String), Error> {
        let text = self.trimmed(at)?;
        match text.parse() {
            Ok(value) => Ok((value, text)),
            Err(_) => self.wrong(ErrorKind::InvalidValue, at.kind().describe()),
        }
    }

    /// The digits of a floating-point number, or one of the three words.
    fn floating<T: std::str::FromStr>(&mut self, at: Member<'_>) -> Result<(T, String), Error> {
        let (value, text) = self.parsed::<T>(at)?;
        let word = matches!(&*text, "NaN" | "Infinity" | "-Infinity");
        match word
            || !text.contains(|next: char| next.is_ascii_alphabetic() && next != 'e' && next != 'E')
        {
            true => Ok((value, text)),
            false => self.wrong(ErrorKind::InvalidValue, "a number"),
        }
    }

    fn collection(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if let Here::Items(items) = &mut self.here {
            let items = std::mem::take(items);
            self.here = Here::Nothing;
            self.push(Frame::Items(items.into_iter()))?;
            return Ok(Seq::default());
        }
        let element = self.element(at)?;
        self.no_text(&element)?;
        self.push(Frame::Items(element.children.into_iter()))?;
        Ok(Seq::default())
    }

    /// The next element of a list or map, which is closed at its end.
    fn next_element(&mut self, at: Member<'_>, name: &str) -> Result<Option<Element>, Error> {
        loop {
            let next = match self.open.last_mut() {
                Some(Frame::Items(items)) => items.next(),
                _ => None,
            };
            let Some(element) = next else {
                self.open.pop();
                return Ok(None);
            };
            self.count_item()?;
            if at.has(MemberFlags::XML_FLATTENED) || local(&element.name) == local(name) {
                return Ok(Some(element));
            }
            self.skip(&element)?;
        }
    }

    /// Whether an element is one of the collection of `at`, or a null that
    /// means nothing.
    fn is_element(&self, element: &Element, at: Member<'_>) -> Result<bool, Error> {
        if at.is_sparse() || !is_nil(element) {
            return Ok(true);
        }
        if !self.profile.skip_nulls || at.element().kind() == ShapeKind::Document {
            return self.wrong(ErrorKind::WrongType, "no null");
        }
        self.skip(element)?;
        Ok(false)
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

fn is_nil(element: &Element) -> bool {
    let is = |(name, _): &&(String, String)| name.contains(':') && local(name) == "nil";
    let nil = element.attributes.iter().find(is);
    nil.is_some_and(|(_, value)| value == "true" || value == "1")
}

/// The member of a name: as it stands; else without its prefix; else without
/// that of the schema.
fn find<'s>(shape: Schema<'s>, name: &str, attribute: bool) -> Option<Member<'s>> {
    if attribute && (name == "xmlns" || name.starts_with("xmlns:")) {
        return None;
    }
    let fits = |member: &Member<'_>| member.has(MemberFlags::XML_ATTRIBUTE) == attribute;
    let of = |is: &dyn Fn(&str) -> bool| {
        let mut members = shape.members().filter(fits);
        members.find(|member| is(member.plain(NameSource::Xml)))
    };
    of(&|own| own == name)
        .or_else(|| of(&|own| own == local(name)))
        .or_else(|| of(&|own| local(own) == local(name)))
}

impl<'de> Decoder<'de> for XmlDecoder {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let part = std::mem::take(&mut self.profile.part);
        let seq = Seq {
            part,
            ..Seq::default()
        };
        if let polywire_schema::Part::Payload(_) = part {
            return Ok(seq);
        }
        let top = self.top.is_some();
        let element = self.element(at)?;
        let parts: Vec<Part> = if top && self.profile.unwrapped {
            vec![Part::Element(element)]
        } else {
            self.no_text(&element)?;
            let attributes = element.attributes.into_iter();
            let attributes = attributes.map(|(name, value)| Part::Attribute(name, value));
            attributes
                .chain(element.children.into_iter().map(Part::Element))
                .collect()
        };
        self.push(Frame::Structure {
            parts: parts.into_iter(),
            seen: Vec::new(),
        })?;
        Ok(seq)
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        if let polywire_schema::Part::Payload(_) = seq.part {
            let payload = seq.part.payload(shape);
            seq.count += 1;
            return Ok(payload.filter(|_| seq.count == 1).unwrap_or(END));
        }
        loop {
            let Some(Frame::Structure { parts, .. }) = self.open.last_mut() else {
                return self.wrong(ErrorKind::Internal, "a structure");
            };
            let Some(part) = parts.next() else {
                self.open.pop();
                return Ok(END);
            };
            let (name, attribute) = match &part {
                Part::Attribute(name, _) => (name, true),
                Part::Element(element) => (&element.name, false),
            };
            let message = |member: &Member<'_>| {
                let name = local(name);
                self.profile.any_case_message
                    && !attribute
                    && name.eq_ignore_ascii_case("message")
                    && member.plain(NameSource::Xml).eq_ignore_ascii_case(name)
            };
            let found = find(shape, name, attribute).or_else(|| shape.members().find(message));
            let Some(member) = found else {
                if let Part::Element(element) = &part {
                    seq.unknown = true;
                    self.count_item()?;
                    self.skip(element)?;
                }
                continue;
            };
            if !self.profile.unwrapped && !seq.part.holds(member) {
                seq.unknown = true;
                if let Part::Element(element) = &part {
                    self.skip(element)?;
                }
                continue;
            }
            let ordinal = member.ordinal();
            let flattened = member.has(MemberFlags::XML_FLATTENED)
                && matches!(member.kind(), ShapeKind::List | ShapeKind::Map);
            if let Some(Frame::Structure { seen, .. }) = self.open.last_mut() {
                if seen.contains(&ordinal) {
                    return self.wrong(ErrorKind::Duplicate, "each member once");
                }
                seen.push(ordinal);
            }
            match part {
                Part::Attribute(_, value) => self.here = Here::Attribute(value),
                Part::Element(first) if flattened => {
                    let items = self.gather(first, shape, member);
                    self.here = Here::Items(items);
                }
                Part::Element(element) if is_nil(&element) => {
                    self.skip(&element)?;
                    continue;
                }
                Part::Element(element) => self.here = Here::Element(element),
            }
            return Ok(ordinal);
        }
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.collection(at)
    }

    fn item(&mut self, at: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        let name = at.element().plain(NameSource::Xml);
        while let Some(element) = self.next_element(at, name)? {
            if self.is_element(&element, at)? {
                self.here = Here::Element(element);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.collection(at)
    }

    fn key(&mut self, at: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        let members = (at.target().member(0), at.target().member(1));
        let names = (
            members.0.plain(NameSource::Xml),
            members.1.plain(NameSource::Xml),
        );
        while let Some(entry) = self.next_element(at, "entry")? {
            self.no_text(&entry)?;
            let (mut key, mut value) = (None, None);
            for child in entry.children {
                let name = &*child.name;
                let is_key = name == names.0 || (name != names.1 && local(name) == local(names.0));
                let is_value = !is_key && local(name) == local(names.1);
                let place = match (is_key, is_value) {
                    (true, _) => &mut key,
                    (_, true) => &mut value,
                    _ => {
                        self.count_item()?;
                        self.skip(&child)?;
                        continue;
                    }
                };
                if place.replace(child).is_some() {
                    return self.wrong(ErrorKind::Duplicate, "one key and one value");
                }
            }
            let (Some(key), Some(value)) = (key, value) else {
                return self.wrong(ErrorKind::Missing, "a key and a value");
            };
            self.here = Here::Element(key);
            let key = self.scalar(members.0)?;
            self.check_length(&key)?;
            if self.is_element(&value, at)? {
                self.here = Here::Element(value);
                return Ok(Some(Text::from(key)));
            }
        }
        Ok(None)
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        match &self.here {
            Here::Element(element) if is_nil(element) => self.skip(element)?,
            _ => return Ok(false),
        }
        self.here = Here::Nothing;
        Ok(true)
    }

    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error> {
        self.parsed(at).map(|(value, _)| value)
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let (least, most) = at.kind().integer_range();
        let (value, _) = self.parsed::<i64>(at)?;
        match (least..=most).contains(&value) {
            true => Ok(value),
            false => self.wrong(ErrorKind::InvalidValue, at.kind().describe()),
        }
    }

    fn float(&mut self, at: Member<'_>) -> Result<f32, Error> {
        let (value, text) = self.floating::<f32>(at)?;
        match value.is_infinite() && !text.ends_with("Infinity") {
            true => self.wrong(ErrorKind::InvalidValue, "a number of 32 bits"),
            false => Ok(value),
        }
    }

    fn double(&mut self, at: Member<'_>) -> Result<f64, Error> {
        let (value, text) = self.floating::<f64>(at)?;
        match value.is_infinite() && !text.ends_with("Infinity") {
            true => self.wrong(ErrorKind::InvalidValue, "a number of 64 bits"),
            false => Ok(value),
        }
    }

    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
        let text = self.trimmed(at)?;
        self.check_length(&text)?;
        let digits = text.strip_prefix('+').filter(|rest| !rest.starts_with('-'));
        let read = digits.unwrap_or(&text).parse();
        read.map_err(|_| self.error(ErrorKind::InvalidValue, "an integer"))
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        let text = self.trimmed(at)?;
        self.check_length(&text)?;
        let digits = text.strip_prefix('+').filter(|rest| !rest.starts_with('-'));
        let read = digits.unwrap_or(&text).parse();
        read.map_err(|_| self.error(ErrorKind::InvalidValue, "a decimal number"))
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        self.str(at).map(Text::from)
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        let text = self.scalar(at)?;
        self.check_length(&text)?;
        Ok(Cow::Owned(text))
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        let text = self.scalar(at)?;
        let standard = (Alphabet::Standard, Padding::Required);
        base64::decode(text.as_bytes(), standard.0, standard.1, true)
            .map(Blob::from)
            .map_err(|malformed| self.error(ErrorKind::InvalidValue, malformed.expected))
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let text = self.trimmed(at)?;
        let policy = ReadPolicy::new().utc(self.profile.required);
        let format = at.timestamp_format();
        let instant = match format.unwrap_or(self.profile.timestamp_format) {
            TimestampFormat::EpochSeconds => timestamp::epoch_seconds(&text),
            TimestampFormat::DateTime => timestamp::date_time(text.as_bytes(), policy).ok(),
            TimestampFormat::HttpDate => timestamp::http_date(text.as_bytes()).ok(),
        };
        instant.ok_or_else(|| self.error(ErrorKind::InvalidValue, "a timestamp"))
    }

    fn any(&mut self) -> Result<Event, Error> {
        self.wrong(ErrorKind::WrongType, "a shape that XML has")
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills(at)
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        let name = at.plain(NameSource::Xml);
        let error = self.error(ErrorKind::Missing, "");
        Err(error.expected(format!("the required member `{name}`")))
    }

    fn unknown(&mut self, _: Member<'_>) -> Result<(), Error> {
        match self.profile.required {
            true => self.wrong(ErrorKind::Unknown, "only members that the union has"),
            false => Ok(()),
        }
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        tree::error(kind, self.end, expected)
    }
}

impl XmlDecoder {
    /// Takes all elements of a flattened member out of the innermost structure.
    fn gather(&mut self, first: Element, shape: Schema<'_>, member: Member<'_>) -> Vec<Element> {
        let Some(Frame::Structure { parts, .. }) = self.open.last_mut() else {
            return Vec::new();
        };
        let mut items = vec![first];
        let mut others = Vec::new();
        for part in parts.by_ref() {
            match part {
                Part::Element(element)
                    if find(shape, &element.name, false)
                        .is_some_and(|found| found.ordinal() == member.ordinal()) =>
                {
                    items.push(element);
                }
                other => others.push(other),
            }
        }
        *parts = others.into_iter();
        items
    }
}
