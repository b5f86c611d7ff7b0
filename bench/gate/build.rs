//! Generates the types of the group `smithy` from the model of its cases, one module for each
//! service. Without the model nothing is generated and the cfg `smithy_model` is not set.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a build script talks to Cargo, and ends the build when it fails"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use polywire_codegen::{Build, Maps};
use polywire_model::Loader;

/// A service, its operations that have cases, and whether to generate types that borrow too.
const SERVICES: [(&str, &[&str], bool); 5] = [
    (
        "AwsJsonRpc10DataPlane",
        &["GetItem", "Healthcheck", "PutItem"],
        true,
    ),
    (
        "AwsQueryDataPlane",
        &["GetMetricData", "PutMetricData"],
        false,
    ),
    (
        "AwsRestJsonDataPlane",
        &["CopyObject", "GetObject", "PutObject"],
        false,
    ),
    (
        "AwsRestXmlDataPlane",
        &["CopyObject", "GetObject", "PutObject"],
        false,
    ),
    ("SmithyRpcV2CborDataPlane", &["GetItem", "PutItem"], true),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let model = test_data::data("bench/smithy/model.json");
    let mut modules = String::new();
    if let Some(path) = test_data::for_build(model, "smithy_model").unwrap() {
        generate(&path, &out, &mut modules);
    }
    fs::write(out.join("smithy_types.rs"), modules).unwrap();
}

fn generate(path: &Path, out: &Path, modules: &mut String) {
    let mut loader = Loader::new();
    loader.add_path(path);
    let model = loader.assemble().unwrap().model;
    for (service, operations, borrows) in SERVICES {
        let owned = Build::new()
            .service(service)
            .types_only()
            .root("crate::groups::smithy::polywire")
            // Vectors keep the order of the cases. The types of the peers have vectors too.
            .maps(Maps::Vector)
            .operations(operations.iter().copied());
        let borrowed = (owned.clone().borrowed(true), "_borrowed");
        for (build, suffix) in [(owned, "")].into_iter().chain(borrows.then_some(borrowed)) {
            let generated = build.run_on(&model).unwrap();
            let name = format!("{}{suffix}", generated.name());
            fs::write(out.join(format!("{name}.rs")), generated.code()).unwrap();
            write!(
                modules,
                "#[allow(dead_code, unreachable_pub, reason = \"the cases use only some of it\")]\n\
                 /// The types of `{service}`.\npub mod {name} {{\n\
                 include!(concat!(env!(\"OUT_DIR\"), \"/{name}.rs\"));\n}}\n"
            )
            .unwrap();
        }
    }
}
