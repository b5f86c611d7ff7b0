//! Between the members of S3's messages and the records of the store.

use polywire::rpc::Context;
use polywire::rpc::aws::{Algorithm, ReceivedChecksums};
use polywire::schema::{Text, Timestamp};
use polywire::text::{base64, hex, percent};

use crate::error::Error;
use crate::s3;
use crate::storage::Tag;

/// The most tags of an object, by S3's rules.
pub(crate) const OBJECT_TAGS: usize = 10;
/// The most tags of a bucket.
pub(crate) const BUCKET_TAGS: usize = 50;
/// The most bytes of a key.
const KEY: usize = 1024;

/// Makes [`Facts`](crate::storage::Facts) of the members of a request.
macro_rules! facts_of {
    ($input:expr) => {
        crate::storage::Facts {
            content_type: $input.content_type.take(),
            cache_control: $input.cache_control.take(),
            content_disposition: $input.content_disposition.take(),
            content_encoding: $input.content_encoding.take(),
            content_language: $input.content_language.take(),
            expires: $input.expires.map(|expires| expires.seconds()),
            redirect: $input.website_redirect_location.take(),
            metadata: $input.metadata.take().unwrap_or_default(),
        }
    };
}
pub(crate) use facts_of;

/// Makes [`Checksums`](crate::storage::Checksums) of the members of a request.
macro_rules! checksums_of {
    ($input:expr) => {
        crate::storage::Checksums {
            crc32: $input.checksum_crc32.clone(),
            crc32c: $input.checksum_crc32c.clone(),
            crc64nvme: $input.checksum_crc64nvme.clone(),
            sha1: $input.checksum_sha1.clone(),
            sha256: $input.checksum_sha256.clone(),
        }
    };
}
pub(crate) use checksums_of;

/// Adds the checksum that the body had in its trailer.
pub(crate) fn add_trailer(checksums: &mut crate::storage::Checksums, context: &Context) {
    let received = context.extensions().get::<ReceivedChecksums>();
    let sent = received
        .and_then(ReceivedChecksums::get)
        .and_then(|all| all.sent());
    let Some(sent) = sent.filter(|_| checksums.algorithm().is_none()) else {
        return;
    };
    let place = match sent.algorithm() {
        Algorithm::Crc32 => &mut checksums.crc32,
        Algorithm::Crc32c => &mut checksums.crc32c,
        Algorithm::Crc64Nvme => &mut checksums.crc64nvme,
        Algorithm::Sha1 => &mut checksums.sha1,
        Algorithm::Sha256 => &mut checksums.sha256,
        _ => return,
    };
    *place = Some(sent.to_string().into());
}

/// Sets the members of a response to checksums.
macro_rules! set_checksums {
    ($output:expr, $checksums:expr) => {
        let checksums: &crate::storage::Checksums = $checksums;
        $output.checksum_crc32 = checksums.crc32.clone();
        $output.checksum_crc32c = checksums.crc32c.clone();
        $output.checksum_crc64nvme = checksums.crc64nvme.clone();
        $output.checksum_sha1 = checksums.sha1.clone();
        $output.checksum_sha256 = checksums.sha256.clone();
    };
}
pub(crate) use set_checksums;

/// The version id of a request. An empty one, or one that the store does not make, is an error.
pub(crate) fn version_id(id: &Option<Text>) -> Result<Option<String>, Error> {
    let Some(id) = id else { return Ok(None) };
    match crate::storage::is_version_id(id) {
        true => Ok(Some(id.to_string())),
        false => Err(Error::InvalidArgument("Invalid version id specified")),
    }
}

/// Checks the length of a key.
pub(crate) const fn check_key(key: &str) -> Result<(), Error> {
    match key.len() {
        1..=KEY => Ok(()),
        0 => Err(Error::InvalidArgument("The key is empty.")),
        _ => Err(Error::KeyTooLong),
    }
}

/// Checks the MD5 sum of a body against `Content-MD5`, if there is one.
pub(crate) fn check_md5(sum: &[u8; 16], expected: Option<&str>) -> Result<(), Error> {
    let Some(expected) = expected else {
        return Ok(());
    };
    let expected = base64::decode(expected.as_bytes()).map_err(|_| Error::InvalidDigest)?;
    match expected.len() {
        16 if expected == sum[..] => Ok(()),
        16 => Err(Error::BadDigest),
        _ => Err(Error::InvalidDigest),
    }
}

