//! A package with the output of `polywire generate rust` compiles without warnings, and its client
//! calls its server.

use std::fs;
use std::path::Path;
use std::process::Command;

use polywire_interop::{Case, run, workspace};

/// The manifest of the package. The package uses the lock file of the workspace, so that nothing is
/// downloaded, and denies all warnings.
const MANIFEST: &str = r#"
[package]
name = "generated-package"
version = "0.1.0"
edition = "2024"

[dependencies]
polywire = { path = "POLYWIRE" }
tokio = { version = "1", features = ["macros", "rt"] }

[lints.rust]
warnings = "deny"

[workspace]
"#;

/// Generates the module `name` of the weather model in a folder.
fn generate(folder: &Path, name: &str, more: &[&str]) {
    let model = workspace().join("crates/polywire-cli/models/weather.smithy");
    let (model, folder) = (model.to_str().unwrap(), folder.to_str().unwrap());
    let all = ["generate", "rust", model, "-o", folder, "--name", name];
    let written = run(&[&all, more].concat());
    assert_eq!(written.code, Some(0), "{}", written.stderr);
}

#[test]
fn generated_package_compiles() {
    let case = Case::begin("generated_package_compiles");
    let root = workspace();
    // .../TARGET/PROFILE/deps/this-test. The package is always at the same place in the target
    // folder, so that existing builds are reused and it is built only once.
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    let package = target.join("generated-package");
    let _ = fs::remove_dir_all(&package);
    let source = package.join("src");
    fs::create_dir_all(&source).unwrap();
    let polywire = root.join("crates/polywire");
    let manifest = MANIFEST.replace("POLYWIRE", polywire.to_str().unwrap());
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    // Each option of the program that selects the contents of a module.
    let modules: [(&str, &[&str]); 6] = [
        ("all", &[]),
        ("city", &["--operations", "GetCity"]),
        ("client_only", &["--client"]),
        ("server_only", &["--server", "--strings", "--hash-maps"]),
        ("types", &["--types-only"]),
        ("borrowed", &["--borrowed"]),
    ];
    let mut library = String::new();
    for (name, more) in modules {
        generate(&source, name, more);
        library.push_str(&format!("pub mod {name};\n"));
    }
    fs::write(source.join("lib.rs"), library).unwrap();
    fs::write(source.join("main.rs"), include_str!("main.rs")).unwrap();

    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let ran = Command::new(cargo)
        .args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(target)
        .current_dir(&package)
        .output()
        .unwrap();
    fs::remove_dir_all(&package).unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    // Cargo's message for a crate that is neither cached nor downloadable contains this.
    if errors.contains("--offline") {
        return case.skip(&format!("dependencies are not here: {errors}"));
    }
    assert!(ran.status.success(), "{errors}");
    assert_eq!(errors, "");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "done\n");
}
