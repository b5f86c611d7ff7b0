//! UploadPart and UploadPartCopy.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use crate::clock::now;
use crate::condition::copy_conditions_of;
use crate::convert::{add_trailer, check_md5, checksums_of, hex, quoted, set_checksums, time};
use crate::error::Error;
use crate::object::{CopySource, find};
use crate::range;
use crate::s3::{
    CopyPartResult, UploadPartCopyOutput, UploadPartCopyRequest, UploadPartOutput,
    UploadPartRequest,
};
use crate::service::ObjectStore;
use crate::storage::{Checksums, DataFile, Part, slice};

/// How often a copy is tried if its source changes meanwhile.
const TRIES: usize = 3;

fn check_number(number: i32) -> Result<(), Error> {
    match number {
        1..=10_000 => Ok(()),
        _ => Err(Error::InvalidArgument(
            "Part number must be an integer between 1 and 10000, inclusive",
        )),
    }
}

/// Stores a part.
pub(crate) async fn upload_part(
    own: &ObjectStore,
    mut input: UploadPartRequest,
    context: &Context,
) -> Result<UploadPartOutput, Fault> {
    check_number(input.part_number)?;
    let view = own.store.view()?;
    // Checked again with the change. This spares a client the upload.
    view.upload(&input.bucket, &input.key, &input.upload_id)
        .map_err(Error::from)?;
    drop(view);
    let body = input.body.take().unwrap_or_default();
    let mut received = own.store.receive_part(body, own.settings.put).await?;
    check_md5(&received.md5, input.content_md5.as_deref())?;
    let file = received.file.take().filter(|_| received.size > 0);
    let mut checksums = checksums_of!(input);
    add_trailer(&mut checksums, context);
    let part = Part {
        etag: hex(&received.md5),
        size: received.size,
        modified: now(),
        checksums,
        segments: file.iter().map(DataFile::segment).collect(),
    };
    let mut output = UploadPartOutput::default();
    output.etag = Some(quoted(&part.etag));
    set_checksums!(output, &part.checksums);
    let (bucket, key, id) = (input.bucket, input.key, input.upload_id);
    own.store
        .change(move |changes| {
            changes.put_part((&bucket, &key, &id), input.part_number, &part, file)
        })
        .await?;
    Ok(output)
}

/// Makes a part of a range of an object. Its bytes are read for the ETag, but not written again: the part refers to the
/// same data files. Only the bytes of a small object, which has none, are written into a new one.
pub(crate) async fn upload_part_copy(
    own: &ObjectStore,
    input: UploadPartCopyRequest,
    _: &Context,
) -> Result<UploadPartCopyOutput, Fault> {
    check_number(input.part_number)?;
    let view = own.store.view()?;
    view.upload(&input.bucket, &input.key, &input.upload_id)
        .map_err(Error::from)?;
    drop(view);
    let source = CopySource::parse(&input.copy_source)?;
    let mut tries = 0;
    loop {
        tries += 1;
        match copy_once(own, &input, &source).await {
            Err(error) if is_aborted(&error) && tries < TRIES => {}
            result => return result,
        }
    }
}

fn is_aborted(fault: &Fault) -> bool {
    fault.name() == Error::OperationAborted.facts().0
}

async fn copy_once(
    own: &ObjectStore,
    input: &UploadPartCopyRequest,
    source: &CopySource,
) -> Result<UploadPartCopyOutput, Fault> {
    let id = source.id.as_deref();
    let pinned = own
        .store
        .pinned(|view| find(view, &source.bucket, &source.key, id))?;
    let version = &*pinned.version;
    copy_conditions_of!(input).copy(&version.summary)?;
    let range = range::of_copy(input.copy_source_range.as_deref(), version.summary.size)?;
    let (sum, file, segments) = if version.detail.segments.is_empty() {
        let received = own
            .store
            .receive_part(pinned.stream(range.clone()).await?, u64::MAX)
            .await?;
        let file = received.file.filter(|_| received.size > 0);
        let segments = file.iter().map(DataFile::segment).collect();
        (received.md5, file, segments)
    } else {
        let sum = pinned.md5(range.clone()).await?;
        (sum, None, slice(&version.detail.segments, &range))
    };
    let part = Part {
        etag: hex(&sum),
        size: range.end - range.start,
        modified: now(),
        checksums: Checksums::default(),
        segments,
    };
    let mut result = CopyPartResult::default();
    result.etag = Some(quoted(&part.etag));
    result.last_modified = Some(time(part.modified));
    let mut output = UploadPartCopyOutput::default();
    output.copy_part_result = Some(result);
    output.copy_source_version_id = version.shown_id.clone().map(Into::into);
    let number = input.part_number;
    let place = (
        input.bucket.clone(),
        input.key.clone(),
        input.upload_id.clone(),
    );
    own.store
        .change(move |changes| {
            let (bucket, key, id) = &place;
            changes.put_part((bucket, key, id), number, &part, file)
        })
        .await?;
    // The files of the source stay until the part refers to them.
    drop(pinned);
    Ok(output)
}
