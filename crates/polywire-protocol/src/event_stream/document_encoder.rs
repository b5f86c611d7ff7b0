//! [`DocumentEncoder`]: the second pass over an event.

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Encoder, Error, Member, MemberFlags, Text, Timestamp, Value,
};

use super::{EventLayout, PayloadKind};

/// An encoder that passes on the document of an event: without the union and without headers. The
/// top of the document is the root of its shape, which decides its name in XML.
pub(super) struct DocumentEncoder<'e> {
    inner: &'e mut dyn Encoder,
    layout: EventLayout,
    /// The number of members at the top of the document, which some formats write.
    members: usize,
    /// The number of structures that have begun: 1 in the union, 2 in the event.
    depth: u32,
}

impl<'e> DocumentEncoder<'e> {
    pub(super) fn new(inner: &'e mut dyn Encoder, layout: EventLayout, members: usize) -> Self {
        Self {
            inner,
            layout,
            members,
            depth: 0,
        }
    }

    /// Whether the event is the top of the document, not one of its members.
    fn is_whole_event(&self) -> bool {
        self.layout.payload == PayloadKind::Document
    }
}

/// Passes calls on. They belong to nested values.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $name(&mut self, at: Member<'_>, $($argument: $type),*) {
            self.inner.$name(at, $($argument),*);
        })*
    };
}

impl Encoder for DocumentEncoder<'_> {
    fn begin_structure(&mut self, at: Member<'_>, present: usize) {
        self.depth += 1;
        match (self.depth, self.is_whole_event()) {
            (1, _) | (2, false) => {}
            (2, true) => {
                let members = self.members;
                self.inner.begin_structure(at.target().root(), members);
            }
            (3, false) => self.inner.begin_structure(at.target().root(), present),
            _ => self.inner.begin_structure(at, present),
        }
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        match (self.depth, self.layout.payload) {
            (1, _) => true,
            (2, PayloadKind::Member(ordinal)) => at.ordinal() == ordinal,
            (2, _) => !at.has(MemberFlags::EVENT_HEADER) && self.inner.member(at),
            _ => self.inner.member(at),
        }
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.inner.fills_default(at)
    }

    fn end_structure(&mut self, at: Member<'_>) {
        match (self.depth, self.is_whole_event()) {
            (1, _) | (2, false) => {}
            (2, true) | (3, false) => self.inner.end_structure(at.target().root()),
            _ => self.inner.end_structure(at),
        }
        self.depth = self.depth.saturating_sub(1);
    }

    forward! {
        begin_list(len: usize);
        end_list();
        begin_map(len: usize);
        key(key: &str);
        text_key(key: &Text);
        end_map();
        boolean(value: bool);
        integer(value: i64);
        float(value: f32);
        double(value: f64);
        big_integer(value: &BigInteger);
        big_decimal(value: &BigDecimal);
        string(value: &str);
        text(value: &Text);
        blob(value: &[u8]);
        shared_blob(value: &Blob);
        document(value: &Value);
        timestamp(value: Timestamp);
        null();
    }

    fn fail(&mut self, error: Error) {
        self.inner.fail(error);
    }
}
