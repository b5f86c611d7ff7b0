//! What REST protocols share: the HTTP bindings of Smithy, both ways.
//!
//! <https://smithy.io/2.0/spec/http-bindings.html>

mod decode;
mod encode;
mod header;
mod pattern;
mod payload;
mod route;
mod scalar;

use polywire_schema::{Location, Schema, ShapeKind};

pub(crate) use decode::HeadDecoder;
pub(crate) use encode::HeadEncoder;
pub use pattern::{Pattern, PatternError, Segment};
pub(crate) use payload::{PayloadDecoder, PayloadEncoder, is_raw, raw_payload};
pub(crate) use route::{Found, Router};

/// Which parts of a message carry the members of a structure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bindings {
    /// Something stands in the head.
    pub(crate) head: bool,
    /// Something stands in the document.
    pub(crate) document: bool,
    /// This member is the whole body.
    pub(crate) payload: Option<(u32, ShapeKind)>,
}

impl Bindings {
    pub(crate) fn of(shape: Schema<'_>) -> Self {
        let mut bindings = Self::default();
        for member in shape.members() {
            match member.location() {
                Location::Body => bindings.document = true,
                Location::Payload => bindings.payload = Some((member.ordinal(), member.kind())),
                _ => bindings.head = true,
            }
        }
        bindings
    }
}

/// Whether a media type names another, parameters aside.
pub(crate) fn is_media_type(value: &str, wanted: &str) -> bool {
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case(wanted)
}

/// Whether an `Accept` header allows a media type.
pub(crate) fn accepts(accept: &str, wanted: &str) -> bool {
    let kind = wanted.split('/').next().unwrap_or_default();
    accept.split(',').any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        range == "*/*"
            || range.eq_ignore_ascii_case(wanted)
            || range
                .strip_suffix("/*")
                .is_some_and(|range| range.eq_ignore_ascii_case(kind))
    })
}
