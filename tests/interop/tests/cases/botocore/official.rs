//! Smithy's official protocol tests, run by clients of botocore with exported data. They check that
//! the export is complete for these protocols.

use std::path::PathBuf;

use polywire::model::{Loader, ast};
use polywire_interop::Case;

use super::{Exports, matches, python, script};

/// Runs the tests of a service of the official suites. At least `least` tests pass with the oldest
/// suites that `scripts/fetch-suites` knows.
fn official(name: &'static str, suite: &str, service: &str, protocol: &str, least: i64) {
    let case = Case::begin(name);
    let Some(python) = python(&case) else {
        return;
    };
    let exports = Exports::new(name);
    let file = ast(suite, &exports);
    exports.add(&file, &["--service", service, "--name", "official"]);
    let namespace = service.split('#').next().unwrap();
    let (folder, file) = (exports.0.to_str().unwrap(), file.to_str().unwrap());
    let arguments = [folder, "official", file, namespace, protocol];
    let answer = script(&python, include_str!("official.py"), &arguments);

    let failed = answer["failed"].as_list().unwrap().iter();
    let failed: Vec<&str> = failed.map(|line| line.as_str().unwrap()).collect();
    let unknown = failed.iter().filter(|line| {
        let id = line.split(':').next().unwrap_or_default();
        !known().any(|pattern| matches(pattern, id))
    });
    let unknown: Vec<&str> = unknown.copied().collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    let passed = answer["passed"].as_i64().unwrap();
    assert!(passed >= least, "only {passed} tests passed");
}

/// Writes the suite as JSON AST with all definitions, which the script reads.
fn ast(suite: &str, exports: &Exports) -> PathBuf {
    let folder = test_data::suite(suite).unwrap_or_else(|missing| panic!("{missing}"));
    let assembled = Loader::new().add_dir(folder).assemble();
    let model = assembled.unwrap_or_else(|error| panic!("{error}")).model;
    std::fs::create_dir_all(&exports.0).unwrap();
    let file = exports.0.join("suite.json");
    let options = ast::Options::new().with_definitions();
    let document = ast::write_with(&model, &options).document;
    std::fs::write(&file, document.to_json()).unwrap();
    file
}

fn known() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("official.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

macro_rules! services {
    ($($test:ident $suite:literal $service:literal $protocol:literal $least:literal)*) => {
        $(
            #[test]
            #[cfg_attr(not(official_suites), ignore = "no data: built without the suites of POLYWIRE_CONFORMANCE")]
            fn $test() {
                official(stringify!($test), $suite, $service, $protocol, $least);
            }
        )*
    };
}

services! {
    botocore_official_ec2 "aws" "aws.protocoltests.ec2#AwsEc2" "aws.protocols#ec2Query" 58
    botocore_official_json_1_0 "aws" "aws.protocoltests.json10#JsonRpc10" "aws.protocols#awsJson1_0" 51
    botocore_official_json_1_0_from_query "aws" "aws.protocoltests.json10#QueryCompatibleJsonRpc10" "aws.protocols#awsJson1_0" 3
    botocore_official_json_1_1 "aws" "aws.protocoltests.json#JsonProtocol" "aws.protocols#awsJson1_1" 106
    botocore_official_query "aws" "aws.protocoltests.query#AwsQuery" "aws.protocols#awsQuery" 73
    botocore_official_rest_json "aws" "aws.protocoltests.restjson#RestJson" "aws.protocols#restJson1" 218
    botocore_official_rest_xml "aws" "aws.protocoltests.restxml#RestXml" "aws.protocols#restXml" 173
    botocore_official_rest_xml_namespace "aws" "aws.protocoltests.restxml.xmlns#RestXmlWithNamespace" "aws.protocols#restXml" 2
    botocore_official_rpc_v2_cbor "smithy" "smithy.protocoltests.rpcv2Cbor#RpcV2Protocol" "smithy.protocols#rpcv2Cbor" 60
    botocore_official_rpc_v2_cbor_from_query "aws" "aws.protocoltests.rpcv2cbor#QueryCompatibleRpcV2Protocol" "smithy.protocols#rpcv2Cbor" 3
}
