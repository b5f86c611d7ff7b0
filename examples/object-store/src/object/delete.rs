//! DeleteObject and DeleteObjects.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use crate::clock::now;
use crate::condition::Conditions;
use crate::convert::version_id;
use crate::error::Error;
use crate::s3::{
    DeleteObjectOutput, DeleteObjectRequest, DeleteObjectsOutput, DeleteObjectsRequest,
    DeletedObject, Error as NotDeleted,
};
use crate::service::ObjectStore;
use crate::storage::{Abort, Changes, Deleted};

/// The most objects of one request.
const OBJECTS: usize = 1000;

/// Deletes an object or a version of it.
pub(crate) async fn delete(
    own: &ObjectStore,
    input: DeleteObjectRequest,
    _: &Context,
) -> Result<DeleteObjectOutput, Fault> {
    let id = version_id(&input.version_id)?;
    let conditions = Conditions {
        if_match: input.if_match.as_ref().map(ToString::to_string),
        if_size: input.if_match_size,
        if_modified_at: input.if_match_last_modified_time,
        ..Conditions::default()
    };
    let (bucket, key) = (input.bucket, input.key);
    let change = move |changes: &mut Changes<'_>| {
        delete_one(changes, &bucket, &key, id.as_deref(), &conditions)
    };
    let deleted = own.store.change(change).await?;
    let mut output = DeleteObjectOutput::default();
    output.delete_marker = deleted.is_marker.then_some(true);
    output.version_id = deleted.id.map(Into::into);
    Ok(output)
}

fn delete_one(
    changes: &mut Changes<'_>,
    bucket: &str,
    key: &str,
    id: Option<&str>,
    conditions: &Conditions,
) -> Result<Deleted, Abort> {
    match id {
        Some(id) => changes.delete_version(bucket, key, id, |old| conditions.write(old)),
        None => changes.delete(bucket, key, now(), |old| conditions.write(old)),
    }
}

/// Deletes several objects or versions.
pub(crate) async fn delete_all(
    own: &ObjectStore,
    input: DeleteObjectsRequest,
    _: &Context,
) -> Result<DeleteObjectsOutput, Fault> {
    own.store
        .view()?
        .bucket(&input.bucket)
        .map_err(Error::from)?;
    if input.delete.objects.is_empty() || input.delete.objects.len() > OBJECTS {
        return Err(Error::MalformedXml.into());
    }
    let is_quiet = input.delete.quiet == Some(true);
    let (bucket, objects) = (input.bucket, input.delete.objects);
    let change = move |changes: &mut Changes<'_>| {
        let mut output = DeleteObjectsOutput::default();
        let (mut deleted, mut errors) = (Vec::new(), Vec::new());
        for object in objects {
            let conditions = Conditions {
                if_match: object.etag.as_ref().map(ToString::to_string),
                if_size: object.size,
                if_modified_at: object.last_modified_time,
                ..Conditions::default()
            };
            let result = version_id(&object.version_id).map_err(Abort::from);
            let result = result.and_then(|id| {
                delete_one(changes, &bucket, &object.key, id.as_deref(), &conditions)
            });
            match result {
                Ok(done) => {
                    let mut entry = DeletedObject::default();
                    entry.delete_marker = done.is_marker.then_some(true);
                    entry.delete_marker_version_id =
                        done.id.filter(|_| done.is_marker).map(Into::into);
                    entry.version_id = object.version_id;
                    entry.key = Some(object.key);
                    deleted.push(entry);
                }
                Err(Abort::Rejected(error)) => {
                    let (code, _, message) = match error {
                        // What cannot be compared is another object.
                        Error::NoSuchKey => Error::PreconditionFailed,
                        error => error,
                    }
                    .facts();
                    let mut entry = NotDeleted::default();
                    entry.key = Some(object.key);
                    entry.version_id = object.version_id;
                    (entry.code, entry.message) = (Some(code.into()), Some(message.into()));
                    errors.push(entry);
                }
                Err(failed) => return Err(failed),
            }
        }
        output.deleted = (!is_quiet).then_some(deleted);
        output.errors = Some(errors);
        Ok(output)
    };
    Ok(own.store.change(change).await?)
}
