//! How the members of an event are distributed over headers and payload.

use polywire_schema::{Direction, Member, MemberFlags, Operation, Schema, ShapeKind};

/// The layout of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventLayout {
    pub(super) payload: PayloadKind,
}

/// What the payload of an event is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PayloadKind {
    /// All members are headers, or there are none.
    None,
    /// The bytes of this member, a blob or a string.
    Raw(u32),
    /// The document of this member, a structure or union.
    Member(u32),
    /// The document of all members that are not headers.
    Document,
}

/// Returns the layout of an event.
///
/// <https://smithy.io/2.0/spec/streaming.html#event-message-serialization>
pub(super) fn layout_of(event: Schema<'_>) -> EventLayout {
    let mut payload = PayloadKind::None;
    for member in event.members() {
        if member.has(MemberFlags::EVENT_PAYLOAD) {
            payload = match member.kind() {
                ShapeKind::Blob | ShapeKind::String | ShapeKind::Enum => {
                    PayloadKind::Raw(member.ordinal())
                }
                _ => PayloadKind::Member(member.ordinal()),
            };
            break;
        }
        if !member.has(MemberFlags::EVENT_HEADER) {
            payload = PayloadKind::Document;
        }
    }
    EventLayout { payload }
}

/// Returns the event stream of an operation: the member of its input (requests) or output
/// (responses) that targets a union with `@streaming`.
///
/// ```
/// use polywire_protocol::event_stream::stream_of;
/// use polywire_schema::{Direction, SchemaBuilder};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let idl = r#"$version: "2"
/// # namespace example
/// # @aws.protocols#restJson1
/// # service Robot { operations: [Watch] }
/// # @http(method: "GET", uri: "/watch")
/// # @readonly
/// # operation Watch { output := { @httpPayload events: Events } }
/// # @streaming
/// # union Events { moved: Moved }
/// # structure Moved {}"#;
/// # let mut loader = polywire_model::Loader::new();
/// # loader.add_text("robot.smithy", idl);
/// # let set = loader.assemble()?.model.schemas("example#Robot").unwrap()?;
/// // operation Watch { output := { @httpPayload events: Events } }
/// let watch = set.service(0).find_operation("Watch").unwrap();
/// assert_eq!(stream_of(watch, Direction::Response).unwrap().name(), "events");
/// assert!(stream_of(watch, Direction::Request).is_none());
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn stream_of(operation: Operation<'_>, direction: Direction) -> Option<Member<'_>> {
    stream_member(match direction {
        Direction::Request => operation.input(),
        Direction::Response => operation.output(),
    })
}

/// Returns the member of an input or output that is an event stream.
pub(crate) fn stream_member(shape: Schema<'_>) -> Option<Member<'_>> {
    shape.members().find(|member| is_event_stream(*member))
}

/// Returns whether a member of an input or output is an event stream.
pub(crate) fn is_event_stream(member: Member<'_>) -> bool {
    member.kind() == ShapeKind::Union && member.has(MemberFlags::STREAMING)
}
