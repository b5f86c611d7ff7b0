//! CompleteMultipartUpload. No bytes are copied: the object refers to the files of its parts.

use std::collections::BTreeMap;

use md5::{Digest, Md5};
use polywire::protocol::Fault;
use polywire::rpc::Context;
use polywire::schema::Text;
use polywire::text::hex;

use crate::clock::now;
use crate::condition::{is_one_of, write_conditions_of};
use crate::convert::{checksums_of, quoted, set_checksums};
use crate::error::Error;
use crate::s3::{
    ChecksumType, CompleteMultipartUploadOutput, CompleteMultipartUploadRequest, CompletedPart,
};
use crate::service::ObjectStore;
use crate::storage::{Part, PartSize, Upload, Version};

/// Makes an object of the parts.
pub(crate) async fn complete(
    own: &ObjectStore,
    mut input: CompleteMultipartUploadRequest,
    _: &Context,
) -> Result<CompleteMultipartUploadOutput, Fault> {
    let asked = input
        .multipart_upload
        .take()
        .and_then(|upload| upload.parts);
    let asked = asked
        .filter(|parts| !parts.is_empty())
        .ok_or(Error::MalformedXml)?;
    let place = (
        input.bucket.clone(),
        input.key.clone(),
        input.upload_id.clone(),
    );
    let read = move |view: &crate::storage::View| {
        let (bucket, key, id) = &place;
        let upload = view.upload(bucket, key, id)?;
        Ok((upload, view.parts(id, 0, usize::MAX)?))
    };
    let (upload, parts) = own.store.read(read).await?;
    let chosen = choose(parts.into_iter().collect(), &asked)?;
    let is_small = |(_, part): &(i32, Part)| part.size < own.settings.part;
    if chosen
        .split_last()
        .is_some_and(|(_, rest)| rest.iter().any(is_small))
    {
        return Err(Error::EntityTooSmall.into());
    }
    let version = version_of(&input, upload, &chosen)?;
    if version.summary.size > own.settings.object {
        return Err(Error::EntityTooLarge.into());
    }
    let conditions = write_conditions_of!(input);
    let mut output = CompleteMultipartUploadOutput::default();
    output.etag = Some(quoted(&version.summary.etag));
    output.checksum_type = version
        .summary
        .checksum_type
        .as_deref()
        .map(ChecksumType::from);
    set_checksums!(output, &version.detail.checksums);
    output.location = Some(format!("/{}/{}", input.bucket, input.key).into());
    output.bucket = Some(input.bucket.clone());
    output.key = Some(input.key.clone());
    let (bucket, key, id) = (input.bucket, input.key, input.upload_id);
    let stored = own
        .store
        .change(move |changes| {
            let place = (&*bucket, &*key, &*id);
            changes.complete(place, version, &chosen, |old| conditions.write(old))
        })
        .await?;
    output.version_id = stored.id.map(Into::into);
    Ok(output)
}

/// The parts that the request names, with their numbers.
fn choose(
    mut parts: BTreeMap<i32, Part>,
    asked: &[CompletedPart],
) -> Result<Vec<(i32, Part)>, Error> {
    let mut chosen = Vec::with_capacity(asked.len());
    let mut last = 0;
    for asked in asked {
        let number = asked.part_number.ok_or(Error::MalformedXml)?;
        if number <= last {
            return Err(Error::InvalidPartOrder);
        }
        last = number;
        let part = parts.remove(&number).ok_or(Error::InvalidPart)?;
        let tag = asked.etag.as_deref().ok_or(Error::MalformedXml)?;
        if tag == "*" || !is_one_of(&part.etag, tag) {
            return Err(Error::InvalidPart);
        }
        let (sent, stored) = (checksums_of!(asked), &part.checksums);
        if sent.algorithm().is_some() && stored.algorithm().is_some() && sent != *stored {
            return Err(Error::InvalidPart);
        }
        chosen.push((number, part));
    }
    Ok(chosen)
}

/// The version that consists of parts. Its ETag is the MD5 sum of their sums, with their number.
fn version_of(
    input: &CompleteMultipartUploadRequest,
    upload: Upload,
    chosen: &[(i32, Part)],
) -> Result<Version, Error> {
    let mut sums = Md5::new();
    let mut version = Version::default();
    for (number, part) in chosen {
        let sum = hex::decode(part.etag.as_bytes(), hex::Case::Any);
        let sum = sum.map_err(|error| Error::internal(error.to_string()))?;
        sums.update(&sum[..]);
        version.summary.size += part.size;
        version.detail.segments.extend_from_slice(&part.segments);
        version.detail.parts.push(PartSize {
            number: *number,
            size: part.size,
            checksums: part.checksums.clone(),
        });
    }
    let size = i64::try_from(version.summary.size).ok();
    if input
        .mpu_object_size
        .is_some_and(|expected| Some(expected) != size)
    {
        return Err(Error::InvalidRequest(
            "The provided 'x-amz-mp-object-size' header does not match the size of the object.",
        ));
    }
    let tag = crate::convert::hex(&sums.finalize().into());
    version.summary.etag = format!("{tag}-{}", chosen.len()).into();
    version.summary.modified = now();
    let checksums = checksums_of!(input);
    if let Some(algorithm) = checksums.algorithm() {
        let given = input
            .checksum_type
            .as_ref()
            .map(|name| Text::from(name.as_str()));
        let default = || match algorithm {
            "CRC64NVME" => "FULL_OBJECT".into(),
            _ => "COMPOSITE".into(),
        };
        let checksum_type = given.or(upload.checksum_type).unwrap_or_else(default);
        version.summary.algorithm = Some(algorithm.into());
        version.summary.checksum_type = Some(checksum_type);
    }
    version.detail.checksums = checksums;
    version.detail.facts = upload.facts;
    version.detail.tags = upload.tags;
    Ok(version)
}
