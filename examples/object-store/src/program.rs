//! The arguments of the program, and the server.
#![allow(
    clippy::print_stdout,
    reason = "a program that tells its user how to call it"
)]

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;
use object_store::{Settings, server};
use polywire::rpc::tls::{Pem, ServerTls};

/// An object store on disk that S3's clients talk to.
///
/// Without --keys, signatures are not checked: everyone who reaches the address may do everything.
#[derive(Debug, Parser)]
struct Arguments {
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9000")]
    listen: SocketAddr,
    /// The directory of the data. It is created if it does not exist.
    #[arg(long, value_name = "DIRECTORY", default_value = "object-store-data")]
    data: PathBuf,
    /// A file with a line `ACCESS_KEY_ID SECRET_ACCESS_KEY` for each access key. Callers must sign their requests with
    /// one of them.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// A certificate chain for HTTPS, in PEM format.
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM format.
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Write each change to disk before it is acknowledged, so that it survives a loss of power.
    #[arg(long)]
    fsync: bool,
    /// The most MiB of one request: of an object that is not uploaded in parts, or of a part.
    #[arg(long, value_name = "MIB", default_value_t = 5 << 10)]
    put: u64,
    /// The most MiB of one object.
    #[arg(long, value_name = "MIB", default_value_t = 5 << 20)]
    object: u64,
    /// The fewest KiB of a part that is not the last.
    #[arg(long, value_name = "KIB", default_value_t = 5 << 10)]
    part: u64,
    /// A domain that follows a bucket in a host. Can be repeated.
    #[arg(long, value_name = "NAME", default_values = ["localhost", "s3.localhost"])]
    domain: Vec<String>,
}

pub(crate) fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    // Each transfer has one blocking task at a time. More threads would only wait for the same disk.
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(32)
        .build()?
        .block_on(serve(arguments))
}

async fn serve(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let mut settings = Settings::new(arguments.data);
    settings.fsync = arguments.fsync;
    settings.put = arguments.put.saturating_mul(1 << 20);
    settings.object = arguments.object.saturating_mul(1 << 20);
    settings.part = arguments.part.saturating_mul(1 << 10);
    settings.domains = arguments.domain;
    if let Some(path) = &arguments.keys {
        settings.keys = object_store::keys::read(path)?;
    }
    let data = settings.data.display().to_string();
    let server = server(settings).map_err(|error| -> Box<dyn std::error::Error> { error })?;
    let (running, scheme) = match (arguments.cert, arguments.key) {
        (Some(cert), Some(key)) => {
            let tls = ServerTls::builder(Pem::file(cert), Pem::file(key)).build()?;
            (server.listen_tls(arguments.listen, &tls).await?, "https")
        }
        _ => (server.listen(arguments.listen).await?, "http"),
    };
    let url = format!("{scheme}://{}", running.address());
    println!("object-store: {url}");
    println!("data: {data}");
    println!(
        "boto3: boto3.client('s3', endpoint_url='{url}', region_name='us-east-1', \
         aws_access_key_id='x', aws_secret_access_key='x', \
         config=botocore.config.Config(s3={{'addressing_style': 'path'}}))"
    );
    println!(
        "aws: AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x AWS_REGION=us-east-1 \
         AWS_ENDPOINT_URL_S3={url} aws s3 ls"
    );
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        result = tokio::signal::ctrl_c() => result?,
        _ = terminate.recv() => {}
    }
    running.shutdown().await;
    Ok(())
}