/// A sum in hexadecimal digits, as entity tags have it between their quotes.
pub(crate) fn hex(sum: &[u8; 16]) -> Text {
    let mut text = Vec::new();
    hex::push(&mut text, sum);
    Text::from_utf8_lossy(&text)
}

/// An entity tag with its quotes.
pub(crate) fn quoted(etag: &str) -> Text {
    format!("\"{etag}\"").into()
}

/// A time of a record.
pub(crate) const fn time(seconds: i64) -> Timestamp {
    Timestamp::new(seconds, 0)
}

/// A number of bytes, as messages have it.
pub(crate) fn size(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The tags of `x-amz-tagging`: `a=b&c=d`.
pub(crate) fn header_tags(header: Option<&str>) -> Result<Vec<Tag>, Error> {
    let wrong = Error::InvalidArgument(
        "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    );
    let parts = header.unwrap_or_default().split('&');
    let tags = parts
        .filter(|part| !part.is_empty())
        .map(|part| -> Result<Tag, Error> {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let decode = |text| percent::decode_query(text).map_err(|_| wrong);
            Ok(Tag {
                key: decode(key)?.as_ref().into(),
                value: decode(value)?.as_ref().into(),
            })
        });
    let tags: Vec<Tag> = tags.collect::<Result<_, Error>>()?;
    check_tags(&tags, OBJECT_TAGS)?;
    Ok(tags)
}

/// The tags of a document.
pub(crate) fn document_tags(tags: Vec<s3::Tag>, most: usize) -> Result<Vec<Tag>, Error> {
    let tags = tags.into_iter().map(|tag| Tag {
        key: tag.key,
        value: tag.value,
    });
    let tags: Vec<Tag> = tags.collect();
    check_tags(&tags, most)?;
    Ok(tags)
}

/// Tags as documents have them.
pub(crate) fn shown_tags(tags: Vec<Tag>) -> Vec<s3::Tag> {
    let shown = |tag: Tag| {
        let mut shown = s3::Tag::default();
        (shown.key, shown.value) = (tag.key, tag.value);
        shown
    };
    tags.into_iter().map(shown).collect()
}

/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html>
fn check_tags(tags: &[Tag], most: usize) -> Result<(), Error> {
    if tags.len() > most {
        return Err(match most {
            OBJECT_TAGS => Error::BadRequest("Object tags cannot be greater than 10"),
            _ => Error::BadRequest("Bucket tag count cannot be greater than 50"),
        });
    }
    for (index, tag) in tags.iter().enumerate() {
        if tag.key.is_empty() || tag.key.chars().count() > 128 {
            return Err(Error::InvalidTag("The TagKey you have provided is invalid"));
        }
        if tag.value.chars().count() > 256 {
            return Err(Error::InvalidTag(
                "The TagValue you have provided is invalid",
            ));
        }
        if tags[..index].iter().any(|other| other.key == tag.key) {
            return Err(Error::InvalidTag(
                "Cannot provide multiple Tags with the same key",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_headers() {
        let tags = header_tags(Some("a=b&c%20d=e+f&g")).unwrap();
        let tags: Vec<_> = tags.iter().map(|tag| (&*tag.key, &*tag.value)).collect();
        assert_eq!(tags, [("a", "b"), ("c d", "e f"), ("g", "")]);
        assert_eq!(header_tags(None), Ok(Vec::new()));
        let many: Vec<String> = (0..11).map(|number| format!("{number}=x")).collect();
        let long = format!("{}=x", "k".repeat(129));
        for wrong in ["a=b&a=c", "=b", "a=%zz", &many.join("&"), &long] {
            assert!(header_tags(Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sums() {
        let empty = *b"\xd4\x1d\x8c\xd9\x8f\x00\xb2\x04\xe9\x80\x09\x98\xec\xf8\x42\x7e";
        assert_eq!(hex(&empty), "d41d8cd98f00b204e9800998ecf8427e");
        let check = |text| check_md5(&empty, Some(text));
        assert_eq!(check("1B2M2Y8AsgTpgAmY7PhCfg=="), Ok(()));
        assert_eq!(check("2B2M2Y8AsgTpgAmY7PhCfg=="), Err(Error::BadDigest));
        assert_eq!(check("AAAA"), Err(Error::InvalidDigest));
        assert_eq!(check("?"), Err(Error::InvalidDigest));
    }
}
