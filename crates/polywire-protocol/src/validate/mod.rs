//! Validation of the constraint traits in the inputs of servers.
//!
//! <https://smithy.io/2.0/spec/constraint-traits.html>
//!
//! Decoding checks types and required members. A [`Validator`] checks `@length`, `@range`,
//! `@pattern`, `@uniqueItems` and the values of enums. It traverses the decoded input as an
//! encoder, so it accepts both typed inputs and maps, and lists all failures with their paths. It
//! skips members without constraints, and operations without constraints entirely.
//!
//! If a required member is missing, the request is decoded again without this check, so that the
//! fault lists all failures at once.

mod canonical;
mod check;
mod decimal;
mod failures;
mod walk;

use std::fmt;

use polywire_codec::xml::XmlEncoder;
use polywire_codec::{Lenient, Message, Sink};
use polywire_schema::{Direction, ErrorKind, Map, Member, Operation, Service};

use self::check::Checks;
use self::walk::Walk;
use crate::event_stream::stream_of;
use crate::size::size;
use crate::{Fault, FaultKind, ReadPlan, ServerProtocol};

/// The shape id of the structure that lists the failures, if the model contains it.
pub(crate) const VALIDATION_EXCEPTION: &str = "smithy.framework#ValidationException";

/// Validates the inputs of one service.
///
/// Patterns are compiled when the validator is created. The regex engine takes linear time for all
/// patterns. The fault lists at most 64 failures, in a text of about 16 KiB at most, but counts all
/// of them. It does not contain values. A map key appears as `*` if the key, the map or a value
/// that contains the map is `@sensitive`.
///
/// ```
/// use polywire_model::Loader;
/// use polywire_protocol::Validator;
/// use polywire_schema::{Map, Value};
///
/// let text = r#"
///     $version: "2"
///     namespace example
///     service Weather { version: "1", operations: [GetCity] }
///     operation GetCity { input := { @length(min: 2) @pattern("^[a-z]*$") name: String } }
/// "#;
/// let model = Loader::new().add_text("weather.smithy", text).assemble()?.model;
/// let set = model.schemas("example#Weather").unwrap()?;
/// let validator = Validator::new(set.service(0))?;
///
/// let operation = set.service(0).find_operation("GetCity").unwrap();
/// let input = Map::from_iter([("name", Value::from("X"))]);
/// let fault = validator.check(operation, &input).unwrap_err();
/// assert_eq!(
///     fault.message(),
///     "2 validation errors detected. \
///      Value with length 1 at '/name' failed to satisfy constraint: \
///      Member must have length greater than or equal to 2; \
///      Value at '/name' failed to satisfy constraint: \
///      Member must satisfy regular expression pattern: ^[a-z]*$",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Validator {
    checks: Checks,
}

/// The error for a pattern that cannot be checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UncheckedPattern {
    /// The id of the shape or member with the pattern.
    pub shape: String,
    /// The pattern.
    pub pattern: String,
    /// Why the pattern cannot be checked.
    pub reason: String,
}

impl fmt::Display for UncheckedPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shape,
            pattern,
            reason,
        } = self;
        write!(
            f,
            "the pattern of {shape} cannot be checked: {reason}: {pattern}"
        )
    }
}

impl std::error::Error for UncheckedPattern {}

