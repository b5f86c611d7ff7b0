//! The records of the database. They are CBOR, except the body of a small object.

use std::collections::BTreeMap;

use bytes::Bytes;
use polywire::codec::cbor;
use polywire::schema::Text;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::database::Damaged;

/// A bucket.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Bucket {
    /// Seconds since 1970.
    pub created: i64,
    /// `LocationConstraint` of the request that created it.
    pub region: Option<Text>,
    pub versioning: Versioning,
    /// `None` if there is no set of tags, which is an error to a reader.
    pub tags: Option<Vec<Tag>>,
}

/// Whether a bucket keeps old versions.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Versioning {
    /// It never did.
    #[default]
    Off,
    Enabled,
    /// It did. New objects are the version `null`.
    Suspended,
}

/// A tag of a bucket or an object.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Tag {
    pub key: Text,
    pub value: Text,
}

/// A version of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Version {
    pub summary: Summary,
    pub detail: Detail,
    /// The body of a small object. Then there are no segments.
    pub inline: Bytes,
    /// The version id that the client sees. It is not stored. `None` if the bucket never had versions.
    pub shown_id: Option<String>,
}

/// The part of a version that lists of objects contain.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Summary {
    /// Grows with each version that is stored, in all buckets. The version id is derived from it.
    pub sequence: u64,
    /// Whether this is the version `null`.
    pub is_null: bool,
    /// Whether this is a delete marker.
    pub is_marker: bool,
    /// Seconds since 1970.
    pub modified: i64,
    /// Without quotes.
    pub etag: Text,
    /// The number of bytes.
    pub size: u64,
    /// The name of the algorithm of the checksum, if there is one.
    pub algorithm: Option<Text>,
    /// `FULL_OBJECT` or `COMPOSITE`.
    pub checksum_type: Option<Text>,
}

/// The rest of a version.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Detail {
    /// Where the bytes are, in order.
    pub segments: Vec<Segment>,
    /// The parts, if the object was uploaded in parts.
    pub parts: Vec<PartSize>,
    pub facts: Facts,
    pub checksums: Checksums,
    pub tags: Vec<Tag>,
}

/// A range of a data file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Segment {
    /// The id of the file.
    pub file: u64,
    pub offset: u64,
    pub len: u64,
}

/// A part of a completed upload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct PartSize {
    pub number: i32,
    pub size: u64,
    pub checksums: Checksums,
}

/// What the client said of an object. The store returns it unchanged.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Facts {
    pub content_type: Option<Text>,
    pub cache_control: Option<Text>,
    pub content_disposition: Option<Text>,
    pub content_encoding: Option<Text>,
    pub content_language: Option<Text>,
    /// Seconds since 1970.
    pub expires: Option<i64>,
    pub redirect: Option<Text>,
    pub metadata: BTreeMap<Text, Text>,
}

/// Checksums as the client sent them, in base64.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Checksums {
    pub crc32: Option<Text>,
    pub crc32c: Option<Text>,
    pub crc64nvme: Option<Text>,
    pub sha1: Option<Text>,
    pub sha256: Option<Text>,
}

/// An upload in parts that is neither completed nor aborted.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Upload {
    /// Seconds since 1970.
    pub initiated: i64,
    pub facts: Facts,
    pub tags: Vec<Tag>,
    pub algorithm: Option<Text>,
    pub checksum_type: Option<Text>,
}

/// A part of an upload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Part {
    /// Without quotes.
    pub etag: Text,
    pub size: u64,
    /// Seconds since 1970.
    pub modified: i64,
    pub checksums: Checksums,
    pub segments: Vec<Segment>,
}

impl Checksums {
    /// The name of the algorithm of the first checksum.
    pub(crate) fn algorithm(&self) -> Option<&'static str> {
        let present = [
            (&self.crc32, "CRC32"),
            (&self.crc32c, "CRC32C"),
            (&self.crc64nvme, "CRC64NVME"),
            (&self.sha1, "SHA1"),
            (&self.sha256, "SHA256"),
        ];
        let first = present.into_iter().find(|(value, _)| value.is_some());
        first.map(|(_, name)| name)
    }
}

