//! The service: each operation by the file of its subject.

use polywire::protocol::Fault;
use polywire::rpc::Context;
use polywire::schema::{Blob, ByteStream};

use crate::s3::server::AmazonS3;
use crate::s3::*;
use crate::store::Store;
use crate::{Settings, bucket, listing, multipart, object};

/// An object store in memory.
#[derive(Debug)]
pub struct ObjectStore {
    store: Store,
    settings: Settings,
}

impl ObjectStore {
    /// An empty one.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let store = Store::new(settings.memory);
        Self { store, settings }
    }
}

impl ObjectStore {
    /// Reads a body into memory.
    async fn body(&self, body: Option<ByteStream>) -> Result<Blob, Fault> {
        Ok(body.unwrap_or_default().collect(self.settings.body).await?)
    }
}

macro_rules! operations {
    ($($method:ident($input:ty) -> $output:ty, $error:ty: $function:path;)*) => {
        $(
            async fn $method(&self, input: $input, _: &Context) -> Result<$output, $error> {
                Ok($function(&self.store, input)?)
            }
        )*
    };
}

impl AmazonS3 for ObjectStore {
    operations! {
        create_bucket(CreateBucketRequest) -> CreateBucketOutput, CreateBucketError: bucket::create;
        delete_bucket(DeleteBucketRequest) -> DeleteBucketOutput, DeleteBucketError: bucket::delete;
        head_bucket(HeadBucketRequest) -> HeadBucketOutput, HeadBucketError: bucket::head;
        get_bucket_location(GetBucketLocationRequest) -> GetBucketLocationOutput, GetBucketLocationError: bucket::location;
        list_buckets(ListBucketsRequest) -> ListBucketsOutput, ListBucketsError: bucket::list;
        get_object(GetObjectRequest) -> GetObjectOutput, GetObjectError: object::get;
        head_object(HeadObjectRequest) -> HeadObjectOutput, HeadObjectError: object::head;
        delete_object(DeleteObjectRequest) -> DeleteObjectOutput, DeleteObjectError: object::delete;
        delete_objects(DeleteObjectsRequest) -> DeleteObjectsOutput, DeleteObjectsError: object::delete_all;
        copy_object(CopyObjectRequest) -> CopyObjectOutput, CopyObjectError: object::copy;
        list_objects(ListObjectsRequest) -> ListObjectsOutput, ListObjectsError: listing::list_objects_v1;
        list_objects_v2(ListObjectsV2Request) -> ListObjectsV2Output, ListObjectsV2Error: listing::list_objects_v2;
        create_multipart_upload(CreateMultipartUploadRequest) -> CreateMultipartUploadOutput, CreateMultipartUploadError: multipart::create;
        abort_multipart_upload(AbortMultipartUploadRequest) -> AbortMultipartUploadOutput, AbortMultipartUploadError: multipart::abort;
        list_parts(ListPartsRequest) -> ListPartsOutput, ListPartsError: multipart::list_parts;
        list_multipart_uploads(ListMultipartUploadsRequest) -> ListMultipartUploadsOutput, ListMultipartUploadsError: multipart::list_uploads;
    }

    async fn put_object(
        &self,
        mut input: PutObjectRequest,
        _: &Context,
    ) -> Result<PutObjectOutput, PutObjectError> {
        let body = self.body(input.body.take()).await?;
        Ok(object::put(&self.store, input, body)?)
    }

    async fn upload_part(
        &self,
        mut input: UploadPartRequest,
        _: &Context,
    ) -> Result<UploadPartOutput, UploadPartError> {
        let body = self.body(input.body.take()).await?;
        Ok(multipart::upload(&self.store, input, body)?)
    }

    async fn complete_multipart_upload(
        &self,
        input: CompleteMultipartUploadRequest,
        _: &Context,
    ) -> Result<CompleteMultipartUploadOutput, CompleteMultipartUploadError> {
        let Settings { part, object, .. } = self.settings;
        Ok(multipart::complete(&self.store, input, part, object)?)
    }
}
