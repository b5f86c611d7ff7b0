//! A client with the parts of an SDK of AWS, against a server in the same program: credentials, signatures, retries,
//! endpoint rules and a presigned URL.
//!
//! ```sh
//! cargo run -p polywire-rpc --features aws --example aws_client
//! ```

#![allow(clippy::print_stdout, reason = "the result of the example")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use polywire_model::Loader;
use polywire_protocol::{Fault, FaultKind, ProtocolKind};
use polywire_rpc::aws::providers::{DefaultChain, Environment};
use polywire_rpc::aws::{
    self, Credentials, Endpoints, Retries, SignatureAuthenticator, Signer, StaticKeys,
};
use polywire_rpc::{Client, Context, Server, ServiceHandle, dynamic};
use polywire_schema::Map;

const MODEL: &str = r#"
    $version: "2"
    namespace example
    @aws.protocols#restXml
    service Notes { version: "1", operations: [Read] }

    @readonly
    @http(method: "GET", uri: "/notes/{name}")
    operation Read {
        input := { @required @httpLabel name: String }
        output := { text: String }
    }
"#;

/// Endpoints of regions, or the one that the program sets.
const RULES: &str = r#"{
    "version": "1.0",
    "parameters": {
        "Region": { "type": "string", "builtIn": "AWS::Region", "required": true, "documentation": "" },
        "Endpoint": { "type": "string", "builtIn": "SDK::Endpoint", "documentation": "" }
    },
    "rules": [
        { "type": "endpoint", "conditions": [{ "fn": "isSet", "argv": [{ "ref": "Endpoint" }] }],
          "endpoint": { "url": "{Endpoint}" } },
        { "type": "endpoint", "conditions": [], "endpoint": { "url": "https://notes.{Region}.example" } }
    ]
}"#;

const SECRET: &str = "a secret of 40 characters";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut loader = Loader::new();
    let model = loader.add_text("notes.smithy", MODEL).assemble()?.model;
    let schemas = model.schemas("example#Notes").ok_or("no such service")??;
    let service = ServiceHandle::new(Arc::new(schemas), 0);

    // A server that verifies signatures, and is overloaded twice.
    let calls = AtomicU32::new(0);
    let read = dynamic(move |input: Map, context: Context| {
        let number = calls.fetch_add(1, Ordering::Relaxed);
        let caller = context.user().unwrap_or_default().to_owned();
        async move {
            if number < 2 {
                return Err(Fault::new(FaultKind::Overloaded, "try again"));
            }
            let name = input.get("name").and_then(|name| name.as_str());
            let text = format!("{} for {caller}, call {number}", name.unwrap_or_default());
            Ok(Map::from_iter([("text", text)]))
        }
    });
    let keys = StaticKeys::new([Credentials::new("AKIDEXAMPLE", SECRET)]);
    let builder = Server::builder(service.clone())
        .protocol(ProtocolKind::RestXml)
        .operation("Read", read);
    let server = aws::install(builder, SignatureAuthenticator::service("notes", keys)).build()?;
    let running = server.listen("127.0.0.1:0".parse()?).await?;
    let url = format!("http://{}", running.address());

    let environment = Environment::from_fn(|name| {
        let value = match name {
            "AWS_ACCESS_KEY_ID" => "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY" => SECRET,
            _ => return None,
        };
        Some(value.to_owned())
    });
    let chain = DefaultChain::from_environment(environment);
    let endpoints = Endpoints::from_rules(RULES)?.with_region("eu-west-1");
    let client = Client::builder(service, ProtocolKind::RestXml)
        .interceptor(Signer::new(chain.clone(), "eu-west-1", "notes"))
        .retry(Retries::standard())
        .connect_with(endpoints.with_endpoint(&url))?;

    let input = Map::from_iter([("name", "shopping")]);
    let output = client.call("Read", input.clone()).await?;
    println!("{}", output["text"].as_str().unwrap_or_default());

    let signer = Signer::new(chain, "eu-west-1", "notes");
    let hour = Duration::from_secs(3600);
    let request = signer.presign(&client, "Read", input, hour).await?;
    println!("{}", request.uri());
    running.shutdown().await;
    Ok(())
}