impl Summary {
    /// The version id: `null`, or a text of which later versions have the smaller one.
    pub(crate) fn id(&self) -> String {
        match self.is_null {
            true => NULL.to_owned(),
            false => format!("{:016x}", !self.sequence),
        }
    }
}

/// The id of the version that a bucket without versions has.
pub(crate) const NULL: &str = "null";

/// The sequence number of a version id. `None` if the store does not make such ids.
pub(crate) fn sequence_of(id: &str) -> Option<u64> {
    let is_own = id.len() == 16 && id.bytes().all(|byte| b"0123456789abcdef".contains(&byte));
    let number = u64::from_str_radix(id, 16).ok();
    number.filter(|_| is_own).map(|number| !number)
}

/// Whether a text can be a version id.
pub(crate) fn is_version_id(id: &str) -> bool {
    id == NULL || sequence_of(id).is_some()
}

/// Encodes a record.
pub(crate) fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, Damaged> {
    cbor::to_vec(record).map_err(|error| Damaged(error.to_string()))
}

/// Decodes a record.
///
/// # Errors
///
/// The bytes are not such a record: the database is damaged, or of another version of this program.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Damaged> {
    cbor::from_slice(bytes).map_err(|error| Damaged(error.to_string()))
}

impl Version {
    /// Encodes the version: the length of the summary in four bytes, the length of the detail in four bytes, the
    /// summary, the detail, the inline body.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Damaged> {
        let (summary, detail) = (encode(&self.summary)?, encode(&self.detail)?);
        let len = |part: &[u8]| u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes();
        Ok([
            &len(&summary)[..],
            &len(&detail),
            &summary,
            &detail,
            &self.inline,
        ]
        .concat())
    }

    /// Decodes a version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Damaged> {
        let (summary, detail, inline) = split(bytes)?;
        Ok(Self {
            summary: decode(summary)?,
            detail: decode(detail)?,
            inline: Bytes::copy_from_slice(inline),
            shown_id: None,
        })
    }

    /// Decodes only the summary.
    pub(crate) fn decode_summary(bytes: &[u8]) -> Result<Summary, Damaged> {
        decode(split(bytes)?.0)
    }
}

type Parts<'b> = (&'b [u8], &'b [u8], &'b [u8]);

/// Splits an encoded version into summary, detail and inline body.
fn split(bytes: &[u8]) -> Result<Parts<'_>, Damaged> {
    let cut = || Damaged("a version is cut off".to_owned());
    let (lens, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut)?;
    let len = |at: usize| u32::from_be_bytes([lens[at], lens[at + 1], lens[at + 2], lens[at + 3]]);
    let (summary, rest) = rest.split_at_checked(len(0) as usize).ok_or_else(cut)?;
    let (detail, inline) = rest.split_at_checked(len(4) as usize).ok_or_else(cut)?;
    Ok((summary, detail, inline))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_survive_encoding() {
        let mut version = Version::default();
        version.summary.sequence = 7;
        version.summary.etag = "abc".into();
        version.detail.facts.metadata = [("a".into(), "b".into())].into();
        version.detail.segments = vec![Segment {
            file: u64::MAX,
            offset: 1,
            len: 2,
        }];
        version.inline = Bytes::from_static(b"body");
        let encoded = version.encode().unwrap();
        let decoded = Version::decode(&encoded).unwrap();
        assert_eq!(format!("{decoded:?}"), format!("{version:?}"));
        assert_eq!(Version::decode_summary(&encoded).unwrap().sequence, 7);
        for len in 0..encoded.len() - version.inline.len() {
            assert!(Version::decode(&encoded[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn version_ids() {
        let mut summary = Summary {
            sequence: 7,
            ..Summary::default()
        };
        let id = summary.id();
        assert_eq!(sequence_of(&id), Some(7));
        summary.sequence = 8;
        assert!(summary.id() < id);
        summary.is_null = true;
        assert_eq!(summary.id(), "null");
        for foreign in ["null", "", "+00000000000000f", "FFFFFFFFFFFFFFFF", "ff"] {
            assert_eq!(sequence_of(foreign), None, "{foreign}");
        }
    }
}
