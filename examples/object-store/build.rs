//! Generates types, client and server of the operations that the store has from
//! S3's model, which is not in this repository.

use std::env;
use std::error::Error;
use std::path::PathBuf;

const OPERATIONS: [&str; 18] = [
    "AbortMultipartUpload",
    "CompleteMultipartUpload",
    "CopyObject",
    "CreateBucket",
    "CreateMultipartUpload",
    "DeleteBucket",
    "DeleteObject",
    "DeleteObjects",
    "GetBucketLocation",
    "GetObject",
    "HeadBucket",
    "HeadObject",
    "ListBuckets",
    "ListMultipartUploads",
    "ListObjectsV2",
    "ListParts",
    "PutObject",
    "UploadPart",
];

fn main() -> Result<(), Box<dyn Error>> {
    polywire_codegen::Build::new()
        .model(model()?)
        .name("s3")
        .operations(OPERATIONS)
        .generate()?;
    Ok(())
}

/// Where the model is.
fn model() -> Result<PathBuf, String> {
    for name in ["POLYWIRE_S3_MODEL", "POLYWIRE_DATA"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let model = match env::var_os("POLYWIRE_S3_MODEL") {
        Some(file) => PathBuf::from(file),
        None => {
            let folder = env::var_os("POLYWIRE_DATA").unwrap_or("../../../shared".into());
            PathBuf::from(folder).join("models/s3.json")
        }
    };
    if model.is_file() {
        return Ok(model);
    }
    Err(format!(
        "there is no {}: S3's model is Amazon's and not in this repository. Get \
         models/s3/service/2006-03-01/s3-2006-03-01.json of \
         https://github.com/aws/api-models-aws and name it: POLYWIRE_S3_MODEL=FILE cargo ...",
        model.display()
    ))
}
