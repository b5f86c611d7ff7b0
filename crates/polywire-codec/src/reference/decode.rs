//! The decoder of all reference implementations: one loop over a tree.
//!
//! A format says in [`DecodeFormat`] which values a node has and what its scalars mean.
//! Everything else is decided here: which member a value belongs to, duplicates, nulls,
//! unknown and missing members, the part of a structure that a document holds, limits.

use std::borrow::Cow;
use std::fmt;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, Defaults, END, Error, ErrorKind, Event, Limits, Member,
    NameSource, Part, Schema, Seq, ShapeKind, Text, Timestamp, TimestampFormat, Value,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::number::Spelling;
use polywire_text::reference::{base64, number, timestamp};
use polywire_text::timestamp::ReadPolicy;

use super::node::{Budget, Data, Node};

/// What a profile says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Whether nulls in lists and maps that are not sparse are skipped.
    pub(super) skip_nulls: bool,
    /// Whether missing required members and unknown variants of unions are errors.
    pub(super) required: bool,
    pub(super) refuse_unknown: bool,
    pub(super) names: NameSource,
    pub(super) defaults: Defaults,
    pub(super) part: Part,
    pub(super) timestamps: TimestampFormat,
    /// Whether the limit on strings is one on unknown names too.
    pub(super) limits_names: bool,
    /// Whether white space may stand in base64.
    pub(super) spaced_base64: bool,
}

impl Rules {
    pub(super) const DEFAULT: Self = Self {
        skip_nulls: false,
        required: true,
        refuse_unknown: false,
        names: NameSource::Member,
        defaults: Defaults::Server,
        part: Part::Whole,
        timestamps: TimestampFormat::EpochSeconds,
        limits_names: true,
        spaced_base64: false,
    };
}

/// Values with their names or keys.
pub(super) type Values = Vec<(String, Node)>;

/// How the nodes of a format are read.
pub(super) trait DecodeFormat: fmt::Debug {
    const NAME: &'static str;

    fn rules(&self) -> Rules;

    /// Checks the node at the top, which is read as the value of `at`.
    fn root(&self, node: Node, at: Member<'_>) -> Result<Node, Error> {
        let _ = at;
        Ok(node)
    }

    /// The members of a structure.
    fn members(&self, node: Node, at: Member<'_>, budget: &mut Budget) -> Result<Values, Error> {
        self.entries(node, at, budget)
    }

    fn items(&self, node: Node, at: Member<'_>, budget: &mut Budget) -> Result<Vec<Node>, Error> {
        match node.data {
            Data::List(items) => Ok(items),
            Data::Tagged(_, inner) => self.items(*inner, at, budget),
            _ => node.wrong_type(at.kind().describe()),
        }
    }

    /// The entries of a map. No tag changes what they are.
    fn entries(&self, node: Node, at: Member<'_>, budget: &mut Budget) -> Result<Values, Error> {
        let entries = match node.data {
            Data::Map(entries) => entries,
            Data::Tagged(_, inner) => return self.entries(*inner, at, budget),
            _ => return node.wrong_type(at.kind().describe()),
        };
        let named = entries.into_iter().map(|(key, value)| match key.data {
            Data::Text(key) => Ok((key, value)),
            _ => key.wrong_type("a text string"),
        });
        named.collect()
    }

