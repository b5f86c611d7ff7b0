//! Generates types, client and server of the operations that the store has from
//! S3's model, which is not in this repository. Without the model the library is empty and the
//! program says what is missing.

use std::env;
use std::error::Error;
use std::path::PathBuf;

const OPERATIONS: [&str; 32] = [
    "AbortMultipartUpload",
    "CompleteMultipartUpload",
    "CopyObject",
    "CreateBucket",
    "CreateMultipartUpload",
    "DeleteBucket",
    "DeleteBucketTagging",
    "DeleteObject",
    "DeleteObjects",
    "DeleteObjectTagging",
    "GetBucketAcl",
    "GetBucketLocation",
    "GetBucketTagging",
    "GetBucketVersioning",
    "GetObject",
    "GetObjectAcl",
    "GetObjectAttributes",
    "GetObjectTagging",
    "HeadBucket",
    "HeadObject",
    "ListBuckets",
    "ListMultipartUploads",
    "ListObjects",
    "ListObjectsV2",
    "ListObjectVersions",
    "ListParts",
    "PutBucketTagging",
    "PutBucketVersioning",
    "PutObject",
    "PutObjectTagging",
    "UploadPart",
    "UploadPartCopy",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=POLYWIRE_S3_MODEL");
    let model = match env::var_os("POLYWIRE_S3_MODEL") {
        Some(file) => Ok(PathBuf::from(file)),
        None => test_data::data("models/s3.json"),
    };
    if let Some(model) = test_data::for_build(model, "s3_model")? {
        polywire_codegen::Build::new()
            .model(model)
            .name("s3")
            .operations(OPERATIONS)
            .generate()?;
    }
    Ok(())
}
