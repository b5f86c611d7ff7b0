//! The arguments of the program, and the server.
#![allow(
    clippy::print_stdout,
    reason = "an example that talks to whoever runs it"
)]

use std::net::SocketAddr;

use clap::Parser;
use object_store::{Settings, server};

/// An object store in memory that S3's clients talk to.
///
/// What it holds is gone when it ends. Signatures are not looked at: whoever
/// reaches the address may do everything.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where it listens.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9000")]
    listen: SocketAddr,
    /// The MiB that all objects may have together.
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory: u32,
    /// The most MiB of one request.
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    body: u32,
    /// The most MiB of one object.
    #[arg(long, value_name = "MIB", default_value_t = 512)]
    object: u32,
    /// The fewest KiB of a part of an upload but the last. S3 has 5120.
    #[arg(long, value_name = "KIB", default_value_t = 5120)]
    part: u32,
    /// A domain before which buckets may stand in a host; may come again.
    #[arg(long, value_name = "NAME", default_values = ["localhost", "s3.localhost"])]
    domain: Vec<String>,
}

#[tokio::main]
pub(crate) async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let mebibytes = |count: u32| usize::try_from(u64::from(count) << 20);
    let settings = Settings {
        memory: u64::from(arguments.memory) << 20,
        body: mebibytes(arguments.body)?,
        object: mebibytes(arguments.object)?,
        part: usize::try_from(u64::from(arguments.part) << 10)?,
        domains: arguments.domain,
    };
    let running = server(settings)?.listen(arguments.listen).await?;
    let url = format!("http://{}", running.address());
    println!("object-store: {url}");
    println!(
        "boto3: boto3.client('s3', endpoint_url='{url}', region_name='us-east-1', \
         aws_access_key_id='x', aws_secret_access_key='x', \
         config=botocore.config.Config(request_checksum_calculation='when_required', \
         response_checksum_validation='when_required', s3={{'addressing_style': 'path'}}))"
    );
    println!(
        "aws: AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x AWS_REGION=us-east-1 \
         AWS_REQUEST_CHECKSUM_CALCULATION=when_required AWS_ENDPOINT_URL_S3={url} aws s3 ls"
    );
    tokio::signal::ctrl_c().await?;
    running.shutdown().await;
    Ok(())
}
