//! ListMultipartUploads.

use polywire::protocol::Fault;
use polywire::rpc::Context;
use polywire::schema::Text;

use super::page::{
    After, Page, Query, check_encoding, common_prefixes, named, owner, page, page_size,
};
use crate::convert::time;
use crate::s3::{
    ChecksumAlgorithm, ChecksumType, Initiator, ListMultipartUploadsOutput,
    ListMultipartUploadsRequest, MultipartUpload, StorageClass,
};
use crate::service::ObjectStore;
use crate::storage::{Upload, View};

/// Lists uploads that are neither completed nor aborted.
///
/// A key can have several uploads, so the entries of a page are keys that are followed by a zero character and the id of
/// the upload. They are in the order of keys, because no character is smaller.
pub(crate) async fn list_uploads(
    own: &ObjectStore,
    input: ListMultipartUploadsRequest,
    _: &Context,
) -> Result<ListMultipartUploadsOutput, Fault> {
    check_encoding(input.encoding_type.as_ref())?;
    let encoding = input.encoding_type.clone();
    let most = page_size(input.max_uploads)?;
    let query = Query {
        prefix: input.prefix.as_deref().unwrap_or_default().to_owned(),
        delimiter: input.delimiter.as_deref().unwrap_or_default().to_owned(),
        after: after(&input),
        most: usize::try_from(most).unwrap_or_default(),
    };
    let bucket = input.bucket.clone();
    let read = move |view: &View| {
        view.bucket(&bucket)?;
        page(&query, |from| view.uploads_from(&bucket, from))
    };
    let page: Page<Upload> = own.store.read(read).await?;
    let encoding = encoding.as_ref();
    let encoded = |text: &Text| named(text, encoding);
    let mut output = ListMultipartUploadsOutput::default();
    let listed = page.keys.iter().map(|(place, upload)| {
        let (key, id) = place.rsplit_once('\0').unwrap_or((place, ""));
        let mut listed = MultipartUpload::default();
        listed.upload_id = Some(id.into());
        listed.key = Some(named(key, encoding));
        listed.initiated = Some(time(upload.initiated));
        listed.storage_class = Some(StorageClass::Standard);
        listed.checksum_algorithm = upload.algorithm.as_deref().map(ChecksumAlgorithm::from);
        listed.checksum_type = upload.checksum_type.as_deref().map(ChecksumType::from);
        listed.owner = Some(owner());
        listed.initiator = Some(initiator());
        listed
    });
    output.uploads = Some(listed.collect());
    output.common_prefixes = Some(common_prefixes(&page.prefixes, encoding));
    output.is_truncated = Some(page.next.is_some());
    match page.next {
        Some(After::Key(place)) => {
            let (key, id) = place.rsplit_once('\0').unwrap_or((&place, ""));
            output.next_key_marker = Some(named(key, encoding));
            output.next_upload_id_marker = Some(id.into());
        }
        Some(After::Prefix(prefix)) => output.next_key_marker = Some(named(&prefix, encoding)),
        _ => {}
    }
    output.max_uploads = Some(most);
    output.prefix = input.prefix.as_ref().map(encoded);
    output.delimiter = input.delimiter.as_ref().map(encoded);
    output.key_marker = Some(encoded(&input.key_marker.unwrap_or_default()));
    output.upload_id_marker = input.upload_id_marker;
    output.encoding_type = encoding.cloned();
    output.bucket = Some(input.bucket);
    Ok(output)
}

fn after(input: &ListMultipartUploadsRequest) -> After {
    match (&input.key_marker, &input.upload_id_marker) {
        (None, _) => After::Nothing,
        (Some(key), Some(id)) if !id.is_empty() => After::Key(format!("{key}\0{id}")),
        (Some(key), _) => match &input.delimiter {
            // A marker can be a common prefix.
            Some(delimiter) if !delimiter.is_empty() && key.ends_with(delimiter.as_str()) => {
                After::Prefix(key.to_string())
            }
            // After all ids of the key.
            _ => After::Key(format!("{key}\0\u{7f}")),
        },
    }
}

/// The only one.
pub(super) fn initiator() -> Initiator {
    let mut initiator = Initiator::default();
    initiator.id = Some("owner".into());
    initiator.display_name = Some("owner".into());
    initiator
}
