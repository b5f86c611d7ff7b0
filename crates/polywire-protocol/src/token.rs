//! Idempotency tokens: clients generate a value for a member, so that a server can detect a retried
//! call.
//!
//! <https://smithy.io/2.0/spec/behavior-traits.html#idempotencytoken-trait>

use polywire_codec::{EncodeAny, EncodeWith, Message};
use polywire_schema::{
    BigDecimal, BigInteger, Blob, ByteStream, Encoder, Error, Member, MemberFlags, Operation,
    Schema, ShapeFlags, Text, Timestamp,
};

/// For clients: an input with an idempotency token that the input itself lacks.
///
/// It can be encoded like the input. An input that has the token needs no wrapper.
///
/// ```
/// use polywire_codec::{EncodeAny, EncodeWith, Message};
/// use polywire_codec::json::{JsonEncoder, JsonProfile};
/// use polywire_protocol::WithToken;
/// use polywire_schema::{
///     Map, MemberFlags, MemberSpec, OperationSpec, SchemaBuilder, ShapeKind, Value,
/// };
///
/// let mut builder = SchemaBuilder::new();
/// let string = builder.shape(ShapeKind::String, "smithy.api#String");
/// let input = builder.shape(ShapeKind::Structure, "example#PutInput");
/// let token = MemberSpec::new("token", string).flag(MemberFlags::IDEMPOTENCY_TOKEN);
/// builder.member(input, token);
/// builder.operation(OperationSpec::new("example#Put", input, input));
/// let set = builder.finish()?;
///
/// let operation = set.operation(0);
/// let empty = Map::new();
/// assert!(WithToken::is_due(operation, &empty));
/// let whole = WithToken::new(operation, &empty, "0-1-2");
/// let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
/// let message: &dyn Message = &whole;
/// message.write(operation.input().root(), &mut encoder);
/// assert_eq!(encoder.finish()?, br#"{"token":"0-1-2"}"#);
///
/// let own = Map::from_iter([("token", Value::from("own"))]);
/// assert!(!WithToken::is_due(operation, &own));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WithToken<'a> {
    input: &'a dyn Message,
    token: &'a str,
}

impl<'a> WithToken<'a> {
    /// Returns whether the operation has an idempotency token and this input lacks it.
    #[must_use]
    pub fn is_due(operation: Operation<'_>, input: &dyn Message) -> bool {
        let shape = operation.input();
        if !shape.has(ShapeFlags::TOKEN) {
            return false;
        }
        let mut finder = TokenFinder::default();
        input.encode_any(shape.root(), &mut finder);
        !finder.has_token
    }

    /// Creates an input with a token, for an operation whose input [lacks it](Self::is_due).
    #[must_use]
    pub fn new(operation: Operation<'_>, input: &'a dyn Message, token: &'a str) -> Self {
        debug_assert!(
            Self::is_due(operation, input),
            "{operation:?} lacks no token"
        );
        Self { input, token }
    }
}

impl std::fmt::Debug for WithToken<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WithToken")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl EncodeAny for WithToken<'_> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        let mut inserter = TokenInserter {
            inner: encoder,
            token: Some(self.token),
            ordinal: token_of(at).map_or(u32::MAX, Member::ordinal),
            depth: 0,
        };
        self.input.encode_any(at, &mut inserter);
    }
}

impl<E> EncodeWith<E> for WithToken<'_> {}

