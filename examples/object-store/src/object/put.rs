//! PutObject.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use crate::clock::now;
use crate::condition::write_conditions_of;
use crate::convert::{
    add_trailer, check_key, check_md5, checksums_of, facts_of, header_tags, hex, quoted,
    set_checksums, size,
};
use crate::s3::{ChecksumType, PutObjectOutput, PutObjectRequest};
use crate::service::ObjectStore;
use crate::storage::{Checksums, DataFile, Facts, Received, Tag, Version};

/// Stores an object.
pub(crate) async fn put(
    own: &ObjectStore,
    mut input: PutObjectRequest,
    context: &Context,
) -> Result<PutObjectOutput, Fault> {
    check_key(&input.key)?;
    let tags = header_tags(input.tagging.as_deref())?;
    let conditions = write_conditions_of!(input);
    // Checked again with the change. This spares a client the upload.
    let view = own.store.view()?;
    view.bucket(&input.bucket)
        .map_err(crate::error::Error::from)?;
    let old = view
        .object(&input.bucket, &input.key)
        .map_err(crate::error::Error::from)?;
    conditions.write(old.as_ref())?;
    drop(view);

    let body = input.body.take().unwrap_or_default();
    let mut received = own.store.receive(body, own.settings.put).await?;
    check_md5(&received.md5, input.content_md5.as_deref())?;
    let file = received.file.take();
    let mut checksums = checksums_of!(input);
    add_trailer(&mut checksums, context);
    let version = received_version(received, file.as_ref(), facts_of!(input), checksums, tags);
    let summary = version.summary.clone();
    let checksums = version.detail.checksums.clone();
    let (bucket, key) = (input.bucket, input.key);
    let stored = own
        .store
        .change(move |changes| {
            changes.put(&bucket, &key, version, file, |old| conditions.write(old))
        })
        .await?;
    let mut output = PutObjectOutput::default();
    output.etag = Some(quoted(&summary.etag));
    output.version_id = stored.id.map(Into::into);
    output.size = Some(size(summary.size));
    output.checksum_type = checksums.algorithm().map(|_| ChecksumType::FullObject);
    set_checksums!(output, &checksums);
    Ok(output)
}

/// The version of a body that was received.
pub(crate) fn received_version(
    received: Received,
    file: Option<&DataFile>,
    facts: Facts,
    checksums: Checksums,
    tags: Vec<Tag>,
) -> Version {
    let mut version = Version::default();
    version.summary.modified = now();
    version.summary.etag = hex(&received.md5);
    version.summary.size = received.size;
    if let Some(algorithm) = checksums.algorithm() {
        version.summary.algorithm = Some(algorithm.into());
        version.summary.checksum_type = Some("FULL_OBJECT".into());
    }
    version.detail.segments = file.map(DataFile::segment).into_iter().collect();
    version.detail.facts = facts;
    version.detail.checksums = checksums;
    version.detail.tags = tags;
    version.inline = received.inline;
    version
}
