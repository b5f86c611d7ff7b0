//! Which part of a structure a document holds.

use crate::{Direction, Location, Member, Schema};

/// Which members of the structure at the top a document holds: in HTTP messages, some are in
/// the head instead, or one of them is the whole body.
///
/// ```
/// use polywire_schema::{Direction, Location, MemberSpec, Part, SchemaBuilder, ShapeKind};
///
/// let mut builder = SchemaBuilder::new();
/// let string = builder.shape(ShapeKind::String, "smithy.api#String");
/// let input = builder.shape(ShapeKind::Structure, "example#Input");
/// let mut header = MemberSpec::new("header", string);
/// header.location = Location::Header;
/// builder.member(input, header);
/// builder.member(input, MemberSpec::new("text", string));
/// let set = builder.finish()?;
///
/// let shape = set.shape(input.index());
/// let body = Part::Body(Direction::Request);
/// assert!(!body.holds(shape.member(0)));
/// assert!(body.holds(shape.member(1)));
/// # Ok::<(), polywire_schema::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Part {
    /// All members.
    #[default]
    Whole,
    /// The members that a message of this direction has in its body.
    Body(Direction),
    /// The value of the payload member of a message of this direction, and nothing around it. A
    /// document without this member is empty.
    Payload(Direction),
}

impl Part {
    /// Whether this part has the member, with its name.
    #[inline]
    #[must_use]
    pub fn holds(self, member: Member<'_>) -> bool {
        match self {
            Self::Whole => true,
            Self::Body(direction) => member.location().going(direction) == Location::Body,
            Self::Payload(_) => false,
        }
    }

    /// The ordinal of the member whose value is the document, if there is one.
    #[must_use]
    pub fn payload(self, shape: Schema<'_>) -> Option<u32> {
        let Self::Payload(direction) = self else {
            return None;
        };
        let is = |member: &Member<'_>| member.location().going(direction) == Location::Payload;
        shape.members().find(is).map(Member::ordinal)
    }
}
