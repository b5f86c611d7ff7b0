//! Operations on buckets.

use polywire::protocol::Fault;

use crate::clock::now;
use crate::error::Error;
use crate::listing::{After, owner, size};
use crate::s3::{
    Bucket as Listed, BucketLocationConstraint, CreateBucketOutput, CreateBucketRequest,
    DeleteBucketOutput, DeleteBucketRequest, GetBucketLocationOutput, GetBucketLocationRequest,
    HeadBucketOutput, HeadBucketRequest, ListBucketsOutput, ListBucketsRequest,
};
use crate::store::Store;

/// Of a bucket that was made without one.
const REGION: &str = "us-east-1";

/// CreateBucket.
pub(crate) fn create(
    store: &Store,
    input: CreateBucketRequest,
) -> Result<CreateBucketOutput, Fault> {
    if !is_name(&input.bucket) {
        return Err(Error::InvalidBucketName.into());
    }
    let configuration = input.create_bucket_configuration;
    let region = configuration.and_then(|own| own.location_constraint);
    let region = region.map(|region| region.as_str().into());
    store.lock().create(&input.bucket, region, now())?;
    let location = format!("/{}", input.bucket);
    Ok(CreateBucketOutput::builder().location(location).build())
}

/// DeleteBucket.
pub(crate) fn delete(
    store: &Store,
    input: DeleteBucketRequest,
) -> Result<DeleteBucketOutput, Fault> {
    store.lock().remove(&input.bucket)?;
    Ok(DeleteBucketOutput::default())
}

/// HeadBucket.
pub(crate) fn head(store: &Store, input: HeadBucketRequest) -> Result<HeadBucketOutput, Fault> {
    let contents = store.lock();
    let bucket = contents.bucket(&input.bucket).map_err(Error::headed)?;
    let region = bucket.region.clone().unwrap_or(REGION.into());
    Ok(HeadBucketOutput::builder().bucket_region(region).build())
}

/// GetBucketLocation.
pub(crate) fn location(
    store: &Store,
    input: GetBucketLocationRequest,
) -> Result<GetBucketLocationOutput, Fault> {
    let contents = store.lock();
    let mut output = GetBucketLocationOutput::default();
    let region = contents.bucket(&input.bucket)?.region.as_deref();
    output.location_constraint = region.map(BucketLocationConstraint::from);
    Ok(output)
}

/// ListBuckets.
pub(crate) fn list(store: &Store, input: ListBucketsRequest) -> Result<ListBucketsOutput, Fault> {
    let after = match &input.continuation_token {
        Some(token) => After::from_token(token)?,
        None => After::Nothing,
    };
    let query = crate::listing::Query {
        prefix: input.prefix.as_deref().unwrap_or_default(),
        delimiter: "",
        after: &after,
        most: usize::try_from(size(input.max_buckets)?).unwrap_or_default(),
    };
    let contents = store.lock();
    let page = crate::listing::page(contents.buckets(), query);
    let listed = page.keys.iter().map(|(name, bucket)| {
        let region = bucket.region.clone().unwrap_or(REGION.into());
        let listed = Listed::builder().name(*name).creation_date(bucket.created);
        listed.bucket_region(region).build()
    });
    let mut output = ListBucketsOutput::default();
    output.buckets = Some(listed.collect());
    output.owner = Some(owner());
    output.continuation_token = page.next.map(|next| next.to_token().into());
    output.prefix = input.prefix;
    Ok(output)
}

/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html>,
/// without the names that it reserves.
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
