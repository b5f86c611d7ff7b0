//! Operations on objects.

use std::sync::Arc;

use md5::{Digest, Md5};
use polywire::protocol::Fault;
use polywire::schema::{Blob, Text};
use polywire::text::{base64, hex, percent};

use crate::clock::now;
use crate::condition::{Conditions, is_one_of};
use crate::error::Error;
use crate::range;
use crate::s3::{
    CopyObjectOutput, CopyObjectRequest, CopyObjectResult, DeleteObjectOutput, DeleteObjectRequest,
    DeleteObjectsOutput, DeleteObjectsRequest, DeletedObject, Error as NotDeleted, GetObjectOutput,
    GetObjectRequest, HeadObjectOutput, HeadObjectRequest, MetadataDirective, PutObjectOutput,
    PutObjectRequest,
};
use crate::store::{Facts, Object, Store};

/// The most bytes of a key.
const KEY: usize = 1024;
/// The most objects that one call deletes.
const DELETED: usize = 1000;

/// What a request says of an object: members of the same names in three inputs.
macro_rules! facts_of {
    ($input:expr) => {
        Facts {
            content_type: $input.content_type,
            cache_control: $input.cache_control,
            content_disposition: $input.content_disposition,
            content_encoding: $input.content_encoding,
            content_language: $input.content_language,
            expires: $input.expires,
            metadata: $input.metadata.unwrap_or_default(),
        }
    };
}
pub(crate) use facts_of;

/// PutObject.
pub(crate) fn put(
    store: &Store,
    input: PutObjectRequest,
    body: Blob,
) -> Result<PutObjectOutput, Fault> {
    check_key(&input.key)?;
    let sum = checked_sum(&body, input.content_md5.as_deref())?;
    let tag = tag_of(&sum);
    let object = Object {
        body,
        tag: tag.clone(),
        modified: now(),
        facts: facts_of!(input),
    };
    let conditions = Conditions {
        if_match: input.if_match.as_deref(),
        if_none_match: input.if_none_match.as_deref(),
        ..Conditions::default()
    };
    let allows = |old: Option<&Object>| conditions.write(old);
    store
        .lock()
        .put(&input.bucket, &input.key, object, allows)?;
    Ok(PutObjectOutput::builder().etag(tag).build())
}

/// GetObject.
pub(crate) fn get(store: &Store, input: GetObjectRequest) -> Result<GetObjectOutput, Fault> {
    let object = store.lock().object(&input.bucket, &input.key)?;
    let conditions = Conditions {
        if_match: input.if_match.as_deref(),
        if_none_match: input.if_none_match.as_deref(),
        if_modified_since: input.if_modified_since,
        if_unmodified_since: input.if_unmodified_since,
    };
    let asked = Asked {
        conditions,
        range: input.range.as_deref(),
        part: input.part_number,
    };
    let part = asked.find(&object)?;
    let facts = object.facts.clone();
    let mut output = GetObjectOutput::default();
    output.body = part.body.into();
    output.accept_ranges = Some("bytes".into());
    output.last_modified = Some(object.modified);
    output.etag = Some(object.tag.clone());
    output.content_range = part.range;
    output.content_type = input.response_content_type.or(facts.content_type);
    output.cache_control = input.response_cache_control.or(facts.cache_control);
    output.content_disposition = input
        .response_content_disposition
        .or(facts.content_disposition);
    output.content_encoding = input.response_content_encoding.or(facts.content_encoding);
    output.content_language = input.response_content_language.or(facts.content_language);
    output.expires = input.response_expires.or(facts.expires);
    output.metadata = Some(facts.metadata);
    Ok(output)
}

