//! The reading half.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, Member, MemberFlags,
    NameSource, Schema, Seq, Text, Timestamp,
};
use polywire_text::{base64, escape};

/// Between calls the cursor stands in the start tag of the value that is read
/// next, behind its name: attributes come next.
pub(crate) struct XmlDecoder<'de> {
    text: &'de str,
    at: usize,
    /// Where the name of the last start tag stands.
    name: (usize, usize),
    /// The value of the attribute that is read next.
    attribute: &'de str,
    /// Whether the member that comes next was seen before.
    continues: bool,
}

const ATTRIBUTES: u32 = 0;
const CONTENT: u32 = 1;
const FLATTENED: u32 = 2;
const EMPTY: u32 = 3;

impl<'de> XmlDecoder<'de> {
    pub(crate) fn new(text: &'de str) -> Self {
        let mut decoder = Self {
            text,
            at: 0,
            name: (0, 0),
            attribute: "",
            continues: false,
        };
        decoder.start();
        decoder
    }

    fn rest(&self) -> &'de str {
        &self.text[self.at..]
    }

    fn skip(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Reads a start tag up to its attributes.
    fn start(&mut self) -> bool {
        self.space();
        if self.rest().starts_with("</") || !self.skip("<") {
            return false;
        }
        let len = self.rest().find([' ', '\n', '/', '>']);
        self.name = (self.at, len.unwrap_or(self.rest().len()));
        self.at += self.name.1;
        true
    }

    fn name_at(&self, name: (usize, usize)) -> &'de str {
        &self.text[name.0..name.0 + name.1]
    }

    /// The next attribute, or whether the element has content.
    fn attribute(&mut self) -> Result<Result<(&'de str, &'de str), bool>, Error> {
        self.space();
        if self.skip("/>") {
            return Ok(Err(false));
        }
        if self.skip(">") {
            return Ok(Err(true));
        }
        let parts = self.rest().split_once("=\"");
        let parts = parts.and_then(|(name, rest)| Some((name, rest.split_once('"')?.0)));
        let (name, value) = parts.ok_or_else(|| self.error(ErrorKind::Syntax, "an attribute"))?;
        self.at += name.len() + value.len() + 3;
        Ok(Ok((name, value)))
    }

    fn skip_attributes(&mut self) -> Result<bool, Error> {
        loop {
            if let Err(content) = self.attribute()? {
                return Ok(content);
            }
        }
    }

    /// Skips what is left of an element whose start tag's name was read.
    fn skip_element(&mut self) -> Result<(), Error> {
        let name = self.name;
        if self.skip_attributes()? {
            self.skip_content(name)?;
        }
        Ok(())
    }

    /// Skips up to and with the end tag.
    fn skip_content(&mut self, name: (usize, usize)) -> Result<(), Error> {
        loop {
            self.at += self.rest().find('<').unwrap_or(self.rest().len());
            if !self.start() {
                return self.end(name);
            }
            self.skip_element()?;
        }
    }

    fn end(&mut self, name: (usize, usize)) -> Result<(), Error> {
        let found = self.skip("</") && self.skip(self.name_at(name)) && self.skip(">");
        found
            .then_some(())
            .ok_or_else(|| self.error(ErrorKind::Syntax, "the end tag"))
    }

    fn characters(&mut self) -> Result<Cow<'de, str>, Error> {
        let name = self.name;
        if !self.skip_attributes()? {
            return Ok(Cow::Borrowed(""));
        }
        let len = self.rest().find('<').unwrap_or(self.rest().len());
        let raw = &self.rest()[..len];
        self.at += len;
        self.end(name)?;
        self.unescaped(raw)
    }

    fn unescaped(&self, raw: &'de str) -> Result<Cow<'de, str>, Error> {
        let mut parts = raw.split('&');
        let first = parts.next().unwrap_or_default();
        let mut text = Cow::Borrowed(first);
        for part in parts {
            let read = escape::xml_reference(part.as_bytes());
            let (character, len) =
                read.map_err(|malformed| self.error(ErrorKind::Syntax, malformed.expected))?;
            text.to_mut().push(character);
            text.to_mut().push_str(&part[len..]);
        }
        Ok(text)
    }

    /// The member of a name: as it stands, else without its prefix.
    fn find(shape: Schema<'_>, name: &str, attribute: bool) -> Option<u32> {
        let exact = shape.find(NameSource::Xml, name.as_bytes());
        let local = name.rsplit(':').next();
        let same = |at: &Member<'_>| at.plain(NameSource::Xml).rsplit(':').next() == local;
        let found = exact.or_else(|| shape.members().find(same).map(Member::ordinal))?;
        (shape.member(found).has(MemberFlags::XML_ATTRIBUTE) == attribute).then_some(found)
    }
}

