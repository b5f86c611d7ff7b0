//! The decoder of all reference implementations: one loop over a tree.
//!
//! The implementation of [`DecodeFormat`] defines the values of a node and the meaning of scalars. The
//! decoder handles everything else: the members that values belong to, duplicates, nulls, unknown and
//! missing members, the part of a structure that a document contains, and limits.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, Limits, Member, Part,
    Schema, Seq, ShapeKind, Text, Timestamp,
};

use super::format::{DecodeFormat, Input, Values};
use super::node::{Budget, Data, Node, error};

/// A decoder of one message.
#[derive(Debug)]
pub struct TreeDecoder<F> {
    format: F,
    /// The next value.
    current: Option<Node>,
    /// The remaining values of the open structures, lists and maps.
    open: Vec<Level>,
    has_root: bool,
    part: Part,
    /// The offset of the last value.
    offset: usize,
    end: usize,
    budget: Budget,
}

#[derive(Debug)]
struct Level {
    values: std::vec::IntoIter<(String, Node)>,
    /// The ordinals of the members so far.
    seen: Vec<u32>,
}

#[expect(private_bounds, reason = "the formats are those of this module")]
impl<F: DecodeFormat> TreeDecoder<F> {
    /// Creates a decoder of the tree that `parse` returns.
    pub(super) fn begin(
        format: F,
        limits: &Limits,
        parse: impl FnOnce() -> Result<Node, Error>,
    ) -> Result<Self, Error> {
        let root = parse().map_err(|error| error.in_format(F::NAME))?;
        Ok(Self {
            has_root: false,
            part: format.options().part,
            format,
            offset: root.start,
            end: root.end,
            current: Some(root),
            open: Vec::new(),
            budget: Budget::new(limits),
        })
    }

    /// Continues with another value, within the remaining limits.
    pub(super) fn continue_with(&mut self, value: Node) {
        self.current = Some(value);
    }

    /// Skips a value, and counts its items.
    pub(super) fn skip(&self, node: &Node) -> Result<(), Error> {
        self.with_input(node, Member::DOCUMENT, F::skip)
    }

    /// Counts an item or member.
    pub(super) fn count(&self, node: &Node) -> Result<(), Error> {
        self.with_input(node, Member::DOCUMENT, |_, input| input.count(1))
    }

    /// The offset of the end of the value.
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    fn take(&mut self, at: Member<'_>) -> Result<Node, Error> {
        let Some(node) = self.current.take() else {
            return Err(self.error(ErrorKind::Internal, "a value"));
        };
        self.offset = node.start;
        match std::mem::replace(&mut self.has_root, true) {
            true => Ok(node),
            false => self.format.root(node, at),
        }
    }

