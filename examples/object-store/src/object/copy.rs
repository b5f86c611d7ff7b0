//! CopyObject. No bytes are copied: both versions refer to the same data files.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use super::source::CopySource;
use crate::clock::now;
use crate::condition::copy_conditions_of;
use crate::convert::{check_key, facts_of, header_tags, quoted, set_checksums, time};
use crate::error::Error;
use crate::s3::{
    ChecksumType, CopyObjectOutput, CopyObjectRequest, CopyObjectResult, MetadataDirective,
    TaggingDirective,
};
use crate::service::ObjectStore;
use crate::storage::{Changes, Versioning};

/// Copies an object.
pub(crate) async fn copy(
    own: &ObjectStore,
    mut input: CopyObjectRequest,
    _: &Context,
) -> Result<CopyObjectOutput, Fault> {
    check_key(&input.key)?;
    let source = CopySource::parse(&input.copy_source)?;
    let conditions = copy_conditions_of!(input);
    let facts = match &input.metadata_directive {
        None | Some(MetadataDirective::Copy) => None,
        Some(MetadataDirective::Replace) => Some(facts_of!(input)),
        Some(_) => return Err(Error::InvalidArgument("Unknown metadata directive.").into()),
    };
    let tags = match &input.tagging_directive {
        None | Some(TaggingDirective::Copy) => None,
        Some(TaggingDirective::Replace) => Some(header_tags(input.tagging.as_deref())?),
        Some(_) => return Err(Error::InvalidArgument("Unknown tagging directive.").into()),
    };
    let is_same = source.bucket == input.bucket.as_str()
        && source.key == input.key.as_str()
        && source.id.is_none();
    if is_same && facts.is_none() && tags.is_none() {
        return Err(Error::InvalidRequest(
            "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
        )
        .into());
    }
    let (bucket, key) = (input.bucket, input.key);
    let change = move |changes: &mut Changes<'_>| {
        // The source is read in the transaction, so nothing can remove its files meanwhile.
        let has_versions = changes.bucket(&source.bucket)?.versioning != Versioning::Off;
        let id = source.id.as_deref();
        let found = match id {
            Some(id) => changes.version(&source.bucket, &source.key, id)?,
            None => changes.newest(&source.bucket, &source.key)?,
        };
        let mut version = match (found, id) {
            (Some(found), _) if !found.summary.is_marker => found,
            (Some(_), Some(_)) => {
                return Err(Error::InvalidRequest(
                    "The source of a copy request may not specifically refer to a delete marker by version id.",
                )
                .into());
            }
            (None, Some(_)) => return Err(Error::NoSuchVersion.into()),
            (_, None) => return Err(Error::NoSuchKey.into()),
        };
        conditions.copy(&version.summary)?;
        let source_id = has_versions.then(|| version.summary.id());
        version.summary.modified = now();
        if let Some(facts) = facts {
            version.detail.facts = facts;
        }
        if let Some(tags) = tags {
            version.detail.tags = tags;
        }
        let summary = version.summary.clone();
        let checksums = version.detail.checksums.clone();
        let stored = changes.put(&bucket, &key, version, None, |_| Ok(()))?;
        Ok((source_id, stored, summary, checksums))
    };
    let (source_id, stored, summary, checksums) = own.store.change(change).await?;
    let mut result = CopyObjectResult::default();
    result.etag = Some(quoted(&summary.etag));
    result.last_modified = Some(time(summary.modified));
    result.checksum_type = summary.checksum_type.as_deref().map(ChecksumType::from);
    set_checksums!(result, &checksums);
    let mut output = CopyObjectOutput::default();
    output.copy_object_result = Some(result);
    output.copy_source_version_id = source_id.map(Into::into);
    output.version_id = stored.id.map(Into::into);
    Ok(output)
}
