//! ListObjects, versions 1 and 2.

use polywire::protocol::Fault;
use polywire::rpc::Context;
use polywire::schema::Text;

use super::page::{
    After, Page, Query, check_encoding, common_prefixes, named, owner, page, page_size,
};
use crate::convert::{quoted, size, time};
use crate::s3::{
    ChecksumAlgorithm, ChecksumType, EncodingType, ListObjectsOutput, ListObjectsRequest,
    ListObjectsV2Output, ListObjectsV2Request, Object, ObjectStorageClass,
};
use crate::service::ObjectStore;
use crate::storage::{Abort, Summary, View};

/// A page of the objects of a bucket, without those whose newest version is a delete marker.
fn objects(view: &View, bucket: &str, query: &Query) -> Result<Page<Summary>, Abort> {
    view.bucket(bucket)?;
    page(query, |from| view.objects_from(bucket, from))
}

/// Version 1, which older clients use.
pub(crate) async fn list_objects_v1(
    own: &ObjectStore,
    input: ListObjectsRequest,
    _: &Context,
) -> Result<ListObjectsOutput, Fault> {
    check_encoding(input.encoding_type.as_ref())?;
    let encoding = input.encoding_type.clone();
    let most = page_size(input.max_keys)?;
    let prefix = input.prefix.as_deref().unwrap_or_default();
    let delimiter = input.delimiter.as_deref().unwrap_or_default();
    let marker = input.marker.as_deref().unwrap_or_default();
    let query = Query {
        prefix: prefix.to_owned(),
        delimiter: delimiter.to_owned(),
        after: After::marker(marker, prefix, delimiter),
        most: usize::try_from(most).unwrap_or_default(),
    };
    let has_delimiter = !delimiter.is_empty();
    let bucket = input.bucket.clone();
    let page = own
        .store
        .read(move |view| objects(view, &bucket, &query))
        .await?;
    let encoding = encoding.as_ref();
    let encoded = |text: &Text| named(text, encoding);
    let mut output = ListObjectsOutput::default();
    output.contents = Some(listed(&page, encoding, true));
    output.common_prefixes = Some(common_prefixes(&page.prefixes, encoding));
    output.is_truncated = Some(page.next.is_some());
    // S3 omits it without a delimiter. Then clients continue after the last key.
    let next = page.next.filter(|_| has_delimiter);
    output.next_marker = next.map(|next| named(next.text(), encoding));
    output.max_keys = Some(most);
    output.marker = Some(encoded(&input.marker.unwrap_or_default()));
    output.prefix = Some(encoded(&input.prefix.unwrap_or_default()));
    output.delimiter = input.delimiter.as_ref().map(encoded);
    output.encoding_type = encoding.cloned();
    output.name = Some(input.bucket);
    Ok(output)
}

/// Version 2.
pub(crate) async fn list_objects_v2(
    own: &ObjectStore,
    input: ListObjectsV2Request,
    _: &Context,
) -> Result<ListObjectsV2Output, Fault> {
    check_encoding(input.encoding_type.as_ref())?;
    let encoding = input.encoding_type.clone();
    let most = page_size(input.max_keys)?;
    let after = match (&input.continuation_token, &input.start_after) {
        (Some(token), _) => After::from_token(token)?,
        (None, Some(key)) => After::Key(key.to_string()),
        (None, None) => After::Nothing,
    };
    let query = Query {
        prefix: input.prefix.as_deref().unwrap_or_default().to_owned(),
        delimiter: input.delimiter.as_deref().unwrap_or_default().to_owned(),
        after,
        most: usize::try_from(most).unwrap_or_default(),
    };
    let bucket = input.bucket.clone();
    let page = own
        .store
        .read(move |view| objects(view, &bucket, &query))
        .await?;
    let encoding = encoding.as_ref();
    let encoded = |text: &Text| named(text, encoding);
    let mut output = ListObjectsV2Output::default();
    output.contents = Some(listed(&page, encoding, input.fetch_owner == Some(true)));
    output.common_prefixes = Some(common_prefixes(&page.prefixes, encoding));
    output.is_truncated = Some(page.next.is_some());
    output.key_count = i32::try_from(page.keys.len() + page.prefixes.len()).ok();
    output.next_continuation_token = page.next.map(|next| next.to_token().into());
    output.max_keys = Some(most);
    output.prefix = Some(encoded(&input.prefix.unwrap_or_default()));
    output.delimiter = input.delimiter.as_ref().map(encoded);
    output.start_after = input.start_after.as_ref().map(encoded);
    output.continuation_token = input.continuation_token;
    output.encoding_type = encoding.cloned();
    output.name = Some(input.bucket);
    Ok(output)
}

fn listed(page: &Page<Summary>, encoding: Option<&EncodingType>, with_owner: bool) -> Vec<Object> {
    let one = |(key, summary): &(String, Summary)| {
        let mut listed = Object::default();
        listed.key = Some(named(key, encoding));
        listed.last_modified = Some(time(summary.modified));
        listed.etag = Some(quoted(&summary.etag));
        listed.size = Some(size(summary.size));
        listed.storage_class = Some(ObjectStorageClass::Standard);
        let algorithm = summary.algorithm.as_deref();
        listed.checksum_algorithm = algorithm.map(|name| vec![ChecksumAlgorithm::from(name)]);
        listed.checksum_type = summary.checksum_type.as_deref().map(ChecksumType::from);
        listed.owner = with_owner.then(owner);
        listed
    };
    page.keys.iter().map(one).collect()
}
