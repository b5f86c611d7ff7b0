//! The signature of a form.

use polywire::rpc::aws::Credentials;
use polywire::rpc::aws::signature::{ErrorKind, FormPolicy, SignatureError};
use polywire::schema::Timestamp;

use super::fields::Fields;
use crate::error::Error;

/// Verifies the signature of the policy. Without access keys, every form is accepted.
///
/// # Errors
///
/// The form is not signed, by an unknown access key, or the signature is wrong or too old.
pub(super) fn verify(fields: &Fields, keys: &[Credentials], now: i64) -> Result<(), Error> {
    if keys.is_empty() {
        return Ok(());
    }
    let field = |name: &str| {
        fields
            .get(name)
            .ok_or(Error::AccessDenied("Access Denied."))
    };
    let form = FormPolicy {
        policy: field("policy")?,
        algorithm: field("x-amz-algorithm")?,
        credential: field("x-amz-credential")?,
        date: field("x-amz-date")?,
        signature: field("x-amz-signature")?,
        security_token: fields.get("x-amz-security-token"),
    };
    let form = form.parse().map_err(|error| of_signature(&error))?;
    let mut keys = keys.iter();
    let credentials = keys.find(|key| key.access_key_id() == form.access_key_id());
    let key = form.signing_key(credentials.ok_or(Error::InvalidAccessKeyId)?);
    let verified = form.verify(&key, None, Timestamp::new(now, 0));
    verified.map(drop).map_err(|error| of_signature(&error))
}

fn of_signature(error: &SignatureError) -> Error {
    match error.kind() {
        ErrorKind::Mismatch => Error::SignatureDoesNotMatch,
        ErrorKind::Expired => Error::AccessDenied("Invalid according to Policy: Policy expired."),
        ErrorKind::Malformed => Error::InvalidArgument("The signature of the form is malformed."),
        _ => Error::AccessDenied("The signature of the form is not accepted."),
    }
}
