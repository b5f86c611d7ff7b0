//! Requests that the store would misunderstand.

use polywire::protocol::Fault;
use polywire::rpc::RoutedCall;
use polywire::schema::{Location, Member, Operation};
use polywire::text::percent;

use crate::error::Error;

/// Rejects requests for something that the store does not have.
///
/// # Errors
///
/// The request is for another operation, or has an option that would be ignored.
pub(crate) fn check(routed: &RoutedCall, most: u64) -> Result<(), Fault> {
    let call = &routed.context;
    let query = call.uri().query().unwrap_or_default();
    let is_other = |operation| names_other(query, operation);
    if routed.operation().is_some_and(is_other) {
        let reason =
            "A header or query you provided implies functionality that is not implemented.";
        return Err(Error::NotImplemented(reason).into());
    }
    let header = |name: &str| {
        call.headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    for name in call.headers().keys() {
        let name = name.as_str();
        // An object that is not encrypted or locked must not be taken for one that is.
        let is_encryption = name.starts_with("x-amz-server-side-encryption")
            || name.starts_with("x-amz-copy-source-server-side-encryption");
        if is_encryption || name.starts_with("x-amz-object-lock-") {
            let reason = "This store does not encrypt or lock objects.";
            return Err(Error::NotImplemented(reason).into());
        }
        if name == "x-amz-write-offset-bytes" {
            return Err(Error::NotImplemented("This store does not append to objects.").into());
        }
    }
    // A body without a length is rejected while it is read.
    let length = header("content-length").and_then(|length| length.parse::<u64>().ok());
    if length.is_some_and(|length| length > most) {
        return Err(Error::EntityTooLarge.into());
    }
    Ok(())
}

/// Whether a query asks for something that the operation does not have. Otherwise the request would be taken for one of
/// an operation that the store has: `DELETE /bucket?policy` for DeleteBucket.
///
/// S3 names such operations by a parameter without a value. Other parameters that an operation does not know are
/// ignored, as S3 does: signatures, and `x-id` of some clients. Names are decoded as the router decodes them, to which
/// `%61cl` is `acl`.
fn names_other(query: &str, operation: Operation<'_>) -> bool {
    let (_, uri, _) = operation.http().unwrap_or_default();
    let literals = uri.split_once('?').map_or("", |(_, literals)| literals);
    let is_known = |name: &str| {
        let mut members = operation.input().members();
        let is_member = |member: Member<'_>| {
            member.location() == Location::Query && member.location_name() == name
        };
        literals.split('&').any(|literal| literal == name) || members.any(is_member)
    };
    query.split('&').any(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        percent::decode_query(name).is_ok_and(|name| match &*name {
            // An operation without versions must not act on the object instead.
            "versionId" => !is_known("versionId"),
            name => value.is_empty() && !name.is_empty() && !is_known(name),
        })
    })
}