/// HeadObject.
pub(crate) fn head(store: &Store, input: HeadObjectRequest) -> Result<HeadObjectOutput, Fault> {
    let object = store.lock().object(&input.bucket, &input.key);
    let object = object.map_err(Error::headed)?;
    let conditions = Conditions {
        if_match: input.if_match.as_deref(),
        if_none_match: input.if_none_match.as_deref(),
        if_modified_since: input.if_modified_since,
        if_unmodified_since: input.if_unmodified_since,
    };
    let asked = Asked {
        conditions,
        range: input.range.as_deref(),
        part: input.part_number,
    };
    let part = asked.find(&object)?;
    let facts = object.facts.clone();
    let mut output = HeadObjectOutput::default();
    output.accept_ranges = Some("bytes".into());
    output.content_length = Some(part.body.len() as i64);
    output.last_modified = Some(object.modified);
    output.etag = Some(object.tag.clone());
    output.content_range = part.range;
    output.content_type = facts.content_type;
    output.cache_control = facts.cache_control;
    output.content_disposition = facts.content_disposition;
    output.content_encoding = facts.content_encoding;
    output.content_language = facts.content_language;
    output.expires = facts.expires;
    output.metadata = Some(facts.metadata);
    Ok(output)
}

/// DeleteObject.
pub(crate) fn delete(
    store: &Store,
    input: DeleteObjectRequest,
) -> Result<DeleteObjectOutput, Fault> {
    let mut contents = store.lock();
    if let Some(tags) = &input.if_match {
        let object = contents.object(&input.bucket, &input.key)?;
        if !is_one_of(&object.tag, tags) {
            return Err(Error::PreconditionFailed.into());
        }
    }
    contents.delete(&input.bucket, &input.key)?;
    Ok(DeleteObjectOutput::default())
}

/// DeleteObjects.
pub(crate) fn delete_all(
    store: &Store,
    input: DeleteObjectsRequest,
) -> Result<DeleteObjectsOutput, Fault> {
    let mut contents = store.lock();
    contents.bucket(&input.bucket)?;
    if input.delete.objects.is_empty() || input.delete.objects.len() > DELETED {
        return Err(Error::MalformedXml.into());
    }
    let (mut deleted, mut errors) = (Vec::new(), Vec::new());
    for object in input.delete.objects {
        let found = contents.object(&input.bucket, &object.key);
        let is_allowed = match (&object.etag, found) {
            (None, _) => true,
            (Some(tag), Ok(found)) => is_one_of(&found.tag, tag),
            (Some(_), Err(_)) => false,
        };
        if is_allowed {
            contents.delete(&input.bucket, &object.key)?;
            deleted.push(DeletedObject::builder().key(object.key).build());
        } else {
            let (code, _, message) = Error::PreconditionFailed.facts();
            let error = NotDeleted::builder().key(object.key);
            errors.push(error.code(code).message(message).build());
        }
    }
    let mut output = DeleteObjectsOutput::default();
    output.deleted = (input.delete.quiet != Some(true)).then_some(deleted);
    output.errors = Some(errors);
    Ok(output)
}

/// CopyObject.
pub(crate) fn copy(store: &Store, input: CopyObjectRequest) -> Result<CopyObjectOutput, Fault> {
    check_key(&input.key)?;
    let (bucket, key) = copy_source(&input.copy_source)?;
    let source = store.lock().object(&bucket, &key)?;
    let conditions = Conditions {
        if_match: input.copy_source_if_match.as_deref(),
        if_none_match: input.copy_source_if_none_match.as_deref(),
        if_modified_since: input.copy_source_if_modified_since,
        if_unmodified_since: input.copy_source_if_unmodified_since,
    };
    conditions.copy(&source)?;
    let facts = match input.metadata_directive {
        None | Some(MetadataDirective::Copy) => {
            if bucket == input.bucket.as_str() && key == input.key.as_str() {
                let reason = "A copy of an object to itself has to replace its metadata.";
                return Err(Error::InvalidRequest(reason).into());
            }
            source.facts.clone()
        }
        Some(MetadataDirective::Replace) => facts_of!(input),
        Some(_) => {
            return Err(Error::InvalidArgument("Metadata is either COPY or REPLACE.").into());
        }
    };
    let modified = now();
    let object = Object {
        body: source.body.clone(),
        tag: source.tag.clone(),
        modified,
        facts,
    };
    store
        .lock()
        .put(&input.bucket, &input.key, object, |_| Ok(()))?;
    let result = CopyObjectResult::builder().etag(source.tag.clone());
    let result = result.last_modified(modified).build();
    Ok(CopyObjectOutput::builder()
        .copy_object_result(result)
        .build())
}

