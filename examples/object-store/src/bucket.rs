//! Operations on buckets.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use crate::clock::now;
use crate::convert::time;
use crate::error::Error;
use crate::listing::{After, Query, owner, page, page_size};
use crate::s3::{
    Bucket as Listed, BucketLocationConstraint, BucketVersioningStatus, CreateBucketOutput,
    CreateBucketRequest, DeleteBucketOutput, DeleteBucketRequest, GetBucketLocationOutput,
    GetBucketLocationRequest, GetBucketVersioningOutput, GetBucketVersioningRequest,
    HeadBucketOutput, HeadBucketRequest, ListBucketsOutput, ListBucketsRequest, MfaDelete,
    PutBucketVersioningOutput, PutBucketVersioningRequest,
};
use crate::service::ObjectStore;
use crate::storage::{Bucket, Versioning, View};

/// The region of a bucket that was created without one.
const REGION: &str = "us-east-1";

/// CreateBucket.
pub(crate) async fn create(
    own: &ObjectStore,
    input: CreateBucketRequest,
    _: &Context,
) -> Result<CreateBucketOutput, Fault> {
    if !is_name(&input.bucket) {
        return Err(Error::InvalidBucketName.into());
    }
    if input.object_lock_enabled_for_bucket == Some(true) {
        return Err(Error::NotImplemented("This store has no object lock.").into());
    }
    let configuration = input.create_bucket_configuration;
    let region = configuration.and_then(|own| own.location_constraint);
    let bucket = Bucket {
        created: now(),
        region: region.map(|region| region.as_str().into()),
        versioning: Versioning::Off,
        tags: None,
    };
    let mut output = CreateBucketOutput::default();
    output.location = Some(format!("/{}", input.bucket).into());
    let name = input.bucket;
    own.store
        .change(move |changes| changes.create_bucket(&name, &bucket))
        .await?;
    Ok(output)
}

/// DeleteBucket.
pub(crate) async fn delete(
    own: &ObjectStore,
    input: DeleteBucketRequest,
    _: &Context,
) -> Result<DeleteBucketOutput, Fault> {
    own.store
        .change(move |changes| changes.remove_bucket(&input.bucket))
        .await?;
    Ok(DeleteBucketOutput::default())
}

/// HeadBucket.
pub(crate) async fn head(
    own: &ObjectStore,
    input: HeadBucketRequest,
    _: &Context,
) -> Result<HeadBucketOutput, Fault> {
    let bucket = own.store.view()?.bucket(&input.bucket);
    let bucket = bucket.map_err(|abort| Error::from(abort).headed())?;
    let mut output = HeadBucketOutput::default();
    output.bucket_region = Some(bucket.region.unwrap_or(REGION.into()));
    Ok(output)
}

/// GetBucketLocation.
pub(crate) async fn location(
    own: &ObjectStore,
    input: GetBucketLocationRequest,
    _: &Context,
) -> Result<GetBucketLocationOutput, Fault> {
    let bucket = own
        .store
        .view()?
        .bucket(&input.bucket)
        .map_err(Error::from)?;
    let mut output = GetBucketLocationOutput::default();
    output.location_constraint = bucket.region.as_deref().map(BucketLocationConstraint::from);
    Ok(output)
}

/// PutBucketVersioning.
pub(crate) async fn set_versioning(
    own: &ObjectStore,
    input: PutBucketVersioningRequest,
    _: &Context,
) -> Result<PutBucketVersioningOutput, Fault> {
    let configuration = input.versioning_configuration;
    if configuration.mfa_delete == Some(MfaDelete::Enabled) {
        return Err(Error::NotImplemented("This store has no MFA delete.").into());
    }
    let versioning = match configuration.status {
        Some(BucketVersioningStatus::Enabled) => Versioning::Enabled,
        Some(BucketVersioningStatus::Suspended) => Versioning::Suspended,
        _ => return Err(Error::IllegalVersioningConfiguration.into()),
    };
    own.store
        .change(move |changes| {
            let mut bucket = changes.bucket(&input.bucket)?;
            bucket.versioning = versioning;
            changes.set_bucket(&input.bucket, &bucket)
        })
        .await?;
    Ok(PutBucketVersioningOutput::default())
}

/// GetBucketVersioning.
pub(crate) async fn versioning(
    own: &ObjectStore,
    input: GetBucketVersioningRequest,
    _: &Context,
) -> Result<GetBucketVersioningOutput, Fault> {
    let bucket = own
        .store
        .view()?
        .bucket(&input.bucket)
        .map_err(Error::from)?;
    let mut output = GetBucketVersioningOutput::default();
    output.status = match bucket.versioning {
        Versioning::Off => None,
        Versioning::Enabled => Some(BucketVersioningStatus::Enabled),
        Versioning::Suspended => Some(BucketVersioningStatus::Suspended),
    };
    Ok(output)
}

/// ListBuckets.
pub(crate) async fn list(
    own: &ObjectStore,
    input: ListBucketsRequest,
    _: &Context,
) -> Result<ListBucketsOutput, Fault> {
    let after = match &input.continuation_token {
        Some(token) => After::from_token(token)?,
        None => After::Nothing,
    };
    let query = Query {
        prefix: input.prefix.as_deref().unwrap_or_default().to_owned(),
        delimiter: String::new(),
        after,
        most: usize::try_from(page_size(input.max_buckets)?).unwrap_or_default(),
    };
    let read = move |view: &View| page(&query, |from| view.buckets_from(from));
    let page = own.store.read(read).await?;
    let listed = page.keys.into_iter().map(|(name, bucket)| {
        let mut listed = Listed::default();
        listed.name = Some(name.into());
        listed.creation_date = Some(time(bucket.created));
        listed.bucket_region = Some(bucket.region.unwrap_or(REGION.into()));
        listed
    });
    let mut output = ListBucketsOutput::default();
    output.buckets = Some(listed.collect());
    output.owner = Some(owner());
    output.continuation_token = page.next.map(|next| next.to_token().into());
    output.prefix = input.prefix;
    Ok(output)
}

/// Whether a name follows <https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html>, except the
/// reserved prefixes and suffixes.
fn is_name(name: &str) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    (3..=63).contains(&name.len())
        && bytes
            .iter()
            .all(|byte| is_end(byte) || b"-.".contains(byte))
        && bytes.first().is_some_and(is_end)
        && bytes.last().is_some_and(is_end)
        && !name.contains("..")
        && name.parse::<std::net::Ipv4Addr>().is_err()
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names() {
        for name in ["abc", "a-b.c", "1.2.3", "0ab"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "ab", "Abc", "a_b", "-ab", "ab.", "a..b", "1.2.3.4", "a b", "",
        ] {
            assert!(!is_name(name), "{name}");
        }
        assert!(!is_name(&"a".repeat(64)));
    }
}
