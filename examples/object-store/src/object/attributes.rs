//! GetObjectAttributes.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use super::select::find_pinned;
use crate::convert::{set_checksums, size, time, version_id};
use crate::error::Error;
use crate::listing::{MOST, page_size};
use crate::s3::{
    Checksum, ChecksumType, GetObjectAttributesOutput, GetObjectAttributesParts,
    GetObjectAttributesRequest, ObjectAttributes, ObjectPart, StorageClass,
};
use crate::service::ObjectStore;
use crate::storage::Version;

/// Describes an object by the attributes that the request names.
pub(crate) async fn attributes(
    own: &ObjectStore,
    input: GetObjectAttributesRequest,
    context: &Context,
) -> Result<GetObjectAttributesOutput, Fault> {
    let id = version_id(&input.version_id)?;
    let pinned = find_pinned(own, &input.bucket, &input.key, id.as_deref(), context)?;
    let version = &*pinned.version;
    let mut output = GetObjectAttributesOutput::default();
    output.last_modified = Some(time(version.summary.modified));
    output.version_id = version.shown_id.clone().map(Into::into);
    for attribute in &input.object_attributes {
        match attribute {
            ObjectAttributes::Etag => output.etag = Some(version.summary.etag.clone()),
            ObjectAttributes::ObjectSize => output.object_size = Some(size(version.summary.size)),
            ObjectAttributes::StorageClass => output.storage_class = Some(StorageClass::Standard),
            ObjectAttributes::Checksum if version.summary.algorithm.is_some() => {
                let mut checksum = Checksum::default();
                set_checksums!(checksum, &version.detail.checksums);
                checksum.checksum_type = version
                    .summary
                    .checksum_type
                    .as_deref()
                    .map(ChecksumType::from);
                output.checksum = Some(checksum);
            }
            ObjectAttributes::ObjectParts if !version.detail.parts.is_empty() => {
                let marker = input.part_number_marker.as_deref();
                output.object_parts = Some(parts(version, input.max_parts, marker)?);
            }
            ObjectAttributes::Checksum | ObjectAttributes::ObjectParts => {}
            _ => return Err(Error::InvalidArgument("Invalid attribute name specified.").into()),
        }
    }
    Ok(output)
}

fn parts(
    version: &Version,
    most: Option<i32>,
    marker: Option<&str>,
) -> Result<GetObjectAttributesParts, Error> {
    let all = &version.detail.parts;
    let most = page_size(most)?.min(MOST);
    let wrong = Error::InvalidArgument("The part number marker is not a number.");
    let marker: i32 = marker.unwrap_or("0").parse().map_err(|_| wrong)?;
    let mut rest = all.iter().filter(|part| part.number > marker);
    let mut output = GetObjectAttributesParts::default();
    let listed = rest
        .by_ref()
        .take(usize::try_from(most).unwrap_or_default());
    let listed: Vec<ObjectPart> = listed
        .map(|part| {
            let mut listed = ObjectPart::default();
            listed.part_number = Some(part.number);
            listed.size = Some(size(part.size));
            set_checksums!(listed, &part.checksums);
            listed
        })
        .collect();
    let last = listed.last().and_then(|part| part.part_number);
    output.is_truncated = Some(rest.next().is_some());
    output.next_part_number_marker = last.map(|last| last.to_string().into());
    output.part_number_marker = Some(marker.to_string().into());
    output.max_parts = Some(most);
    output.total_parts_count = i32::try_from(all.len()).ok();
    // S3 lists the parts only if they have checksums.
    let has_checksums = all.iter().any(|part| part.checksums.algorithm().is_some());
    output.parts = has_checksums.then_some(listed);
    Ok(output)
}
