//! The policy of a form.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html>

use polywire::schema::Timestamp;
use polywire::text::base64;
use serde_json::Value;

use super::fields::Fields;
use crate::error::Error;

const FAILED: Error = Error::AccessDenied("Invalid according to Policy: Policy Condition failed");

/// Checks the fields of a form against its policy, if it has one. Returns the smallest and the largest size of the file.
///
/// # Errors
///
/// The policy is malformed, expired, or does not allow the fields.
pub(super) fn check(fields: &Fields, bucket: &str, now: i64) -> Result<(u64, u64), Error> {
    let Some(policy) = fields.get("policy") else {
        return Ok((0, u64::MAX));
    };
    let wrong = Error::InvalidPolicyDocument("Invalid Policy: Invalid JSON.");
    let document = base64::decode(policy.as_bytes()).map_err(|_| wrong)?;
    let document: Value = serde_json::from_slice(&document).map_err(|_| wrong)?;
    let expiration = document.get("expiration").and_then(Value::as_str);
    let expiration = expiration.ok_or(Error::InvalidPolicyDocument(
        "Invalid Policy: Policy missing expiration.",
    ))?;
    let expiration = Timestamp::parse_date_time(expiration)
        .map_err(|_| Error::InvalidPolicyDocument("Invalid Policy: Invalid 'expiration' value."))?;
    if expiration.seconds() <= now {
        return Err(Error::AccessDenied(
            "Invalid according to Policy: Policy expired.",
        ));
    }
    let conditions = document.get("conditions").and_then(Value::as_array);
    let conditions = conditions.ok_or(Error::InvalidPolicyDocument(
        "Invalid Policy: Policy missing conditions.",
    ))?;
    let mut check = Check {
        fields,
        bucket,
        sizes: (0, u64::MAX),
        named: Vec::new(),
    };
    for condition in conditions {
        check.condition(condition)?;
    }
    check.every_field_is_named()?;
    Ok(check.sizes)
}

struct Check<'f> {
    fields: &'f Fields,
    bucket: &'f str,
    sizes: (u64, u64),
    /// The fields that conditions name, in lower case.
    named: Vec<String>,
}

impl Check<'_> {
    fn condition(&mut self, condition: &Value) -> Result<(), Error> {
        let wrong = Error::InvalidPolicyDocument("Invalid Policy: Invalid Simple-Condition.");
        if let Some(equal) = condition.as_object() {
            for (name, value) in equal {
                self.equal(name, value.as_str().ok_or(wrong)?)?;
            }
            return Ok(());
        }
        match condition.as_array().map(Vec::as_slice) {
            Some([Value::String(operator), first, second]) => {
                let operator = operator.to_ascii_lowercase();
                if operator == "content-length-range" {
                    let bounds = (number(first), number(second));
                    let (Some(smallest), Some(largest)) = bounds else {
                        return Err(wrong);
                    };
                    self.sizes.0 = self.sizes.0.max(smallest);
                    self.sizes.1 = self.sizes.1.min(largest);
                    return Ok(());
                }
                let name = first
                    .as_str()
                    .and_then(|name| name.strip_prefix('$'))
                    .ok_or(wrong)?;
                let value = second.as_str().ok_or(wrong)?;
                match operator.as_str() {
                    "eq" => self.equal(name, value),
                    "starts-with" => {
                        let found = self.value(name).ok_or(FAILED)?;
                        match found.starts_with(value) {
                            true => Ok(()),
                            false => Err(FAILED),
                        }
                    }
                    _ => Err(wrong),
                }
            }
            _ => Err(wrong),
        }
    }

    fn equal(&mut self, name: &str, value: &str) -> Result<(), Error> {
        match self.value(name) {
            Some(found) if found == value => Ok(()),
            _ => Err(FAILED),
        }
    }

    fn value(&mut self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        let found = match name.as_str() {
            "bucket" => Some(self.bucket),
            name => self.fields.get(name),
        };
        self.named.push(name);
        found
    }

    fn every_field_is_named(&self) -> Result<(), Error> {
        const FREE: [&str; 6] = [
            "policy",
            "signature",
            "x-amz-signature",
            "awsaccesskeyid",
            "file",
            "bucket",
        ];
        let is_free = |name: &str| FREE.contains(&name) || name.starts_with("x-ignore-");
        let is_named = |name: &str| self.named.iter().any(|named| named == name);
        match self
            .fields
            .names()
            .all(|name| is_free(name) || is_named(name))
        {
            true => Ok(()),
            false => Err(Error::AccessDenied(
                "Invalid according to Policy: Extra input fields",
            )),
        }
    }
}

/// Numbers may be texts.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_document(document: &str) -> Result<(u64, u64), Error> {
        let mut fields = Fields::default();
        let mut policy = Vec::new();
        base64::push(&mut policy, document.as_bytes());
        let policy = String::from_utf8(policy).unwrap();
        for (name, value) in [
            ("key", "user/a"),
            ("Content-Type", "image/png"),
            ("policy", &policy),
        ] {
            fields.add(name, value.to_owned());
        }
        check(&fields, "bkt", 1_000_000_000)
    }

    #[test]
    fn conditions() {
        let with = |conditions: &str| {
            check_document(&format!(
                r#"{{"expiration": "2030-01-01T00:00:00.000Z", "conditions": [{conditions}]}}"#
            ))
        };
        let key = r#"["starts-with", "$key", "user/"]"#;
        let kind = r#"{"content-type": "image/png"}"#;
        assert_eq!(with(&format!("{key}, {kind}")), Ok((0, u64::MAX)));
        let sizes = r#"["content-length-range", 1, "9"], {"bucket": "bkt"}"#;
        assert_eq!(with(&format!("{key}, {kind}, {sizes}")), Ok((1, 9)));
        for denied in [
            key.to_owned(),
            format!(r#"{key}, {kind}, {{"acl": "private"}}"#),
            format!(r#"{kind}, ["eq", "$key", "user/"]"#),
            format!(r#"{key}, {kind}, {{"bucket": "other"}}"#),
        ] {
            assert!(
                matches!(with(&denied), Err(Error::AccessDenied(_))),
                "{denied}"
            );
        }
        for malformed in [
            "[]",
            "1",
            r#"["eq", "key", "x"]"#,
            r#"["like", "$key", "x"]"#,
        ] {
            let result = with(malformed);
            assert!(
                matches!(result, Err(Error::InvalidPolicyDocument(_))),
                "{malformed}"
            );
        }
    }

    #[test]
    fn expiration() {
        for document in [
            "",
            "{}",
            r#"{"conditions": []}"#,
            r#"{"expiration": "soon", "conditions": []}"#,
            r#"{"expiration": "2030-01-01T00:00:00Z"}"#,
        ] {
            let result = check_document(document);
            assert!(
                matches!(result, Err(Error::InvalidPolicyDocument(_))),
                "{document}"
            );
        }
        let old = r#"{"expiration": "2000-01-01T00:00:00Z", "conditions": []}"#;
        assert!(matches!(check_document(old), Err(Error::AccessDenied(_))));
        let none = check(&Fields::default(), "bkt", 0);
        assert_eq!(none, Ok((0, u64::MAX)));
    }
}
