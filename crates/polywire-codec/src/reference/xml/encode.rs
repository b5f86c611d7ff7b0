//! The writer: an element for each value, put together from the inside out.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Encoding, Error, ErrorKind, Member, MemberFlags, NameSource,
    Part, ShapeKind, Timestamp, TimestampFormat,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::escape::{Forbidden, XmlPlace};
use polywire_text::number;
use polywire_text::reference::{base64, timestamp, xml};
use polywire_text::timestamp::Fraction;

use crate::xml::XmlProfile;

/// The twin of [`crate::xml::XmlEncoder`].
#[derive(Debug)]
pub struct XmlEncoder<'n> {
    open: Vec<Level>,
    out: String,
    /// Whether the structure at the top is written into an element of the
    /// caller's.
    contents: bool,
    /// Whether the structure around a payload is open, of which nothing is
    /// written.
    around: bool,
    profile: XmlProfile<'n>,
    error: Option<Error>,
}

/// A structure, list or map that is open.
#[derive(Debug)]
struct Level {
    /// Its tags; none if it has no element.
    tags: Option<(String, String)>,
    attributes: String,
    content: String,
    /// Of a flattened list, the tags of its items.
    items: Option<(String, String)>,
    /// Of a map, the tags of its entries, and whether one is open.
    entries: Option<(String, String)>,
    in_entry: bool,
}

impl<'n> XmlEncoder<'n> {
    const fn is_payload(&self) -> bool {
        matches!(self.profile.part, Part::Payload(_))
    }

    /// A writer of one document, or of what stands in an element that the
    /// caller writes.
    #[must_use]
    pub fn new(profile: XmlProfile<'n>, contents: bool) -> Self {
        Self {
            open: Vec::new(),
            out: String::new(),
            contents,
            around: false,
            profile,
            error: None,
        }
    }

    /// The document.
    ///
    /// # Errors
    ///
    /// The first error that a call met.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        match self.error {
            Some(error) => Err(error),
            None if !self.open.is_empty() => Err(Error::new(ErrorKind::Internal)
                .in_format("XML")
                .expected("as many ends as beginnings")),
            None => Ok(self.out.into_bytes()),
        }
    }

    /// The tags of a value of `at`, where it stands now.
    fn tags(&self, at: Member<'_>) -> (String, String) {
        match self.open.last() {
            Some(level) if level.items.is_some() => level.items.clone().unwrap_or_default(),
            Some(level) if level.tags.is_none() && self.open.len() == 1 && !self.contents => {
                self.root_tags(at, at)
            }
            Some(_) => tags_of(at),
            None if self.contents => tags_of(at),
            None => {
                let named = at.is_root() || at.has(MemberFlags::XML_NAMED);
                self.root_tags(at, if named { at } else { at.target().root() })
            }
        }
    }

    /// The tags of the element at the top: with the namespace of the member,
    /// else of the shape, else of the service.
    fn root_tags(&self, at: Member<'_>, named: Member<'_>) -> (String, String) {
        let name = named.plain(NameSource::Xml);
        let of = |member: Member<'_>| {
            let (open, _) = tags_of(member);
            let name = format!("<{}", member.plain(NameSource::Xml));
            let behind = open
                .strip_prefix(&name)
                .and_then(|rest| rest.strip_suffix('>'));
            behind.unwrap_or_default().to_owned()
        };
        let mut namespace = of(named);
        if namespace.is_empty() {
            namespace = of(at.target().root());
        }
        if namespace.is_empty()
            && let Some((prefix, uri)) = self.profile.namespace
        {
            let prefix = prefix.map_or(String::new(), |prefix| format!(":{prefix}"));
            let uri = xml::escaped(uri.as_bytes(), XmlPlace::Attribute, Forbidden::Strip);
            namespace = format!(" xmlns{prefix}=\"{}\"", uri.unwrap_or_default());
        }
        (format!("<{name}{namespace}>"), format!("</{name}>"))
    }

    fn push(&mut self, text: &str) {
        match self.open.last_mut() {
            Some(level) => level.content.push_str(text),
            None => self.out.push_str(text),
        }
    }

    fn no_document(&mut self, at: Member<'_>) {
        if at.kind() == ShapeKind::Document {
            let error = Error::new(ErrorKind::Unwritable).in_format("XML");
            self.fail(error.expected("a shape that XML has"));
        }
    }

    fn begin(&mut self, tags: Option<(String, String)>) {
        self.open.push(Level {
            tags,
            attributes: String::new(),
            content: String::new(),
            items: None,
            entries: None,
            in_entry: false,
        });
    }

    fn end(&mut self) {
        let Some(level) = self.open.pop() else {
            let error = Error::new(ErrorKind::Internal).in_format("XML");
            return self.fail(error.expected("as many ends as beginnings"));
        };
        let mut content = level.content;
        if let (Some((_, close)), true) = (&level.entries, level.in_entry) {
            content.push_str(close);
        }
        match level.tags {
            None => self.push(&content),
            Some((open, close)) => {
                let open = open.trim_end_matches('>');
                let attributes = level.attributes;
                self.push(&format!("{open}{attributes}>{content}{close}"));
            }
        }
    }

    fn escaped(&mut self, text: &str, place: XmlPlace) -> String {
        xml::escaped(text.as_bytes(), place, Forbidden::Refuse).unwrap_or_else(|malformed| {
            let error = Error::new(ErrorKind::Unwritable).in_format("XML");
            self.fail(error.expected(malformed.expected));
            String::new()
        })
    }

    fn value(&mut self, at: Member<'_>, text: &str) {
        self.no_document(at);
        if at.has(MemberFlags::XML_ATTRIBUTE) {
            let (name, text) = (
                at.plain(NameSource::Xml),
                self.escaped(text, XmlPlace::Attribute),
            );
            if let Some(level) = self.open.last_mut() {
                level.attributes.push_str(&format!(" {name}=\"{text}\""));
            }
            return;
        }
        let (open, close) = self.tags(at);
        let text = self.escaped(text, XmlPlace::Text);
        self.push(&format!("{open}{text}{close}"));
    }

    /// A number: which of two decimals that are as short and as near is for all
    /// of Polywire the same.
    fn digits(&mut self, at: Member<'_>, push: impl FnOnce(&mut Vec<u8>)) {
        let mut digits = Vec::new();
        push(&mut digits);
        self.value(at, &String::from_utf8_lossy(&digits));
    }
}

