//! Unmodified boto3, the aws CLI, minio-py and s3cmd use the example `object-store` as S3. The
//! example is generated from the model of S3.

use polywire_interop::{Case, Serving, object_store};

/// How a store is started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    /// Over HTTP, with the access key of the scripts.
    Signed,
    /// Over HTTPS, with the access key of the scripts.
    Tls,
    /// Over HTTP, and signatures are not checked.
    Open,
}

/// Runs a script of this folder against its own store.
fn runs(name: &'static str, script: &str) {
    runs_in(name, Mode::Signed, script);
}

fn runs_in(name: &'static str, mode: Mode, script: &str) {
    let script = format!("{}\n{script}", include_str!("client.py"));
    runs_with(name, mode, &["awscli", "boto3"], &script);
}

/// As [`runs`], with these Python modules and without a client of boto3.
fn runs_with(name: &'static str, mode: Mode, modules: &[&str], script: &str) {
    let case = Case::begin(name);
    let Some(python) = case.python(modules) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (data, keys, cert, key) = (
        path("data"),
        path("keys"),
        path("cert.pem"),
        path("key.pem"),
    );
    std::fs::write(&keys, "# of the scripts\nx x\n").unwrap();
    let mut arguments = vec!["--listen", "127.0.0.1:0", "--data", &data];
    if mode != Mode::Open {
        arguments.extend(["--keys", &keys]);
    }
    let mut script = script.to_owned();
    if mode == Mode::Tls {
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let own = rcgen::generate_simple_self_signed(names).unwrap();
        std::fs::write(&cert, own.cert.pem()).unwrap();
        std::fs::write(&key, own.signing_key.serialize_pem()).unwrap();
        arguments.extend(["--cert", &cert, "--key", &key]);
        script = format!("import os\nos.environ['STORE_CERTIFICATE'] = {cert:?}\n{script}");
    }
    let serving = Serving::start_program(object_store(), &arguments);
    let shown = python.run(serving.url(), &script);
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
    // Some forms have no policy.
    runs_in("boto3_s3_forms", Mode::Open, include_str!("forms.py"));
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
    runs_in(
        "boto3_s3_checksums_https",
        Mode::Tls,
        include_str!("checksums.py"),
    );
}

#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_signatures() {
    runs("boto3_s3_signatures", include_str!("signatures.py"));
    runs_in(
        "boto3_s3_signatures_https",
        Mode::Tls,
        include_str!("signatures.py"),
    );
}

/// Over HTTPS boto3 sends bodies in aws-chunked, with checksums in trailers.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn boto3_s3_transfer_https() {
    runs_in(
        "boto3_s3_transfer_https",
        Mode::Tls,
        include_str!("transfer.py"),
    );
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
    runs_with(
        "minio_py_s3",
        Mode::Signed,
        &["minio"],
        include_str!("minio.py"),
    );
}

/// s3cmd uses only the first version of ListObjects.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn s3cmd_s3() {
    // The Python module of s3cmd.
    runs_with(
        "s3cmd_s3",
        Mode::Signed,
        &["S3.Config"],
        include_str!("s3cmd.py"),
    );
}
