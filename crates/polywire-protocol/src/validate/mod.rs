//! Constraint traits on the inputs of servers.
//!
//! <https://smithy.io/2.0/spec/constraint-traits.html>
//!
//! Decoding has seen to types and to what is required; what is left is `@length`,
//! `@range`, `@pattern`, `@uniqueItems` and the values of enums. A [`Validator`]
//! walks over the decoded input as an encoder would, be it typed or a map, and
//! lists everything that fails, with its path. Members below which nothing is
//! constrained are not entered, and an operation without constraints is not
//! walked at all.
//!
//! When a required member did not come, the request is read once more, this time
//! minding nothing that is missing, so that the caller is told all that is wrong
//! at once.

mod canonical;
mod check;
mod decimal;
mod failures;
mod walk;

use std::fmt;

use polywire_codec::xml::XmlEncoder;
use polywire_codec::{Lenient, Message, Sink};
use polywire_schema::{Error, ErrorKind, Map, Member, Operation, Service};

use self::check::Checks;
use self::walk::Walk;
use crate::size::size;
use crate::{Fault, FaultKind, ReadPlan, ServerProtocol};

/// The structure that tells what is wrong, where the model lists it.
pub(crate) const VALIDATION_EXCEPTION: &str = "smithy.framework#ValidationException";

/// Checks the inputs of one service.
///
/// Patterns are compiled when it is made, by an engine that takes linear time
/// whatever the pattern. At most 64 failures are listed, in a text of at most
/// about 16 KiB; the count is of all. Values are not shown. A key of a map is shown
/// as `*` if it is `@sensitive`, or the map or anything around it is.
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

/// A pattern of the model that cannot be checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UncheckedPattern {
    /// The id of the shape or member that has it.
    pub shape: String,
    /// The pattern.
    pub pattern: String,
    /// Why not.
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
    /// A validator of the inputs of a service.
    ///
    /// # Errors
    ///
    /// The first pattern that cannot be checked: with look-around or references
    /// to groups, or larger than 8 MiB when compiled.
    pub fn new(service: Service<'_>) -> Result<Self, UncheckedPattern> {
        let (validator, unchecked) = Self::with_unchecked_patterns(service);
        match unchecked.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(validator),
        }
    }

    /// As [`Validator::new`], leaving out the patterns that cannot be checked:
    /// whatever they say, any text passes them.
    #[must_use]
    pub fn with_unchecked_patterns(service: Service<'_>) -> (Self, Vec<UncheckedPattern>) {
        let (checks, unchecked) = Checks::of(service);
        (Self { checks }, unchecked)
    }

    /// Whether an operation has anything to check.
    #[must_use]
    pub fn checks(&self, operation: Operation<'_>) -> bool {
        operation.input().root().is_constrained()
    }

    /// Checks a decoded input, all required members of which are there.
    ///
    /// # Errors
    ///
    /// A fault that lists all that fails: `smithy.framework#ValidationException`
    /// if the operation may end in it, else one of kind
    /// [`FaultKind::Invalid`] with the same details.
    pub fn check(&self, operation: Operation<'_>, input: &dyn Message) -> Result<(), Fault> {
        if !self.checks(operation) {
            return Ok(());
        }
        self.walk(operation, input, false)
    }

    /// What is to be said of a request that was read, or could not be: with
    /// everything that is wrong, if that is that members are missing. This is the
    /// half of [`read_input`] after the reading.
    ///
    /// # Errors
    ///
    /// As for [`read_input`].
    pub fn check_decoded(
        &self,
        protocol: &dyn ServerProtocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        read: Result<(), Fault>,
        input: &dyn Message,
    ) -> Result<(), Fault> {
        match read {
            Ok(()) => self.check(operation, input),
            Err(fault) if is_missing(&fault) => {
                Err(self.explain(protocol, operation, request, fault))
            }
            Err(fault) => Err(fault),
        }
    }

    fn walk(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
        required: bool,
    ) -> Result<(), Fault> {
        let root = operation.input().root();
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

    /// What is wrong with a request, of which reading said that a required
    /// member is missing: all of it.
    fn explain(
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
        match self.walk(operation, &input.0, true) {
            Err(all) => all,
            Ok(()) => fault,
        }
    }
}

/// Server: reads the input of a call, counts its memory, and checks it.
///
/// With a validator, an input that lacks required members is told apart from one
/// that cannot be read: the fault lists what is missing together with everything
/// else that the model does not allow. Without one, the first missing member is
/// the fault, and constraints are not looked at.
///
/// # Errors
///
/// The request does not hold that input, or the input is not as the model wants
/// it.
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
    let read = protocol.decode_input(operation, request, sink);
    if let Some(memory) = request.memory
        && read.is_ok()
    {
        memory.take(size(operation.input().root(), sink))?;
    }
    match validator {
        Some(validator) => validator.check_decoded(protocol, operation, request, read, sink),
        None => read,
    }
}

/// Writes as XML what an error of the kind lists beside its message, for services
/// whose model does not have it.
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

/// Whether reading ended for want of a required member.
fn is_missing(fault: &Fault) -> bool {
    let source = std::error::Error::source(fault);
    let error = source.and_then(|source| source.downcast_ref::<Error>());
    error.is_some_and(|error| error.kind() == ErrorKind::Missing)
}

/// How a place is called in messages about the model: of what shares the
/// constraints of its target, the target.
fn place_of(at: Member<'_>) -> String {
    let target = at.target();
    let own = |member: Member<'_>| member.constraints().map(|constraints| constraints.index());
    if at.is_root() || own(at) == own(target.root()) {
        return target.id().to_owned();
    }
    format!("{}${}", at.container().id(), at.name())
}
