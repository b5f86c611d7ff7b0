//! The writing half.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, Member, MemberFlags, NameEncoding, ShapeKind, Timestamp,
};
use polywire_text::{base64, percent};

#[derive(Default)]
pub(crate) struct FormEncoder {
    out: String,
    /// The key of the value that comes next: `Foo.member.1`.
    path: String,
    levels: Vec<Level>,
    error: Option<Error>,
}

struct Level {
    kind: ShapeKind,
    /// How much of the path belongs to the structure, list or map itself.
    base: usize,
    /// Items or entries so far.
    count: usize,
}

impl FormEncoder {
    pub(crate) fn finish(self) -> Result<String, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.out),
        }
    }

    fn segment(&mut self, segment: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(segment);
    }

    fn name(&mut self, at: Member<'_>) {
        let name = at.run(NameEncoding::Query);
        self.segment(std::str::from_utf8(name.as_bytes()).unwrap());
    }

    /// The items of a list have numbers.
    fn place(&mut self) {
        if let Some(level) = self.levels.last_mut()
            && level.kind == ShapeKind::List
        {
            level.count += 1;
            let number = level.count.to_string();
            self.path.truncate(level.base);
            self.segment(&number);
        }
    }

    fn begin(&mut self, at: Member<'_>, wrapper: Option<&str>, len: usize) {
        self.place();
        if let Some(wrapper) = wrapper {
            if len == 0 {
                self.pair("");
            }
            if !at.has(MemberFlags::XML_FLATTENED) {
                self.segment(wrapper);
            }
        }
        self.levels.push(Level {
            kind: at.kind(),
            base: self.path.len(),
            count: 0,
        });
    }

    fn pair(&mut self, value: &str) {
        if !self.out.is_empty() {
            self.out.push('&');
        }
        self.out.push_str(&self.path);
        self.out.push('=');
        percent::push(&mut self.out, value);
    }

    fn scalar(&mut self, _: Member<'_>, value: &str) {
        self.place();
        self.pair(value);
    }
}

impl Encoder for FormEncoder {
    fn begin_structure(&mut self, at: Member<'_>, _: usize) {
        self.begin(at, None, 0);
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        let base = self.levels.last().map_or(0, |level| level.base);
        self.path.truncate(base);
        self.name(at);
        true
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.levels.pop();
    }

    fn begin_list(&mut self, at: Member<'_>, len: usize) {
        self.begin(
            at,
            Some(at.element().plain(NameEncoding::Query.source())),
            len,
        );
    }

    fn end_list(&mut self, _: Member<'_>) {
        self.levels.pop();
    }

    fn begin_map(&mut self, at: Member<'_>, len: usize) {
        self.begin(at, Some("entry"), len);
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        let mut entry = 0;
        if let Some(level) = self.levels.last_mut() {
            level.count += 1;
            let number = level.count.to_string();
            self.path.truncate(level.base);
            self.segment(&number);
            entry = self.path.len();
        }
        self.name(at.target().member(0));
        self.pair(key);
        self.path.truncate(entry);
        self.name(at.target().member(1));
    }

    fn end_map(&mut self, _: Member<'_>) {
        self.levels.pop();
    }

    fn null(&mut self, _: Member<'_>) {
        // Counted, so that later items keep their places.
        self.place();
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
