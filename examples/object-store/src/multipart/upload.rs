//! CreateMultipartUpload and AbortMultipartUpload.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use crate::clock::now;
use crate::convert::{check_key, facts_of, header_tags};
use crate::s3::{
    AbortMultipartUploadOutput, AbortMultipartUploadRequest, CreateMultipartUploadOutput,
    CreateMultipartUploadRequest,
};
use crate::service::ObjectStore;
use crate::storage::Upload;

/// Initiates an upload.
pub(crate) async fn create(
    own: &ObjectStore,
    mut input: CreateMultipartUploadRequest,
    _: &Context,
) -> Result<CreateMultipartUploadOutput, Fault> {
    check_key(&input.key)?;
    let id = uuid::Uuid::new_v4().simple().to_string();
    let upload = Upload {
        initiated: now(),
        facts: facts_of!(input),
        tags: header_tags(input.tagging.as_deref())?,
        algorithm: input
            .checksum_algorithm
            .as_ref()
            .map(|name| name.as_str().into()),
        checksum_type: input
            .checksum_type
            .as_ref()
            .map(|name| name.as_str().into()),
    };
    let mut output = CreateMultipartUploadOutput::default();
    output.bucket = Some(input.bucket.clone());
    output.key = Some(input.key.clone());
    output.upload_id = Some(id.as_str().into());
    output.checksum_algorithm = input.checksum_algorithm;
    output.checksum_type = input.checksum_type;
    let (bucket, key) = (input.bucket, input.key);
    own.store
        .change(move |changes| changes.initiate(&bucket, &key, &id, &upload))
        .await?;
    Ok(output)
}

/// Ends an upload without an object.
pub(crate) async fn abort(
    own: &ObjectStore,
    input: AbortMultipartUploadRequest,
    _: &Context,
) -> Result<AbortMultipartUploadOutput, Fault> {
    let (bucket, key, id) = (input.bucket, input.key, input.upload_id);
    own.store
        .change(move |changes| changes.remove_upload(&bucket, &key, &id))
        .await?;
    Ok(AbortMultipartUploadOutput::default())
}
