//! ListParts.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use super::page::{owner, page_size};
use super::uploads::initiator;
use crate::convert::{quoted, set_checksums, size, time};
use crate::error::Error;
use crate::s3::{
    ChecksumAlgorithm, ChecksumType, ListPartsOutput, ListPartsRequest, Part, StorageClass,
};
use crate::service::ObjectStore;
use crate::storage::View;

/// Lists the parts of an upload.
pub(crate) async fn list_parts(
    own: &ObjectStore,
    input: ListPartsRequest,
    _: &Context,
) -> Result<ListPartsOutput, Fault> {
    let most = page_size(input.max_parts)?;
    let count = usize::try_from(most).unwrap_or_default();
    let marker = input.part_number_marker.as_deref().unwrap_or("0");
    let wrong = Error::InvalidArgument("The part number marker is not a number.");
    let marker: i32 = marker.parse().map_err(|_| wrong)?;
    let place = (
        input.bucket.clone(),
        input.key.clone(),
        input.upload_id.clone(),
    );
    let read = move |view: &View| {
        let (bucket, key, id) = &place;
        let upload = view.upload(bucket, key, id)?;
        // One more than a page, to know whether there is another one.
        Ok((upload, view.parts(id, marker, count + 1)?))
    };
    let (upload, mut parts) = own.store.read(read).await?;
    let is_truncated = most > 0 && parts.len() > count;
    parts.truncate(count);
    let listed = parts.iter().map(|(number, part)| {
        let mut listed = Part::default();
        listed.part_number = Some(*number);
        listed.last_modified = Some(time(part.modified));
        listed.etag = Some(quoted(&part.etag));
        listed.size = Some(size(part.size));
        set_checksums!(listed, &part.checksums);
        listed
    });
    let mut output = ListPartsOutput::default();
    output.parts = Some(listed.collect());
    output.is_truncated = Some(is_truncated);
    output.max_parts = Some(most);
    output.part_number_marker = Some(marker.to_string().into());
    let last = parts.last().filter(|_| is_truncated);
    output.next_part_number_marker = last.map(|(number, _)| number.to_string().into());
    output.storage_class = Some(StorageClass::Standard);
    output.checksum_algorithm = upload.algorithm.as_deref().map(ChecksumAlgorithm::from);
    output.checksum_type = upload.checksum_type.as_deref().map(ChecksumType::from);
    output.owner = Some(owner());
    output.initiator = Some(initiator());
    output.bucket = Some(input.bucket);
    output.key = Some(input.key);
    output.upload_id = Some(input.upload_id);
    Ok(output)
}
