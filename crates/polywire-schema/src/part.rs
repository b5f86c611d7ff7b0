//! [`Part`]: the members of a structure that a document contains.

use crate::{Direction, Location, Member, Schema};

/// The members of the top-level structure that a document contains. In HTTP messages, some members
/// can be in the head, or one member can be the entire body.
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
    /// The members with [`Location::Body`] in a message of this direction.
    Body(Direction),
    /// The value of the member with [`Location::Payload`], without an enclosing structure. If the
    /// member is absent, the document is empty.
    Payload(Direction),
}

impl Part {
    /// Returns whether the document contains the member as a member of a structure.
    #[inline]
    #[must_use]
    pub fn holds(self, member: Member<'_>) -> bool {
        match self {
            Self::Whole => true,
            Self::Body(direction) => member.location().going(direction) == Location::Body,
            Self::Payload(_) => false,
        }
    }

    /// Returns the ordinal of the member whose value is the document. Returns `None` unless this is
    /// [`Part::Payload`] and the shape has such a member.
    #[must_use]
    pub fn payload(self, shape: Schema<'_>) -> Option<u32> {
        let Self::Payload(direction) = self else {
            return None;
        };
        let is = |member: &Member<'_>| member.location().going(direction) == Location::Payload;
        shape.members().find(is).map(Member::ordinal)
    }
}