impl Validator {
    /// Creates a validator for the inputs of a service.
    ///
    /// # Errors
    ///
    /// Returns the first pattern that cannot be checked: one with look-around or back-references,
    /// or one that takes more than 8 MiB when compiled.
    pub fn new(service: Service<'_>) -> Result<Self, UncheckedPattern> {
        let (validator, unchecked) = Self::with_unchecked_patterns(service);
        match unchecked.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(validator),
        }
    }

    /// Like [`Validator::new`], but returns the patterns that cannot be checked. Any text passes
    /// them.
    #[must_use]
    pub fn with_unchecked_patterns(service: Service<'_>) -> (Self, Vec<UncheckedPattern>) {
        let (checks, unchecked) = Checks::of(service);
        (Self { checks }, unchecked)
    }

    /// Returns whether an operation has constraints.
    #[must_use]
    pub fn checks(&self, operation: Operation<'_>) -> bool {
        operation.input().root().is_constrained()
    }

    /// Validates a decoded input that has all required members.
    ///
    /// # Errors
    ///
    /// A fault that lists all failures: `smithy.framework#ValidationException` if the operation
    /// lists it, or else one of kind [`FaultKind::Invalid`] with the same details.
    pub fn check(&self, operation: Operation<'_>, input: &dyn Message) -> Result<(), Fault> {
        if !self.checks(operation) {
            return Ok(());
        }
        self.walk(operation, operation.input().root(), input, false)
    }

    /// Validates an event that a server has received and decoded: a value of the union that the
    /// [stream](crate::event_stream::stream_of) of the input targets. The paths of failures begin
    /// in the union.
    ///
    /// # Errors
    ///
    /// The same as [`check`](Self::check).
    pub fn check_event(&self, operation: Operation<'_>, event: &dyn Message) -> Result<(), Fault> {
        let Some(stream) = stream_of(operation, Direction::Request) else {
            return Ok(());
        };
        let root = stream.target().root();
        match root.is_constrained() {
            true => self.walk(operation, root, event, false),
            false => Ok(()),
        }
    }

    /// Validates an input after it was decoded with the result `decoded`. If decoding failed
    /// because a required member is missing, the fault lists all failures. [`read_input`] decodes
    /// and then calls this method.
    ///
    /// # Errors
    ///
    /// The same as [`read_input`].
    pub fn check_decoded(
        &self,
        protocol: &dyn ServerProtocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        decoded: Result<(), Fault>,
        input: &dyn Message,
    ) -> Result<(), Fault> {
        match decoded {
            Ok(()) => self.check(operation, input),
            Err(fault) if is_missing(&fault) => {
                Err(self.list_all_failures(protocol, operation, request, fault))
            }
            Err(fault) => Err(fault),
        }
    }

    fn walk(
        &self,
        operation: Operation<'_>,
        root: Member<'_>,
        input: &dyn Message,
        required: bool,
    ) -> Result<(), Fault> {
        let mut walk = Walk::new(&self.checks, root, required);
        input.encode_any(root, &mut walk);
        let failures = walk.finish()?;
        if failures.is_empty() {
            return Ok(());
        }
        let details = failures.details();
        Err(match operation.find_error(VALIDATION_EXCEPTION) {
            Some(error) => Fault::modelled(error.id(), details),
            None => Fault::new(FaultKind::Invalid, failures.message()).with_details(details),
        })
    }

    /// Decodes a request again that lacks a required member, and returns a fault that lists all
    /// failures.
    fn list_all_failures(
        &self,
        protocol: &dyn ServerProtocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        fault: Fault,
    ) -> Fault {
        let mut input = Lenient(Map::new());
        if let Err(other) = protocol.decode_input(operation, request, &mut input) {
            return other;
        }
        match self.walk(operation, operation.input().root(), &input.0, true) {
            Err(all) => all,
            Ok(()) => fault,
        }
    }
}

/// For servers: decodes the input of a call, counts its memory, and validates it.
///
/// With a validator, an input without a required member results in a fault that lists all failures.
/// Without one, the fault is the first missing member, and constraints are not checked.
///
/// # Errors
///
/// The request does not contain a valid input of the operation.
pub fn read_input<'de, S>(
    protocol: &dyn ServerProtocol,
    operation: Operation<'_>,
    request: &ReadPlan<'de>,
    sink: &mut S,
    validator: Option<&Validator>,
) -> Result<(), Fault>
where
    S: Sink<'de> + Message,
{
    let decoded = protocol.decode_input(operation, request, sink);
    if let Some(memory) = request.memory
        && decoded.is_ok()
    {
        memory.take(size(operation.input().root(), sink))?;
    }
    match validator {
        Some(validator) => validator.check_decoded(protocol, operation, request, decoded, sink),
        None => decoded,
    }
}

/// Writes the `fieldList` of a validation error as XML, for services whose model does not contain
/// the structure.
pub(crate) fn push_fields(encoder: &mut XmlEncoder<'_>, details: Option<&Map>) {
    let fields = details.and_then(|details| details.get("fieldList")?.as_list());
    let Some(fields) = fields else { return };
    encoder.open("fieldList");
    for field in fields {
        encoder.open("member");
        for name in ["path", "message"] {
            encoder.element(name, field[name].as_str().unwrap_or_default());
        }
        encoder.close("member");
    }
    encoder.close("fieldList");
}

/// Returns whether decoding failed because a required member is missing.
fn is_missing(fault: &Fault) -> bool {
    let error = fault.decode_error();
    error.is_some_and(|error| error.kind() == ErrorKind::Missing)
}

/// Returns the id of the shape that has the constraints of a member, for messages about the model:
/// the target, or the member if it has constraints of its own.
fn constrained_id(at: Member<'_>) -> String {
    let target = at.target();
    let own = |member: Member<'_>| member.constraints().map(|constraints| constraints.index());
    if at.is_root() || own(at) == own(target.root()) {
        return target.id().to_owned();
    }
    format!("{}${}", at.container().id(), at.name())
}