    /// Reads the next value with a function of the format.
    fn read<T>(
        &mut self,
        at: Member<'_>,
        read: impl FnOnce(&F, Input<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let node = self.take(at).map_err(|error| error.in_format(F::NAME))?;
        self.with_input(&node, at, read)
    }

    fn with_input<T>(
        &self,
        node: &Node,
        at: Member<'_>,
        read: impl FnOnce(&F, Input<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (kind, budget) = (at.kind(), &self.budget);
        let input = Input {
            node,
            at,
            kind,
            budget,
        };
        read(&self.format, input).map_err(|error| error.in_format(F::NAME))
    }

    fn enter(&mut self, values: Values) -> Result<Seq, Error> {
        let (budget, offset, nested) = (&self.budget, self.offset, !self.open.is_empty());
        let checked = budget.check_depth(1, offset);
        checked
            .and_then(|()| budget.count(usize::from(nested), offset))
            .map_err(|error| error.in_format(F::NAME))?;
        self.open.push(Level {
            values: values.into_iter(),
            seen: Vec::new(),
        });
        self.budget.depth.set(self.open.len());
        Ok(Seq::default())
    }

    /// The next value of the innermost structure, list or map, which is closed at its end.
    fn next(&mut self) -> Option<(String, Node)> {
        let next = self.open.last_mut().and_then(|level| level.values.next());
        match &next {
            Some((_, node)) => self.offset = node.start,
            None => {
                self.open.pop();
                self.budget.depth.set(self.open.len());
            }
        }
        next
    }

    /// The next item or entry of the list or map of `at`.
    fn next_element(&mut self, at: Member<'_>) -> Result<Option<String>, Error> {
        while let Some((key, value)) = self.next() {
            self.count(&value)?;
            self.with_input(&value, at, |_, input| input.limited(&key))?;
            let dense = !at.is_sparse() && at.element().kind() != ShapeKind::Document;
            if dense && self.format.is_null(&value) {
                if !self.format.options().rules.skip_nulls {
                    return Err(self.error(ErrorKind::WrongType, "no null"));
                }
                self.skip(&value)?;
                continue;
            }
            self.current = Some(value);
            return Ok(Some(key));
        }
        Ok(None)
    }

    /// Skips an unknown member.
    fn skip_unknown(&mut self, name: &str, value: &Node) -> Result<(), Error> {
        let options = self.format.options();
        if options.refuse_unknown {
            return Err(self.error(ErrorKind::Unknown, "a member that the shape has"));
        }
        self.count(value)?;
        if options.limits_names {
            self.with_input(value, Member::DOCUMENT, |_, input| input.limited(name))?;
        }
        self.skip(value)
    }
}

/// Defines methods that call the function of the format with the same name.
macro_rules! scalars {
    ($($name:ident: $type:ty;)*) => {
        $(fn $name(&mut self, at: Member<'_>) -> Result<$type, Error> {
            self.read(at, F::$name)
        })*
    };
}

impl<'de, F: DecodeFormat> Decoder<'de> for TreeDecoder<F> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let part = std::mem::take(&mut self.part);
        let mut seq = Seq::default();
        if !matches!(part, Part::Payload(_)) {
            let members = self.read(at, F::members)?;
            seq = self.enter(members)?;
        }
        seq.part = part;
        Ok(seq)
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        if matches!(seq.part, Part::Payload(_)) {
            let payload = seq.part.payload(shape);
            seq.count += 1;
            return Ok(payload.filter(|_| seq.count == 1).unwrap_or(END));
        }
        while let Some((name, value)) = self.next() {
            let Some(member) = self.format.find(shape, &name, &value) else {
                seq.unknown = true;
                self.skip_unknown(&name, &value)?;
                continue;
            };
            if !seq.part.holds(member) {
                seq.unknown = true;
                self.skip(&value)?;
                continue;
            }
            if let Some(level) = self.open.last_mut() {
                if level.seen.contains(&member.ordinal()) {
                    return Err(self.error(ErrorKind::Duplicate, "each member once"));
                }
                level.seen.push(member.ordinal());
            }
            // A null member counts as missing, except for documents.
            if self.format.is_null(&value) && member.kind() != ShapeKind::Document {
                self.skip(&value)?;
                continue;
            }
            self.current = Some(value);
            return Ok(member.ordinal());
        }
        Ok(END)
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let items = self.read(at, F::items)?.into_iter();
        self.enter(items.map(|item| (String::new(), item)).collect())
    }

    fn item(&mut self, at: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        Ok(self.next_element(at)?.is_some())
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let entries = self.read(at, F::entries)?;
        self.enter(entries)
    }

    fn key(&mut self, at: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        Ok(self.next_element(at)?.map(Text::from))
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        let null = self.current.take_if(|node| self.format.is_null(node));
        match null {
            Some(node) => self.skip(&node)?,
            None => return Ok(false),
        }
        Ok(true)
    }

    scalars! {
        boolean: bool;
        integer: i64;
        float: f32;
        double: f64;
        big_integer: BigInteger;
        big_decimal: BigDecimal;
        timestamp: Timestamp;
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        self.read(at, F::text).map(Text::from)
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.read(at, F::text).map(Cow::Owned)
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        self.read(at, F::blob).map(Blob::from)
    }

    fn any(&mut self) -> Result<Event, Error> {
        let at = Member::DOCUMENT;
        match self.current.as_ref().map(|node| &node.data) {
            Some(Data::Map(_)) => self.map(at).map(Event::Map),
            Some(Data::List(_)) => self.list(at).map(Event::List),
            _ => self.read(at, F::document).map(Event::Scalar),
        }
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        let options = self.format.options();
        if !options.rules.strict {
            return Ok(());
        }
        let error = self.error(ErrorKind::Missing, "");
        Err(error.expected(format!("the required member `{}`", at.plain(options.names))))
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.format.options().rules.defaults.fills_default(at)
    }

    fn unknown(&mut self, _: Member<'_>) -> Result<(), Error> {
        match self.format.options().rules.strict {
            true => Err(self.error(ErrorKind::Unknown, "only members that the union has")),
            false => Ok(()),
        }
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        error(kind, self.offset, expected).in_format(F::NAME)
    }
}
