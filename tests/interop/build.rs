//! Generates clients of some services of AWS from the models of the data folder,
//! where there is one, and only the operations that the cases call.
#![allow(clippy::print_stdout, reason = "Cargo reads it")]

use std::path::{Path, PathBuf};

use polywire_codegen::Build;

const SERVICES: [(&str, &[&str]); 5] = [
    (
        "cloudwatch",
        &[
            "GetDashboard",
            "GetMetricStatistics",
            "ListMetrics",
            "PutMetricData",
        ],
    ),
    (
        "dynamodb",
        &[
            "CreateTable",
            "DeleteItem",
            "DeleteTable",
            "GetItem",
            "ListTables",
            "PutItem",
        ],
    ),
    (
        "s3",
        &[
            "CreateBucket",
            "DeleteObject",
            "GetObject",
            "HeadObject",
            "ListObjectsV2",
            "PutObject",
        ],
    ),
    (
        "sns",
        &[
            "CreateTopic",
            "DeleteTopic",
            "GetTopicAttributes",
            "ListTopics",
            "Publish",
        ],
    ),
    (
        "sqs",
        &[
            "CreateQueue",
            "DeleteMessage",
            "DeleteQueue",
            "GetQueueUrl",
            "ListQueues",
            "ReceiveMessage",
            "SendMessage",
        ],
    ),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = match std::env::var_os("POLYWIRE_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../../shared"),
    };
    let models = folder.join("models");
    println!("cargo::rerun-if-env-changed=POLYWIRE_DATA");
    println!("cargo::rerun-if-changed={}", models.display());
    println!("cargo::rustc-check-cfg=cfg(aws_models)");
    let file = |name: &str| models.join(format!("{name}.json"));
    if !SERVICES.iter().all(|(name, _)| file(name).exists()) {
        return Ok(());
    }
    for (name, operations) in SERVICES {
        let build = Build::new().model(file(name)).name(name);
        build
            .operations(operations.iter().copied())
            .server(false)
            .generate()?;
    }
    println!("cargo::rustc-cfg=aws_models");
    Ok(())
}
