//! Tags of objects and buckets.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use crate::convert::{BUCKET_TAGS, OBJECT_TAGS, document_tags, shown_tags, version_id};
use crate::error::Error;
use crate::object::find;
use crate::s3::{
    DeleteBucketTaggingOutput, DeleteBucketTaggingRequest, DeleteObjectTaggingOutput,
    DeleteObjectTaggingRequest, GetBucketTaggingOutput, GetBucketTaggingRequest,
    GetObjectTaggingOutput, GetObjectTaggingRequest, PutBucketTaggingOutput,
    PutBucketTaggingRequest, PutObjectTaggingOutput, PutObjectTaggingRequest,
};
use crate::service::ObjectStore;
use crate::storage::Tag;

/// PutObjectTagging.
pub(crate) async fn put_object(
    own: &ObjectStore,
    input: PutObjectTaggingRequest,
    _: &Context,
) -> Result<PutObjectTaggingOutput, Fault> {
    let id = version_id(&input.version_id)?;
    let tags = document_tags(input.tagging.tag_set, OBJECT_TAGS)?;
    let (bucket, key) = (input.bucket, input.key);
    let stored = own
        .store
        .change(move |changes| changes.set_tags(&bucket, &key, id.as_deref(), tags))
        .await?;
    let mut output = PutObjectTaggingOutput::default();
    output.version_id = stored.id.map(Into::into);
    Ok(output)
}

/// GetObjectTagging.
pub(crate) async fn get_object(
    own: &ObjectStore,
    input: GetObjectTaggingRequest,
    _: &Context,
) -> Result<GetObjectTaggingOutput, Fault> {
    let id = version_id(&input.version_id)?;
    let view = own.store.view()?;
    let version = find(&view, &input.bucket, &input.key, id.as_deref()).map_err(Error::from)?;
    let mut output = GetObjectTaggingOutput::default();
    output.version_id = version.shown_id.map(Into::into);
    output.tag_set = shown_tags(version.detail.tags);
    Ok(output)
}

/// DeleteObjectTagging.
pub(crate) async fn delete_object(
    own: &ObjectStore,
    input: DeleteObjectTaggingRequest,
    _: &Context,
) -> Result<DeleteObjectTaggingOutput, Fault> {
    let id = version_id(&input.version_id)?;
    let (bucket, key) = (input.bucket, input.key);
    let stored = own
        .store
        .change(move |changes| changes.set_tags(&bucket, &key, id.as_deref(), Vec::new()))
        .await?;
    let mut output = DeleteObjectTaggingOutput::default();
    output.version_id = stored.id.map(Into::into);
    Ok(output)
}

/// PutBucketTagging.
pub(crate) async fn put_bucket(
    own: &ObjectStore,
    input: PutBucketTaggingRequest,
    _: &Context,
) -> Result<PutBucketTaggingOutput, Fault> {
    let tags = document_tags(input.tagging.tag_set, BUCKET_TAGS)?;
    set_bucket(own, input.bucket.to_string(), Some(tags)).await?;
    Ok(PutBucketTaggingOutput::default())
}

/// GetBucketTagging.
pub(crate) async fn get_bucket(
    own: &ObjectStore,
    input: GetBucketTaggingRequest,
    _: &Context,
) -> Result<GetBucketTaggingOutput, Fault> {
    let bucket = own
        .store
        .view()?
        .bucket(&input.bucket)
        .map_err(Error::from)?;
    let mut output = GetBucketTaggingOutput::default();
    output.tag_set = shown_tags(bucket.tags.ok_or(Error::NoSuchTagSet)?);
    Ok(output)
}

/// DeleteBucketTagging.
pub(crate) async fn delete_bucket(
    own: &ObjectStore,
    input: DeleteBucketTaggingRequest,
    _: &Context,
) -> Result<DeleteBucketTaggingOutput, Fault> {
    set_bucket(own, input.bucket.to_string(), None).await?;
    Ok(DeleteBucketTaggingOutput::default())
}

async fn set_bucket(own: &ObjectStore, name: String, tags: Option<Vec<Tag>>) -> Result<(), Error> {
    own.store
        .change(move |changes| {
            let mut bucket = changes.bucket(&name)?;
            bucket.tags = tags;
            changes.set_bucket(&name, &bucket)
        })
        .await
}
