//! The service: each operation by the function of its subject.

use polywire::protocol::Fault;
use polywire::rpc::Context;

use crate::s3::server::AmazonS3;
use crate::s3::*;
use crate::storage::{OpenError, Store};
use crate::{Settings, access, bucket, listing, multipart, object, tagging};

/// An object store in a directory.
#[derive(Debug)]
pub struct ObjectStore {
    pub(crate) store: Store,
    pub(crate) settings: Settings,
}

impl ObjectStore {
    /// Opens the store in the directory of the settings, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// The directory cannot be read or written, has other files, or another process uses it.
    pub fn open(settings: Settings) -> Result<Self, OpenError> {
        let store = Store::open(&settings.data, settings.fsync)?;
        Ok(Self { store, settings })
    }
}

macro_rules! operations {
    ($($method:ident($input:ty) -> $output:ty, $error:ty: $function:path;)*) => {
        $(
            async fn $method(&self, input: $input, context: &Context) -> Result<$output, $error> {
                let result: Result<$output, Fault> = $function(self, input, context).await;
                Ok(result?)
            }
        )*
    };
}

impl AmazonS3 for std::sync::Arc<ObjectStore> {
    operations! {
        create_bucket(CreateBucketRequest) -> CreateBucketOutput, CreateBucketError: bucket::create;
        delete_bucket(DeleteBucketRequest) -> DeleteBucketOutput, DeleteBucketError: bucket::delete;
        head_bucket(HeadBucketRequest) -> HeadBucketOutput, HeadBucketError: bucket::head;
        get_bucket_location(GetBucketLocationRequest) -> GetBucketLocationOutput, GetBucketLocationError: bucket::location;
        get_bucket_versioning(GetBucketVersioningRequest) -> GetBucketVersioningOutput, GetBucketVersioningError: bucket::versioning;
        put_bucket_versioning(PutBucketVersioningRequest) -> PutBucketVersioningOutput, PutBucketVersioningError: bucket::set_versioning;
        list_buckets(ListBucketsRequest) -> ListBucketsOutput, ListBucketsError: bucket::list;
        get_bucket_tagging(GetBucketTaggingRequest) -> GetBucketTaggingOutput, GetBucketTaggingError: tagging::get_bucket;
        put_bucket_tagging(PutBucketTaggingRequest) -> PutBucketTaggingOutput, PutBucketTaggingError: tagging::put_bucket;
        delete_bucket_tagging(DeleteBucketTaggingRequest) -> DeleteBucketTaggingOutput, DeleteBucketTaggingError: tagging::delete_bucket;
        get_object_tagging(GetObjectTaggingRequest) -> GetObjectTaggingOutput, GetObjectTaggingError: tagging::get_object;
        put_object_tagging(PutObjectTaggingRequest) -> PutObjectTaggingOutput, PutObjectTaggingError: tagging::put_object;
        delete_object_tagging(DeleteObjectTaggingRequest) -> DeleteObjectTaggingOutput, DeleteObjectTaggingError: tagging::delete_object;
        get_bucket_acl(GetBucketAclRequest) -> GetBucketAclOutput, GetBucketAclError: access::bucket;
        get_object_acl(GetObjectAclRequest) -> GetObjectAclOutput, GetObjectAclError: access::object;
        get_object(GetObjectRequest) -> GetObjectOutput, GetObjectError: object::get;
        head_object(HeadObjectRequest) -> HeadObjectOutput, HeadObjectError: object::head;
        get_object_attributes(GetObjectAttributesRequest) -> GetObjectAttributesOutput, GetObjectAttributesError: object::attributes;
        put_object(PutObjectRequest) -> PutObjectOutput, PutObjectError: object::put;
        copy_object(CopyObjectRequest) -> CopyObjectOutput, CopyObjectError: object::copy;
        delete_object(DeleteObjectRequest) -> DeleteObjectOutput, DeleteObjectError: object::delete;
        delete_objects(DeleteObjectsRequest) -> DeleteObjectsOutput, DeleteObjectsError: object::delete_all;
        list_objects(ListObjectsRequest) -> ListObjectsOutput, ListObjectsError: listing::list_objects_v1;
        list_objects_v2(ListObjectsV2Request) -> ListObjectsV2Output, ListObjectsV2Error: listing::list_objects_v2;
        list_object_versions(ListObjectVersionsRequest) -> ListObjectVersionsOutput, ListObjectVersionsError: listing::list_versions;
        create_multipart_upload(CreateMultipartUploadRequest) -> CreateMultipartUploadOutput, CreateMultipartUploadError: multipart::create;
        upload_part(UploadPartRequest) -> UploadPartOutput, UploadPartError: multipart::upload_part;
        upload_part_copy(UploadPartCopyRequest) -> UploadPartCopyOutput, UploadPartCopyError: multipart::upload_part_copy;
        complete_multipart_upload(CompleteMultipartUploadRequest) -> CompleteMultipartUploadOutput, CompleteMultipartUploadError: multipart::complete;
        abort_multipart_upload(AbortMultipartUploadRequest) -> AbortMultipartUploadOutput, AbortMultipartUploadError: multipart::abort;
        list_parts(ListPartsRequest) -> ListPartsOutput, ListPartsError: listing::list_parts;
        list_multipart_uploads(ListMultipartUploadsRequest) -> ListMultipartUploadsOutput, ListMultipartUploadsError: listing::list_uploads;
    }
}