/// The tags of the items of a flattened list: the name of the list, and the
/// namespace of the list or else that of the items.
fn item_tags(at: Member<'_>) -> (String, String) {
    let (open, close) = tags_of(at);
    let (item, _) = tags_of(at.element());
    let bare = format!("<{}>", at.plain(NameSource::Xml));
    let behind = item.split_once(' ').map(|(_, behind)| behind);
    match behind.filter(|_| open == bare) {
        Some(behind) => (format!("<{} {behind}", at.plain(NameSource::Xml)), close),
        None => (open, close),
    }
}

fn tags_of(at: Member<'_>) -> (String, String) {
    let tag = |encoding| String::from_utf8_lossy(at.run(encoding).as_bytes()).into_owned();
    (tag(Encoding::XmlOpen), tag(Encoding::XmlClose))
}

impl Encoder for XmlEncoder<'_> {
    fn begin_structure(&mut self, at: Member<'_>, _: usize) {
        if self.is_payload() && !self.around {
            self.around = true;
            return;
        }
        let bare = self.open.is_empty() && (self.contents || self.profile.unwrapped);
        let tags = (!bare).then(|| self.tags(at));
        self.begin(tags);
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        let part = self.profile.part;
        if self.is_payload() && self.open.is_empty() {
            if part.payload(at.container()) != Some(at.ordinal()) {
                return false;
            }
        } else if matches!(part, Part::Body(_)) && self.open.len() == 1 && !part.holds(at) {
            return false;
        }
        self.no_document(at);
        true
    }

    fn end_structure(&mut self, _: Member<'_>) {
        if self.is_payload() && self.open.is_empty() {
            return;
        }
        self.end();
    }

    fn begin_list(&mut self, at: Member<'_>, _: usize) {
        self.no_document(at.element());
        let flattened = at.has(MemberFlags::XML_FLATTENED);
        let tags = (!flattened).then(|| self.tags(at));
        self.begin(tags);
        if let Some(level) = self.open.last_mut() {
            level.items = flattened.then(|| item_tags(at));
        }
    }

    fn end_list(&mut self, _: Member<'_>) {
        self.end();
    }

    fn begin_map(&mut self, at: Member<'_>, _: usize) {
        self.no_document(at.element());
        let flattened = at.has(MemberFlags::XML_FLATTENED);
        let tags = (!flattened).then(|| self.tags(at));
        self.begin(tags);
        if let Some(level) = self.open.last_mut() {
            level.entries = Some(match flattened {
                true => tags_of(at),
                false => ("<entry>".to_owned(), "</entry>".to_owned()),
            });
        }
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        let key = self.escaped(key, XmlPlace::Text);
        let Some(level) = self.open.last_mut() else {
            return;
        };
        if let Some((open, close)) = &level.entries {
            if std::mem::replace(&mut level.in_entry, true) {
                level.content.push_str(close);
            }
            level.content.push_str(open);
        }
        let (open, close) = tags_of(at.target().member(0));
        level.content.push_str(&format!("{open}{key}{close}"));
    }

    fn end_map(&mut self, _: Member<'_>) {
        self.end();
    }

    fn boolean(&mut self, at: Member<'_>, value: bool) {
        self.value(at, &value.to_string());
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        self.value(at, &value.to_string());
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.digits(at, |out| number::push_f32(out, value));
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.digits(at, |out| number::push_f64(out, value));
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.value(at, value.as_str());
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.value(at, value.as_str());
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        self.value(at, value);
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        let text = base64::encode(value, Alphabet::Standard, Padding::Required);
        self.value(at, &text);
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        let format = at.timestamp_format();
        let format = format.unwrap_or(self.profile.timestamp_format);
        let text = match format {
            TimestampFormat::EpochSeconds => {
                timestamp::write_epoch_seconds(value, Fraction::Needed)
            }
            TimestampFormat::DateTime => timestamp::write_date_time(value, Fraction::Needed),
            TimestampFormat::HttpDate => timestamp::write_http_date(value, Fraction::Needed),
        };
        if format != TimestampFormat::EpochSeconds && !(1..=9999).contains(&value.civil().year) {
            let error = Error::new(ErrorKind::Unwritable).in_format("XML");
            self.fail(error.expected("a year from 1 to 9999"));
        }
        self.value(at, &text);
    }

    fn null(&mut self, at: Member<'_>) {
        let (open, close) = self.tags(at);
        let open = open.trim_end_matches('>');
        let instance = "http://www.w3.org/2001/XMLSchema-instance";
        self.push(&format!(
            "{open} xmlns:xsi=\"{instance}\" xsi:nil=\"true\">{close}"
        ));
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills(at)
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