/// What GetObject and HeadObject ask of an object.
struct Asked<'a> {
    conditions: Conditions<'a>,
    range: Option<&'a str>,
    part: Option<i32>,
}

/// What they get of it.
struct Found {
    body: Blob,
    /// `Content-Range`, if it is a part.
    range: Option<Text>,
}

impl Asked<'_> {
    fn find(&self, object: &Arc<Object>) -> Result<Found, Error> {
        if self.part.is_some_and(|part| part != 1) {
            return Err(Error::NotImplemented("Parts of objects are not kept."));
        }
        self.conditions.read(object)?;
        let whole = object.body.len();
        let Some(range) = range::find(self.range, whole)? else {
            return Ok(Found {
                body: object.body.clone(),
                range: None,
            });
        };
        let text = format!("bytes {}-{}/{whole}", range.start, range.end - 1);
        Ok(Found {
            body: object.body.slice(range).ok_or(Error::InvalidRange)?,
            range: Some(text.into()),
        })
    }
}

/// Checks a key.
///
/// # Errors
///
/// It is too long.
pub(crate) fn check_key(key: &str) -> Result<(), Error> {
    match key.len() {
        0..=KEY => Ok(()),
        _ => Err(Error::KeyTooLong),
    }
}

/// The sum of a body, which may have to be one that came with it.
///
/// # Errors
///
/// It is another, or none.
pub(crate) fn checked_sum(body: &[u8], expected: Option<&str>) -> Result<[u8; 16], Error> {
    let sum: [u8; 16] = Md5::digest(body).into();
    if let Some(expected) = expected {
        let expected = base64::decode(expected.as_bytes()).map_err(|_| Error::InvalidDigest)?;
        match expected.len() {
            16 if expected == sum[..] => {}
            16 => return Err(Error::BadDigest),
            _ => return Err(Error::InvalidDigest),
        }
    }
    Ok(sum)
}

/// The entity tag of a sum, with its quotes.
#[must_use]
pub(crate) fn tag_of(sum: &[u8; 16]) -> Text {
    let mut tag = b"\"".to_vec();
    hex::push(&mut tag, sum);
    tag.push(b'"');
    Text::from_utf8_lossy(&tag)
}

/// The bucket and the key of `x-amz-copy-source`.
fn copy_source(source: &str) -> Result<(String, String), Error> {
    let wrong = Error::InvalidArgument("The source of a copy is BUCKET/KEY, percent-encoded.");
    let source = source.strip_prefix('/').unwrap_or(source);
    if source.contains("?versionId=") {
        return Err(Error::NotImplemented("There are no versions."));
    }
    let source = percent::decode(source).map_err(|_| wrong)?;
    match source.split_once('/') {
        Some((bucket, key)) if !bucket.is_empty() && !key.is_empty() => {
            Ok((bucket.to_owned(), key.to_owned()))
        }
        _ => Err(wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_tags() {
        let sum = checked_sum(b"", Some("1B2M2Y8AsgTpgAmY7PhCfg==")).unwrap();
        assert_eq!(tag_of(&sum), "\"d41d8cd98f00b204e9800998ecf8427e\"");
        let sum = |text| checked_sum(b"x", Some(text)).err();
        assert_eq!(sum("1B2M2Y8AsgTpgAmY7PhCfg=="), Some(Error::BadDigest));
        assert_eq!(sum("AAAA"), Some(Error::InvalidDigest));
        assert_eq!(sum("?"), Some(Error::InvalidDigest));
    }

    #[test]
    fn sources_of_copies() {
        for (source, bucket, key) in [
            ("b/k", "b", "k"),
            ("/b/k%2B%20l//m", "b", "k+ l//m"),
            ("b/a+b", "b", "a+b"),
            ("b%2Fk", "b", "k"),
        ] {
            let found = copy_source(source).unwrap();
            assert_eq!((found.0.as_str(), found.1.as_str()), (bucket, key));
        }
        for wrong in ["", "b", "b/", "/", "b/%zz", "b/%ff", "b/k?versionId=1"] {
            assert!(copy_source(wrong).is_err(), "{wrong}");
        }
    }
}
