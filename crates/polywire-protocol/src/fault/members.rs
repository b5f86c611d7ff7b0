//! The members of a modelled error.

use std::borrow::Cow;

use http::StatusCode;
use polywire_schema::{Defaults, Encode, Encoder, Error, ErrorKind, Member, Schema, Value};

use super::Fault;

/// The members of an error that are present or have a default.
#[derive(Debug)]
pub(crate) struct Members<'f, 's>(pub(crate) Vec<(Member<'s>, Cow<'f, Value>)>);

impl Members<'_, '_> {
    /// Encodes the members, without the structure around them.
    fn encode_each<E: Encoder + ?Sized>(&self, encoder: &mut E) {
        for (member, value) in &self.0 {
            if encoder.member(*member) {
                value.encode(*member, encoder);
            }
        }
    }
}

impl Encode for Members<'_, '_> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encoder.begin_structure(at, self.0.len());
        self.encode_each(encoder);
        encoder.end_structure(at);
    }
}

/// A modelled error as a map: `__type` with its name, and then its members.
pub(crate) struct NamedError<'a, 's> {
    pub(crate) name: &'a str,
    pub(crate) members: Members<'a, 's>,
}

impl Encode for NamedError<'_, '_> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encoder.begin_map(at, self.members.0.len() + 1);
        encoder.key(at, "__type");
        encoder.string(at, self.name);
        self.members.encode_each(encoder);
        encoder.end_map(at);
    }
}

/// Returns the status of a modelled error over HTTP.
pub(crate) fn status_of(error: Schema<'_>) -> StatusCode {
    let status = error.error().map_or(500, |traits| traits.status);
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl Fault {
    /// Returns the members of the error that are present or have a default, in the order of the
    /// model.
    ///
    /// # Errors
    ///
    /// A detail has no member in the structure.
    pub(crate) fn members<'f, 's>(&'f self, shape: Schema<'s>) -> Result<Members<'f, 's>, Error> {
        let details = &self.0.details;
        let unknown = |name: &&str| !shape.members().any(|member| member.name() == *name);
        if let Some(name) = details.keys().find(unknown) {
            return Err(Error::new(ErrorKind::Unknown)
                .expected(format!("a member of {}", shape.id()))
                .found(name.to_owned()));
        }
        let member = |member: Member<'s>| {
            let value = details.get(member.name()).filter(|value| !value.is_null());
            let value = match value {
                Some(value) => Cow::Borrowed(value),
                None if Defaults::Server.fills_default(member) => {
                    Cow::Owned(member.default_value()?)
                }
                None => return None,
            };
            Some((member, value))
        };
        Ok(Members(shape.members().filter_map(member).collect()))
    }
}