/// Returns the member with `@idempotencyToken`.
fn token_of(at: Member<'_>) -> Option<Member<'_>> {
    let mut members = at.target().members();
    members.find(|member| member.has(MemberFlags::IDEMPOTENCY_TOKEN))
}

/// Finds out whether the top-level structure has the token.
#[derive(Default)]
struct TokenFinder {
    has_token: bool,
}

impl Encoder for TokenFinder {
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {}

    fn member(&mut self, at: Member<'_>) -> bool {
        self.has_token |= at.has(MemberFlags::IDEMPOTENCY_TOKEN);
        false
    }

    fn end_structure(&mut self, _: Member<'_>) {}
    fn begin_list(&mut self, _: Member<'_>, _: usize) {}
    fn end_list(&mut self, _: Member<'_>) {}
    fn begin_map(&mut self, _: Member<'_>, _: usize) {}
    fn key(&mut self, _: Member<'_>, _: &str) {}
    fn end_map(&mut self, _: Member<'_>) {}
    fn boolean(&mut self, _: Member<'_>, _: bool) {}
    fn integer(&mut self, _: Member<'_>, _: i64) {}
    fn float(&mut self, _: Member<'_>, _: f32) {}
    fn double(&mut self, _: Member<'_>, _: f64) {}
    fn big_integer(&mut self, _: Member<'_>, _: &BigInteger) {}
    fn big_decimal(&mut self, _: Member<'_>, _: &BigDecimal) {}
    fn string(&mut self, _: Member<'_>, _: &str) {}
    fn blob(&mut self, _: Member<'_>, _: &[u8]) {}
    fn timestamp(&mut self, _: Member<'_>, _: Timestamp) {}
    fn null(&mut self, _: Member<'_>) {}
    fn fail(&mut self, _: Error) {}
}

/// Forwards all calls, and adds the token to the top-level structure in the order of the members.
struct TokenInserter<'a> {
    inner: &'a mut dyn Encoder,
    /// The token, until it has been written.
    token: Option<&'a str>,
    /// The ordinal of its member.
    ordinal: u32,
    depth: u32,
}

impl TokenInserter<'_> {
    fn add(&mut self, shape: Schema<'_>) {
        if let Some(token) = self.token.take()
            && self.ordinal < shape.len()
        {
            let member = shape.member(self.ordinal);
            if self.inner.member(member) {
                self.inner.string(member, token);
            }
        }
    }
}

impl Encoder for TokenInserter<'_> {
    fn begin_structure(&mut self, at: Member<'_>, present: usize) {
        let more = usize::from(self.depth == 0);
        self.depth += 1;
        self.inner.begin_structure(at, present + more);
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        if self.depth == 1 && at.ordinal() > self.ordinal {
            self.add(at.container());
        }
        self.inner.member(at)
    }

    fn is_head(&self) -> bool {
        self.inner.is_head()
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.inner.fills_default(at)
    }

    fn end_structure(&mut self, at: Member<'_>) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.add(at.target());
        }
        self.inner.end_structure(at);
    }

    fn begin_list(&mut self, at: Member<'_>, len: usize) {
        self.inner.begin_list(at, len);
    }

    fn end_list(&mut self, at: Member<'_>) {
        self.inner.end_list(at);
    }

    fn begin_map(&mut self, at: Member<'_>, len: usize) {
        self.inner.begin_map(at, len);
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        self.inner.key(at, key);
    }

    fn text_key(&mut self, at: Member<'_>, key: &Text) {
        self.inner.text_key(at, key);
    }

    fn end_map(&mut self, at: Member<'_>) {
        self.inner.end_map(at);
    }

    fn boolean(&mut self, at: Member<'_>, value: bool) {
        self.inner.boolean(at, value);
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        self.inner.integer(at, value);
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.inner.float(at, value);
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.inner.double(at, value);
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.inner.big_integer(at, value);
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.inner.big_decimal(at, value);
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        self.inner.string(at, value);
    }

    fn text(&mut self, at: Member<'_>, value: &Text) {
        self.inner.text(at, value);
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        self.inner.blob(at, value);
    }

    fn shared_blob(&mut self, at: Member<'_>, value: &Blob) {
        self.inner.shared_blob(at, value);
    }

    fn stream(&mut self, at: Member<'_>, value: &ByteStream) {
        self.inner.stream(at, value);
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        self.inner.timestamp(at, value);
    }

    fn null(&mut self, at: Member<'_>) {
        self.inner.null(at);
    }

    fn fail(&mut self, error: Error) {
        self.inner.fail(error);
    }
}
