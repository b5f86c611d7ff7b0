//! The writing half.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Encoding, Error, Member, MemberFlags, Timestamp,
};
use polywire_text::{base64, escape};

#[derive(Default)]
pub(crate) struct XmlEncoder {
    out: Vec<u8>,
    /// Whether the last start tag still lacks its `>`: attributes may come.
    open: bool,
    levels: Vec<Level>,
    error: Option<Error>,
}

#[derive(Default)]
struct Level {
    /// The tags around each item of a flattened list.
    item: Option<(Vec<u8>, Vec<u8>)>,
    /// The tags around each entry of a map, and whether one is open.
    entry: (Vec<u8>, Vec<u8>),
    in_entry: bool,
}

impl XmlEncoder {
    pub(crate) fn finish(self) -> Result<String, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(String::from_utf8(self.out).unwrap()),
        }
    }

    fn close_tag(&mut self) {
        if std::mem::take(&mut self.open) {
            self.out.push(b'>');
        }
    }

    fn start(&mut self, at: Member<'_>) {
        self.close_tag();
        match self.levels.last().and_then(|level| level.item.as_ref()) {
            Some((open, _)) => self.out.extend_from_slice(open),
            None => self.out.extend_from_slice(open_tag(at)),
        }
        self.open = true;
    }

    fn end(&mut self, at: Member<'_>) {
        self.close_tag();
        match self.levels.last().and_then(|level| level.item.as_ref()) {
            Some((_, close)) => self.out.extend_from_slice(close),
            None => at.run(Encoding::XmlClose).push_to(&mut self.out),
        }
    }

    fn scalar(&mut self, at: Member<'_>, text: &str) {
        if at.has(MemberFlags::XML_ATTRIBUTE) {
            at.run(Encoding::XmlOpen).push_to(&mut self.out);
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            self.out
                .extend_from_slice(text.replace('"', "&quot;").as_bytes());
            return at.run(Encoding::XmlClose).push_to(&mut self.out);
        }
        self.start(at);
        self.close_tag();
        escape::push_xml(&mut self.out, text).unwrap();
        self.end(at);
    }
}

fn tags(at: Member<'_>) -> (Vec<u8>, Vec<u8>) {
    let close = at.run(Encoding::XmlClose).as_bytes();
    (open_tag(at).to_vec(), close.to_vec())
}

/// The start tag without its `>`: attributes may follow.
fn open_tag(at: Member<'_>) -> &[u8] {
    let tag = at.run(Encoding::XmlOpen).as_bytes();
    tag.strip_suffix(b">").unwrap_or(tag)
}

impl Encoder for XmlEncoder {
    fn begin_structure(&mut self, at: Member<'_>, _: usize) {
        self.start(at);
        self.levels.push(Level::default());
    }

    fn member(&mut self, _: Member<'_>) -> bool {
        true
    }

    fn end_structure(&mut self, at: Member<'_>) {
        self.levels.pop();
        self.end(at);
    }

    fn begin_list(&mut self, at: Member<'_>, _: usize) {
        let mut level = Level::default();
        if at.has(MemberFlags::XML_FLATTENED) {
            level.item = Some(tags(at));
        } else {
            self.start(at);
        }
        self.levels.push(level);
    }

    fn end_list(&mut self, at: Member<'_>) {
        self.levels.pop();
        if !at.has(MemberFlags::XML_FLATTENED) {
            self.end(at);
        }
    }

    fn begin_map(&mut self, at: Member<'_>, _: usize) {
        let mut entry = (b"<entry".to_vec(), b"</entry>".to_vec());
        if at.has(MemberFlags::XML_FLATTENED) {
            entry = tags(at);
        } else {
            self.start(at);
        }
        self.levels.push(Level {
            entry,
            ..Level::default()
        });
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        self.close_tag();
        if let Some(level) = self.levels.last_mut() {
            if std::mem::replace(&mut level.in_entry, true) {
                self.out.extend_from_slice(&level.entry.1);
            }
            self.out.extend_from_slice(&level.entry.0);
            self.out.push(b'>');
        }
        self.scalar(at.target().member(0), key);
    }

    fn end_map(&mut self, at: Member<'_>) {
        if let Some(level) = self.levels.pop()
            && level.in_entry
        {
            self.out.extend_from_slice(&level.entry.1);
        }
        if !at.has(MemberFlags::XML_FLATTENED) {
            self.end(at);
        }
    }

    fn null(&mut self, at: Member<'_>) {
        self.start(at);
        self.out.extend_from_slice(b" nil=\"true\"");
        self.end(at);
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        self.scalar(at, &value.to_string());
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        let mut text = Vec::new();
        base64::push(&mut text, value);
        self.scalar(at, std::str::from_utf8(&text).unwrap());
    }

    crate::scalars::text_scalars!();
}