impl<'de> Decoder<'de> for XmlDecoder<'de> {
    fn structure(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        Ok(Seq {
            mark: self.name.0 as u64,
            left: self.name.1 as u64,
            ..Seq::default()
        })
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        loop {
            let found = if seq.state == ATTRIBUTES {
                match self.attribute()? {
                    Err(true) => {
                        seq.state = CONTENT;
                        continue;
                    }
                    Err(false) => return Ok(END),
                    Ok((name, value)) => {
                        self.attribute = value;
                        Self::find(shape, name, true)
                    }
                }
            } else if self.start() {
                let found = Self::find(shape, self.name_at(self.name), false);
                if found.is_none() {
                    self.skip_element()?;
                }
                found
            } else {
                self.end((seq.mark as usize, seq.left as usize))?;
                return Ok(END);
            };
            let Some(ordinal) = found else {
                seq.unknown = true;
                continue;
            };
            self.continues = seq.mark_seen(ordinal) == Some(true);
            if self.continues && !shape.member(ordinal).has(MemberFlags::XML_FLATTENED) {
                return Err(self.error(ErrorKind::Duplicate, "each member once"));
            }
            return Ok(ordinal);
        }
    }

    // A flattened one begins with its first item.
    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let flattened = at.has(MemberFlags::XML_FLATTENED);
        let name = self.name;
        let state = match flattened {
            true => FLATTENED,
            false if self.skip_attributes()? => CONTENT,
            false => EMPTY,
        };
        Ok(Seq {
            state,
            mark: name.0 as u64,
            left: name.1 as u64,
            continues: std::mem::take(&mut self.continues),
            ..Seq::default()
        })
    }

    // Goes into the start tag of the next item or entry.
    fn item(&mut self, _: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        seq.count += 1;
        let name = (seq.mark as usize, seq.left as usize);
        if seq.state == EMPTY || (seq.state == FLATTENED && seq.count == 1) {
            return Ok(seq.state == FLATTENED);
        }
        let (before, found) = (self.at, self.start());
        if seq.state == FLATTENED {
            let same = found && self.name_at(self.name) == self.name_at(name);
            self.at = if same { self.at } else { before };
            return Ok(same);
        }
        if !found {
            self.end(name)?;
        }
        Ok(found)
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.list(at)
    }

    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error> {
        if seq.count > 0 && seq.state != EMPTY {
            // The end of the entry before, whose key may stand behind its value.
            let start = seq.guess as usize;
            let len = self.text[start..].find([' ', '>']).unwrap_or_default();
            self.skip_content((start, len))?;
        }
        if !self.item(at, seq)? {
            return Ok(None);
        }
        seq.guess = self.name.0 as u32;
        self.skip_attributes()?;
        let entry = self.at;
        let value = at.target().member(1).plain(NameSource::Xml);
        let mut key = None;
        while self.start() {
            if self.name_at(self.name) == value {
                self.skip_element()?;
            } else {
                key = Some(Text::from(self.characters()?));
            }
        }
        // Back to the value, wherever it stands.
        self.at = entry;
        while self.start() && self.name_at(self.name) != value {
            self.skip_element()?;
        }
        match key {
            Some(key) => Ok(Some(key)),
            None => Err(self.error(ErrorKind::Missing, "the key of an entry")),
        }
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        let null = self.rest().starts_with(" nil=\"true\"");
        if null {
            self.skip_element()?;
        }
        Ok(null)
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        if at.has(MemberFlags::XML_ATTRIBUTE) {
            return self.unescaped(self.attribute);
        }
        self.characters()
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let text = self.str(at)?;
        Timestamp::parse_date_time(&text)
            .map_err(|malformed| self.error(ErrorKind::InvalidValue, malformed.expected))
    }

    crate::scalars::text_values!("XML");
}
