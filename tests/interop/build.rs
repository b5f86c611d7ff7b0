//! Generates clients of some AWS services from the published models, if those are available, with
//! only the operations that the cases call. Without the models or the official suites, the cases
//! that need them are ignored.
#![allow(clippy::print_stdout, reason = "Cargo reads it")]

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
    println!("cargo::rerun-if-changed=build.rs");
    test_data::for_build(test_data::suite("aws"), "official_suites")?;
    let Some(models) = test_data::for_build(test_data::data("models"), "aws_models")? else {
        return Ok(());
    };
    for (name, operations) in SERVICES {
        let build = Build::new()
            .model(models.join(format!("{name}.json")))
            .name(name);
        build
            .operations(operations.iter().copied())
            .server(false)
            .generate()?;
    }
    Ok(())
}