    fn find<'s>(&self, shape: Schema<'s>, name: &str, value: &Node) -> Option<Member<'s>> {
        let _ = value;
        let names = self.rules().names;
        shape.members().find(|member| member.plain(names) == name)
    }

    fn is_null(&self, node: &Node) -> bool {
        matches!(node.data, Data::Null)
    }

    /// Counts what is in a value that is not read.
    fn skip(&self, node: &Node, budget: &mut Budget) -> Result<(), Error> {
        skip_parts(self, node, budget)
    }

    /// The text of a string, which is not too long.
    fn text(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<String, Error>;

    /// The text of a scalar other than a string.
    fn word(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<String, Error> {
        self.text(node, at, budget)
    }

    /// The text of a number, or one of `NaN`, `Infinity` and `-Infinity`.
    fn digits(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<String, Error> {
        self.word(node, at, budget)
    }

    fn boolean(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<bool, Error> {
        let word = self.word(node, at, budget)?.parse();
        word.map_err(|_| node.invalid("true or false"))
    }

    fn integer(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<i64, Error> {
        let (least, most) = at.kind().integer_range();
        match self.digits(node, at, budget)?.parse() {
            Ok(value) if (least..=most).contains(&value) => Ok(value),
            _ => Err(node.invalid(at.kind().describe())),
        }
    }

    fn float(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<f32, Error> {
        let digits = self.digits(node, at, budget)?;
        let double = number::double(digits.as_bytes(), Spelling::SMITHY);
        let float = match double {
            Ok(double) if !double.is_finite() => Some(double as f32),
            // Rounded once, from the text.
            Ok(_) => digits.parse().ok().filter(|float: &f32| float.is_finite()),
            Err(_) => None,
        };
        float.ok_or_else(|| node.invalid("a number of 32 bits"))
    }

    fn double(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<f64, Error> {
        let digits = self.digits(node, at, budget)?;
        number::double(digits.as_bytes(), Spelling::SMITHY)
            .map_err(|_| node.invalid("a number of 64 bits"))
    }

    fn big_integer(
        &self,
        node: &Node,
        at: Member<'_>,
        budget: &mut Budget,
    ) -> Result<BigInteger, Error> {
        let digits = self.digits(node, at, budget)?;
        budget.check_length(digits.len(), node.start)?;
        digits.parse().map_err(|_| node.invalid("an integer"))
    }

    fn big_decimal(
        &self,
        node: &Node,
        at: Member<'_>,
        budget: &mut Budget,
    ) -> Result<BigDecimal, Error> {
        let digits = self.digits(node, at, budget)?;
        budget.check_length(digits.len(), node.start)?;
        digits.parse().map_err(|_| node.invalid("a decimal number"))
    }

    fn blob(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<Vec<u8>, Error> {
        let text = self.text(node, at, budget)?;
        unbase64(node, &text, self.rules().spaced_base64)
    }

    fn timestamp(
        &self,
        node: &Node,
        at: Member<'_>,
        budget: &mut Budget,
    ) -> Result<Timestamp, Error> {
        let text = self.word(node, at, budget)?;
        let format = at.timestamp_format().unwrap_or(self.rules().timestamps);
        instant(&text, format, self.rules().required).ok_or_else(|| node.invalid("a timestamp"))
    }

    /// A scalar without a schema.
    fn document(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<Value, Error> {
        let _ = (at, budget);
        node.wrong_type("a shape that the format has")
    }
}

/// The bytes that a text says, in which white space may stand.
pub(super) fn unbase64(node: &Node, text: &str, spaced: bool) -> Result<Vec<u8>, Error> {
    base64::decode(
        text.as_bytes(),
        Alphabet::Standard,
        Padding::Required,
        spaced,
    )
    .map_err(|malformed| node.invalid(malformed.expected))
}

/// The instant that a text says.
pub(super) fn instant(text: &str, format: TimestampFormat, utc: bool) -> Option<Timestamp> {
    let policy = ReadPolicy::new();
    match format {
        TimestampFormat::EpochSeconds => timestamp::epoch_seconds(text),
        TimestampFormat::DateTime => timestamp::date_time(text.as_bytes(), policy.utc(utc)).ok(),
        TimestampFormat::HttpDate => timestamp::http_date(text.as_bytes(), policy).ok(),
    }
}

/// Items and entries of what is skipped count. The collections that hold them take no memory, so
/// they do not.
pub(super) fn skip_parts<F: DecodeFormat + ?Sized>(
    format: &F,
    node: &Node,
    budget: &mut Budget,
) -> Result<(), Error> {
    match &node.data {
        Data::Text(text) => budget.check_length(text.len(), node.start),
        Data::Bytes(bytes) => budget.check_length(bytes.len(), node.start),
        Data::Tagged(_, inner) => format.skip(inner, budget),
        Data::List(items) => items.iter().try_for_each(|item| {
            budget.count(1, item.start)?;
            format.skip(item, budget)
        }),
        Data::Map(entries) => entries.iter().try_for_each(|(key, value)| {
            budget.count(1, key.start)?;
            format.skip(key, budget)?;
            format.skip(value, budget)
        }),
        _ => Ok(()),
    }
}

/// A decoder of one message.
#[derive(Debug)]
pub struct TreeDecoder<F> {
    format: F,
    /// The value that is to be read next.
    here: Option<Node>,
    /// What is left of the structures, lists and maps around it.
    open: Vec<Level>,
    begun: bool,
    part: Part,
    /// The offset of the last value that was looked at.
    offset: usize,
    end: usize,
    budget: Budget,
}

#[derive(Debug)]
struct Level {
    values: std::vec::IntoIter<(String, Node)>,
    /// Ordinals of the members that have come.
    seen: Vec<u32>,
}

#[expect(private_bounds, reason = "the formats are those of this module")]
impl<F: DecodeFormat> TreeDecoder<F> {
    /// A decoder of the tree that `parse` makes of a message of this length.
    pub(super) fn begin(
        format: F,
        limits: &Limits,
        parse: impl FnOnce() -> Result<Node, Error>,
    ) -> Result<Self, Error> {
        let root = parse().map_err(|error| error.in_format(F::NAME))?;
        Ok(Self {
            begun: false,
            part: format.rules().part,
            format,
            offset: root.start,
            end: root.end,
            here: Some(root),
            open: Vec::new(),
            budget: Budget::new(limits),
        })
    }

    /// Goes on with another value, within what remains of the limits.
    pub(super) fn go_on(&mut self, value: Node) {
        self.here = Some(value);
    }

    /// Counts and checks values that are not read.
    pub(super) fn skip(&mut self, node: &Node) -> Result<(), Error> {
        self.account(|format, budget| format.skip(node, budget))
    }

    pub(super) fn count(&mut self, node: &Node) -> Result<(), Error> {
        self.account(|_, budget| budget.count(1, node.start))
    }

    /// Where what follows the value begins.
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    fn take(&mut self, at: Member<'_>) -> Result<Node, Error> {
        let Some(node) = self.here.take() else {
            return Err(self.error(ErrorKind::Internal, "a value"));
        };
        self.offset = node.start;
        match std::mem::replace(&mut self.begun, true) {
            true => Ok(node),
            false => self.format.root(node, at),
        }
    }

    /// Reads the next value with a function of the format.
    fn read<T>(
        &mut self,
        at: Member<'_>,
        read: impl FnOnce(&F, Node, Member<'_>, &mut Budget) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let value = self.take(at);
        value
            .and_then(|node| read(&self.format, node, at, &mut self.budget))
            .map_err(|error| error.in_format(F::NAME))
    }

    fn scalar<T>(
        &mut self,
        at: Member<'_>,
        read: impl FnOnce(&F, &Node, Member<'_>, &mut Budget) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.read(at, |format, node, at, budget| {
            read(format, &node, at, budget)
        })
    }

    /// Calls a function of the budget or the format about what is not read.
    fn account(
        &mut self,
        account: impl FnOnce(&F, &mut Budget) -> Result<(), Error>,
    ) -> Result<(), Error> {
        account(&self.format, &mut self.budget).map_err(|error| error.in_format(F::NAME))
    }

    fn enter(&mut self, values: Values) -> Result<Seq, Error> {
        let (depth, offset) = (self.open.len() + 1, self.offset);
        self.account(|_, budget| {
            budget.check_depth(depth, offset)?;
            budget.count(usize::from(depth > 1), offset)
        })?;
        self.open.push(Level {
            values: values.into_iter(),
            seen: Vec::new(),
        });
        self.budget.depth = depth;
        Ok(Seq::default())
    }

    /// The next value of the innermost structure, list or map, which is closed at its end.
    fn next(&mut self) -> Option<(String, Node)> {
        let next = self.open.last_mut().and_then(|level| level.values.next());
        match &next {
            Some((_, node)) => self.offset = node.start,
            None => {
                self.open.pop();
                self.budget.depth = self.open.len();
            }
        }
        next
    }

    /// The next item or entry of the list or map of `at`.
    fn next_element(&mut self, at: Member<'_>) -> Result<Option<String>, Error> {
        while let Some((key, value)) = self.next() {
            let offset = value.start;
            self.account(|_, budget| {
                budget.count(1, offset)?;
                budget.check_length(key.len(), offset)
            })?;
            let dense = !at.is_sparse() && at.element().kind() != ShapeKind::Document;
            if dense && self.format.is_null(&value) {
                if !self.format.rules().skip_nulls {
                    return Err(self.error(ErrorKind::WrongType, "no null"));
                }
                self.skip(&value)?;
                continue;
            }
            self.here = Some(value);
            return Ok(Some(key));
        }
        Ok(None)
    }

    /// Skips a member that the shape does not have.
    fn skip_unknown(&mut self, name: &str, value: &Node) -> Result<(), Error> {
        let rules = self.format.rules();
        if rules.refuse_unknown {
            return Err(self.error(ErrorKind::Unknown, "a member that the shape has"));
        }
        self.account(|format, budget| {
            budget.count(1, value.start)?;
            if rules.limits_names {
                budget.check_length(name.len(), value.start)?;
            }
            format.skip(value, budget)
        })
    }
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
            // A null is as good as no member, but for documents.
            if self.format.is_null(&value) && member.kind() != ShapeKind::Document {
                self.skip(&value)?;
                continue;
            }
            self.here = Some(value);
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
        let null = self.here.take_if(|node| self.format.is_null(node));
        match null {
            Some(node) => self.skip(&node)?,
            None => return Ok(false),
        }
        Ok(true)
    }

    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error> {
        self.scalar(at, F::boolean)
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        self.scalar(at, F::integer)
    }

    fn float(&mut self, at: Member<'_>) -> Result<f32, Error> {
        self.scalar(at, F::float)
    }

    fn double(&mut self, at: Member<'_>) -> Result<f64, Error> {
        self.scalar(at, F::double)
    }

    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
        self.scalar(at, F::big_integer)
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        self.scalar(at, F::big_decimal)
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        self.scalar(at, F::text).map(Text::from)
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.scalar(at, F::text).map(Cow::Owned)
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        self.scalar(at, F::blob).map(Blob::from)
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        self.scalar(at, F::timestamp)
    }

    fn any(&mut self) -> Result<Event, Error> {
        let at = Member::DOCUMENT;
        match self.here.as_ref().map(|node| &node.data) {
            Some(Data::Map(_)) => self.map(at).map(Event::Map),
            Some(Data::List(_)) => self.list(at).map(Event::List),
            _ => self.scalar(at, F::document).map(Event::Scalar),
        }
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        let rules = self.format.rules();
        if !rules.required {
            return Ok(());
        }
        let error = self.error(ErrorKind::Missing, "");
        Err(error.expected(format!("the required member `{}`", at.plain(rules.names))))
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.format.rules().defaults.fills(at)
    }

    fn unknown(&mut self, _: Member<'_>) -> Result<(), Error> {
        match self.format.rules().required {
            true => Err(self.error(ErrorKind::Unknown, "only members that the union has")),
            false => Ok(()),
        }
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        super::node::error(kind, self.offset, expected).in_format(F::NAME)
    }
}
