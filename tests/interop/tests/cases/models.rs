//! `polywire serve --model` with third-party models: every operation of every model answers over
//! every protocol that supports it.

use std::time::Duration;

use polywire::mock;
use polywire::model::Loader;
use polywire::prelude::*;
use polywire_interop::{Case, Serving};

/// Serves a model of the data folder over these protocols, and calls all its operations: without
/// state each has an output, and with state, where a call can follow another one, at least an error
/// that the double chose.
fn every_operation_answers(name: &'static str, model: &str, kinds: &[ProtocolKind]) {
    let _case = Case::begin(name);
    for is_stateless in [true, false] {
        operations_answer(model, kinds, is_stateless);
    }
}

fn operations_answer(model: &str, kinds: &[ProtocolKind], is_stateless: bool) {
    let file = polywire_interop::model(model);
    let assembled = match Loader::new().add_file(&file).assemble() {
        Ok(assembled) => assembled,
        Err(error) => panic!("{error}"),
    };
    let service = polywire::service_of(&assembled.model, None).unwrap();
    // The samples have the right types, but may violate constraints such as patterns.
    let file = file.to_str().unwrap();
    let mut arguments = vec!["--model", file, "--no-validation"];
    arguments.extend(is_stateless.then_some("--stateless"));
    arguments.push("--protocol");
    arguments.extend(kinds.iter().map(|kind| kind.name()));
    let serving = Serving::start(&arguments);

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut failed = Vec::new();
    let mut calls = 0;
    runtime.block_on(async {
        for kind in kinds {
            let builder = Client::builder(service.clone(), *kind);
            let builder = builder.deadline(Duration::from_secs(30));
            let client = builder.connect(serving.url()).unwrap();
            for operation in service.service().operations() {
                calls += 1;
                let (sample, _) = mock::input(&assembled.model, operation).unwrap();
                let answer = client.call(operation.name(), sample).await;
                if let Err(error) = answer {
                    let fault = error.fault().map(|fault| fault.kind());
                    if !is_stateless && fault == Some(FaultKind::Modelled) {
                        continue;
                    }
                    failed.push(format!("{} over {kind}: {error}", operation.name()));
                }
            }
        }
    });
    assert!(
        failed.is_empty(),
        "{} of {calls} calls failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(calls > 0);
}

const BOTH: [ProtocolKind; 2] = [ProtocolKind::RpcV2Cbor, ProtocolKind::XmlRpc];

macro_rules! models {
    ($($test:ident $model:literal)*) => {
        $(
            #[test]
            #[cfg_attr(not(aws_models), ignore = "no data: built without the models of POLYWIRE_DATA")]
            fn $test() {
                every_operation_answers(stringify!($test), $model, &BOTH);
            }
        )*
    };
}

models! {
    polywire_serve_cloudwatch "cloudwatch"
    polywire_serve_dynamodb "dynamodb"
    polywire_serve_kinesis "kinesis"
    polywire_serve_lambda "lambda"
    polywire_serve_s3 "s3"
    polywire_serve_sns "sns"
    polywire_serve_sqs "sqs"
    polywire_serve_sts "sts"
}

/// Lambda is the only one of these models whose own protocol is tested here.
#[test]
#[cfg_attr(
    not(aws_models),
    ignore = "no data: built without the models of POLYWIRE_DATA"
)]
fn polywire_serve_lambda_over_its_own_protocol() {
    let name = "polywire_serve_lambda_over_its_own_protocol";
    every_operation_answers(name, "lambda", &[ProtocolKind::RestJson1]);
}
