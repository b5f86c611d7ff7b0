//! The encoder of all reference implementations. It builds a tree, and the format writes the tree.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Member, Part, ShapeKind, Timestamp,
    TimestampFormat,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::number;
use polywire_text::reference::{base64, timestamp};
use polywire_text::timestamp::Fraction;

use super::format::Format;
use super::node::{Data, Node};

/// How a format builds its nodes, and how it writes a tree.
pub(super) trait EncodeFormat: Format {
    /// Whether the number of members, items and entries must be equal to the announced number.
    const COUNTS: bool = false;

    /// Checks that the format supports the shape of `at`.
    fn check(&self, at: Member<'_>, is_top: bool) -> Result<(), Error> {
        let _ = (at, is_top);
        Ok(())
    }

    fn of_scalar(&self, at: Member<'_>, value: Data) -> Result<Data, Error> {
        let format = at.timestamp_format().unwrap_or(self.options().timestamps);
        match value {
            Data::Timestamp(value) => instant(value, format).map(Data::Text),
            value => Ok(value),
        }
    }

    fn of_structure(&self, at: Member<'_>, members: Vec<(Node, Node)>) -> Result<Data, Error> {
        let _ = at;
        Ok(Data::Map(members))
    }

    fn of_list(&self, at: Member<'_>, items: Vec<Node>) -> Result<Data, Error> {
        let _ = at;
        Ok(Data::List(items))
    }

    fn of_map(&self, at: Member<'_>, entries: Vec<(Node, Node)>) -> Result<Data, Error> {
        let _ = at;
        Ok(Data::Map(entries))
    }

    /// The node of a value at a known position in the tree.
    fn node(&self, at: Member<'_>, data: Data, place: Place) -> Node {
        let _ = (at, place);
        data.into()
    }

    fn write(&self, node: &Node) -> Result<Vec<u8>, Error>;
}

/// The position of a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    Top,
    /// In the top-level structure.
    Member,
    Deeper,
}

pub(super) fn unwritable(expected: &'static str) -> Error {
    Error::new(ErrorKind::Unwritable).expected(expected)
}

/// The shortest digits of a number. If several are equally short and close, the choice is the same as
/// in the fast formats.
pub(super) fn digits<T>(value: T, push: fn(&mut Vec<u8>, T)) -> String {
    let mut digits = Vec::new();
    push(&mut digits, value);
    digits.into_iter().map(char::from).collect()
}

/// A scalar as text.
pub(super) fn plain_text(scalar: &Data) -> String {
    match scalar {
        Data::Text(text) | Data::Digits(text) | Data::Decimal(text) => text.clone(),
        Data::Boolean(value) => value.to_string(),
        Data::Integer(value) => value.to_string(),
        Data::Single(value) => digits(*value, number::push_f32),
        Data::Double(value) => digits(*value, number::push_f64),
        Data::Bytes(bytes) => base64::encode(bytes, Alphabet::Standard, Padding::Required),
        _ => String::new(),
    }
}

/// A timestamp as text. The year must be in 1 to 9999.
pub(super) fn instant(value: Timestamp, format: TimestampFormat) -> Result<String, Error> {
    let text = match format {
        TimestampFormat::EpochSeconds => {
            return Ok(timestamp::write_epoch_seconds(value, Fraction::Needed));
        }
        TimestampFormat::DateTime => timestamp::write_date_time(value, Fraction::Needed),
        TimestampFormat::HttpDate => timestamp::write_http_date(value, Fraction::Needed),
    };
    match (1..=9999).contains(&value.civil().year) {
        true => Ok(text),
        false => Err(unwritable("a year from 1 to 9999")),
    }
}

/// An encoder of one message.
#[derive(Debug)]
pub struct TreeEncoder<F> {
    format: F,
    open: Vec<Level>,
    /// Whether the structure around a payload, which is not written, is open.
    around: bool,
    root: Option<Node>,
    error: Option<Error>,
}

#[derive(Debug)]
struct Level {
    kind: ShapeKind,
    announced: usize,
    /// The name or key of the next value.
    key: Option<Node>,
    /// Items have an empty key.
    values: Vec<(Node, Node)>,
}

#[expect(private_bounds, reason = "the formats are those of this module")]
impl<F: EncodeFormat> TreeEncoder<F> {
    pub(super) fn of(format: F) -> Self {
        Self {
            format,
            open: Vec::new(),
            around: false,
            root: None,
            error: None,
        }
    }

