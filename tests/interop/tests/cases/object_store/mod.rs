//! Unmodified boto3, the aws CLI, minio-py and s3cmd use the example `object-store` as S3. The
//! example is generated from the model of S3.

use polywire_interop::{Case, Serving, object_store};

/// Runs a script of this folder against its own store.
fn runs(name: &'static str, script: &str) {
    let script = format!("{}\n{script}", include_str!("client.py"));
    runs_with(name, &["awscli", "boto3"], &script);
}

/// As [`runs`], with these Python modules and without a client of boto3.
fn runs_with(name: &'static str, modules: &[&str], script: &str) {
    let case = Case::begin(name);
    let Some(python) = case.python(modules) else {
        return;
    };
    let data = tempfile::tempdir().unwrap();
    let data = data.path().to_str().unwrap();
    let arguments = ["--listen", "127.0.0.1:0", "--data", data];
    let serving = Serving::start_program(object_store(), &arguments);
    let shown = python.run(serving.url(), script);
    assert_eq!(shown.as_str(), Some("done"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_buckets() {
    runs("boto3_s3_buckets", include_str!("buckets.py"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_objects() {
    runs("boto3_s3_objects", include_str!("objects.py"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_unusual_keys() {
    runs("boto3_s3_unusual_keys", include_str!("keys.py"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_pages() {
    runs("boto3_s3_pages", include_str!("listing.py"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_multipart() {
    runs("boto3_s3_multipart", include_str!("multipart.py"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_versions() {
    runs("boto3_s3_versions", include_str!("versions.py"));
}

/// Uploads by HTML forms, with policies of boto3.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_forms() {
    runs("boto3_s3_forms", include_str!("forms.py"));
}

/// Ranges, copies of ranges, and transfers in four parallel parts.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_parts() {
    runs("boto3_s3_parts", include_str!("parts.py"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_managed_transfer() {
    runs("boto3_s3_managed_transfer", include_str!("transfer.py"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_virtual_hosts() {
    runs("boto3_s3_virtual_hosts", include_str!("addressing.py"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_checksums_unasked() {
    runs("boto3_s3_checksums_unasked", include_str!("checksums.py"));
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn aws_cli_s3() {
    runs("aws_cli_s3", include_str!("cli.py"));
}

/// minio-py uses both versions of ListObjects.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn minio_py_s3() {
    runs_with("minio_py_s3", &["minio"], include_str!("minio.py"));
}

/// s3cmd uses only the first version of ListObjects.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn s3cmd_s3() {
    // The Python module of s3cmd.
    runs_with("s3cmd_s3", &["S3.Config"], include_str!("s3cmd.py"));
}
