//! Generates the types of all services of the suites: a module for each, and
//! functions that find a type by service and shape. Without the suites there
//! are no services, and the tests that need them are ignored.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a build script talks to Cargo, and ends the build when it fails"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use polywire_codegen::{Build, Maps, Strings};
use polywire_model::{Loader, ShapeType};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=strays.smithy");
    println!("cargo::rerun-if-env-changed={}", test_data::SUITES_VARIABLE);
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let mut registry = String::new();
    let mut arms = String::new();
    for name in ["aws", "smithy"] {
        // Without a suite there are no types of it, and the tests that need them are ignored.
        if let Ok(folder) = test_data::suite(name) {
            println!("cargo::rerun-if-changed={}", folder.display());
            generate(name, &folder, &out, &mut registry, &mut arms);
        }
    }
    if !arms.is_empty() {
        registry.push_str(
            "/// Where the generated code finds Polywire.\n\
             mod polywire {\n    pub(crate) use polywire_schema as schema;\n}\n",
        );
    }
    for (what, visitor) in [
        ("shape", "Visitor"),
        ("input", "Visitor"),
        ("output", "Visitor"),
        ("event", "EventVisitor"),
    ] {
        write!(
            registry,
            "/// Does something with the type of a shape or operation of a service, by ids.\n\
             pub fn visit_{what}<V: {visitor}>(service: &str, id: &str, visitor: V) -> Option<V::Output> {{\n\
             let _ = (id, &visitor);\n\
             match service {{\n{}_ => None,\n}}\n}}\n",
            arms.replace("WHAT", what)
        )
        .unwrap();
    }
    fs::write(out.join("registry.rs"), registry).unwrap();
}

fn generate(suite: &str, folder: &Path, out: &Path, registry: &mut String, arms: &mut String) {
    let mut loader = Loader::new();
    loader.add_dir(folder);
    if suite == "aws" {
        loader.add_text("strays.smithy", include_str!("strays.smithy"));
    }
    let model = loader.assemble().unwrap().model;
    for service in model.shapes_of(ShapeType::Service) {
        let id = service.id();
        let name = format!("{}_{}", id.namespace(), id.name())
            .replace(['.', '#'], "_")
            .to_lowercase();
        let generated = Build::new()
            .service(id.as_str())
            .name(&name)
            .types_only()
            .registry(true)
            .root("crate::polywire")
            .strings(Strings::Text)
            .maps(Maps::BTree)
            .run_on(&model)
            .unwrap();
        fs::write(out.join(format!("{name}.rs")), generated.code()).unwrap();
        write!(
            registry,
            "#[allow(dead_code, reason = \"not all of it is asked for\")]\n\
             /// The types of `{id}`.\npub mod {name} {{\n\
             include!(concat!(env!(\"OUT_DIR\"), \"/{name}.rs\"));\n}}\n"
        )
        .unwrap();
        writeln!(
            arms,
            "{:?} => {name}::visit_WHAT(id, visitor),",
            id.as_str()
        )
        .unwrap();
    }
}