    /// Returns the message.
    ///
    /// # Errors
    ///
    /// The first error of a previous call, or the calls do not form a complete value.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        let (tree, format) = self.into_tree()?;
        match tree {
            Some(root) => format.write(&root).map_err(|e| e.in_format(F::NAME)),
            None => Ok(Vec::new()),
        }
    }

    /// The tree, which is empty for a missing payload.
    pub(super) fn into_tree(self) -> Result<(Option<Node>, F), Error> {
        match self.error {
            Some(error) => Err(error),
            None if !self.open.is_empty() => Err(unbalanced::<F>()),
            None => Ok((self.root, self.format)),
        }
    }

    fn is_payload(&self) -> bool {
        matches!(self.format.options().part, Part::Payload(_))
    }

    fn take<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.fail(error.in_format(F::NAME));
                None
            }
        }
    }

    fn check(&mut self, at: Member<'_>) {
        let checked = self.format.check(at, self.open.is_empty());
        self.take(checked);
    }

    fn add(&mut self, at: Member<'_>, data: Result<Data, Error>) {
        let Some(data) = self.take(data) else { return };
        let place = match &self.open[..] {
            [] => Place::Top,
            [level] if level.kind == ShapeKind::Structure => Place::Member,
            _ => Place::Deeper,
        };
        let node = self.format.node(at, data, place);
        match self.open.last_mut() {
            None if self.root.is_none() => self.root = Some(node),
            Some(level) if level.kind == ShapeKind::List => {
                level.values.push((Node::default(), node));
            }
            Some(Level {
                key: key @ Some(_),
                values,
                ..
            }) => values.push((key.take().unwrap_or_default(), node)),
            _ => self.fail(unbalanced::<F>()),
        }
    }

    fn scalar(&mut self, at: Member<'_>, value: Data) {
        self.check(at);
        self.add(at, self.format.of_scalar(at, value));
    }

    fn begin(&mut self, at: Member<'_>, kind: ShapeKind, announced: usize) {
        self.check(at);
        self.open.push(Level {
            kind,
            announced,
            key: None,
            values: Vec::new(),
        });
    }

    fn end(&mut self, at: Member<'_>, kind: ShapeKind) {
        let level = match self.open.pop() {
            Some(level) if level.kind == kind && level.key.is_none() => level,
            _ => return self.fail(unbalanced::<F>()),
        };
        if F::COUNTS && level.values.len() != level.announced {
            self.fail(unbalanced::<F>());
        }
        let data = match kind {
            ShapeKind::Structure => self.format.of_structure(at, level.values),
            ShapeKind::Map => self.format.of_map(at, level.values),
            _ => {
                let items = level.values.into_iter().map(|(_, item)| item);
                self.format.of_list(at, items.collect())
            }
        };
        self.add(at, data);
    }

    fn begin_entry(&mut self, key: &str) {
        match self.open.last_mut() {
            Some(level) if level.key.is_none() => level.key = Some(Node::text(key)),
            _ => self.fail(unbalanced::<F>()),
        }
    }
}

fn unbalanced<F: EncodeFormat>() -> Error {
    Error::new(ErrorKind::Internal)
        .in_format(F::NAME)
        .expected("a value for each key, and as many elements and ends as were announced")
}

impl<F: EncodeFormat> Encoder for TreeEncoder<F> {
    fn begin_structure(&mut self, at: Member<'_>, present: usize) {
        match self.is_payload() && !self.around {
            true => self.around = true,
            false => self.begin(at, ShapeKind::Structure, present),
        }
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        let part = self.format.options().part;
        let holds = match part {
            Part::Payload(_) if self.open.is_empty() => {
                return part.payload(at.container()) == Some(at.ordinal());
            }
            Part::Body(_) if self.open.len() == 1 => part.holds(at),
            _ => true,
        };
        if holds {
            self.check(at);
            self.begin_entry(at.plain(self.format.options().names));
        }
        holds
    }

    fn end_structure(&mut self, at: Member<'_>) {
        if !(self.is_payload() && self.open.is_empty()) {
            self.end(at, ShapeKind::Structure);
        }
    }

    fn begin_list(&mut self, at: Member<'_>, len: usize) {
        self.begin(at, ShapeKind::List, len);
    }

    fn end_list(&mut self, at: Member<'_>) {
        self.end(at, ShapeKind::List);
    }

    fn begin_map(&mut self, at: Member<'_>, len: usize) {
        self.begin(at, ShapeKind::Map, len);
    }

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.begin_entry(key);
    }

    fn end_map(&mut self, at: Member<'_>) {
        self.end(at, ShapeKind::Map);
    }

    fn boolean(&mut self, at: Member<'_>, value: bool) {
        self.scalar(at, Data::Boolean(value));
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        self.scalar(at, Data::Integer(value.into()));
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.scalar(at, Data::Single(value));
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.scalar(at, Data::Double(value));
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.scalar(at, Data::Digits(value.as_str().to_owned()));
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.scalar(at, Data::Decimal(value.as_str().to_owned()));
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        self.scalar(at, Data::Text(value.to_owned()));
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        self.scalar(at, Data::Bytes(value.to_vec()));
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        self.scalar(at, Data::Timestamp(value));
    }

    fn null(&mut self, at: Member<'_>) {
        self.add(at, Ok(Data::Null));
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.format.options().rules.defaults.fills_default(at)
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
