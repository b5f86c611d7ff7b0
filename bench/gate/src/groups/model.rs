//! Files to a validated model: the largest AWS model as JSON AST, and the IDL of
//! the official suites. Beside it what the bytes cost as a tree of JSON alone, and
//! whole programs, started and ended: ours and Smithy's own on the JVM.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::{Case, Group, same};
use polywire_model::Loader;

/// The largest model at hand.
const S3: &str = "models/s3.json";

pub(crate) fn cases(group: &mut Group) {
    let file = group.data_folder().path(S3);
    group.case_from("S3, 2.3 MB of AST", [S3], |case, [bytes]| {
        load_ast(case, vec![text(bytes)], 724);
        json_alone(case, bytes);
        programs(case, &file);
        case.target_time(Duration::from_millis(30))
            .target_peak_bytes(60_000_000);
    });
    if smithy_cli().is_none() {
        let reason = "no smithy-cli: scripts/fetch-smithy-cli fetches it";
        group.skip("S3, 2.3 MB of AST: smithy validate, on the JVM", reason);
    }
    if our_program().is_none() {
        let reason = "not built: cargo build --release -p polywire-cli";
        group.skip(
            "S3, 2.3 MB of AST: polywire model check, the program",
            reason,
        );
    }
    // The same again in a namespace of its own, with everything that it names.
    group.case_from("S3 twice, under two names", [S3], |case, [bytes]| {
        let other = text(bytes).replace("com.amazonaws.s3#", "com.amazonaws.s4#");
        case.bytes(2 * bytes.len());
        load_ast(case, vec![text(bytes), Arc::from(other)], 2 * 724);
        case.target_instructions_of_case("S3, 2.3 MB of AST", 2.2);
    });
    let name = "the official suites, 1.3 MB of IDL in 162 files";
    match idl_of(group) {
        Ok(files) => {
            let case = group.case(name);
            case.bytes(files.iter().map(|(_, text)| text.len()).sum());
            load_idl(case, files);
            case.target_time(Duration::from_millis(60));
        }
        Err(reason) => group.skip(name, reason),
    }
}

fn load_ast(case: &mut Case, texts: Vec<Arc<str>>, shapes: usize) {
    case.polywire(
        move || {
            let mut loader = Loader::new();
            for text in &texts {
                loader.add_text("model.json", Arc::clone(text));
            }
            loader.assemble().map(|assembled| assembled.model)
        },
        move |model| match model {
            Ok(model) => same(&model.len(), &shapes),
            Err(error) => Err(error.to_string()),
        },
    );
}

fn load_idl(case: &mut Case, files: Vec<(String, Arc<str>)>) {
    case.polywire(
        move || {
            let mut loader = Loader::new();
            for (name, text) in &files {
                loader.add_text(name, Arc::clone(text));
            }
            loader.assemble().map(|assembled| assembled.model)
        },
        |model| match model {
            Ok(model) => same(&model.services().count(), &17),
            Err(error) => Err(error.to_string()),
        },
    );
}

/// The bytes as a tree of JSON, which is where most loaders begin.
fn json_alone(case: &mut Case, bytes: &'static [u8]) {
    case.peer(
        "serde_json::Value",
        move || serde_json::from_slice::<serde_json::Value>(bytes).ok(),
        |value| {
            let shapes = value.as_ref().and_then(|value| value["shapes"].as_object());
            same(&shapes.map(serde_json::Map::len), &Some(724))
        },
    );
}

/// Programs from start to end, which is what somebody at a terminal waits for.
fn programs(case: &mut Case, file: &Path) {
    if let Some(program) = our_program() {
        let file = file.to_owned();
        case.peer_outside("polywire model check, the program", move || {
            time(Command::new(&program).args(["model", "check"]).arg(&file))
        });
    }
    if let Some(jars) = smithy_cli() {
        let file = file.to_owned();
        case.peer_outside("smithy validate, on the JVM", move || {
            let mut command = Command::new("java");
            command.arg("-cp").arg(jars.join("*"));
            command.args(["software.amazon.smithy.cli.SmithyCli", "validate"]);
            time(command.args(["--discover", "--quiet"]).arg(&file))
        });
    }
}

fn time(command: &mut Command) -> Result<f64, String> {
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).output();
    let nanoseconds = start.elapsed().as_nanos() as f64;
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(nanoseconds);
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The program of the same build, when it was built.
fn our_program() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.to_owned();
    let program = folder.join(format!("polywire{}", std::env::consts::EXE_SUFFIX));
    program.is_file().then_some(program)
}

/// The folder that `scripts/fetch-smithy-cli` fills.
fn smithy_cli() -> Option<PathBuf> {
    let folder = match std::env::var_os("POLYWIRE_SMITHY_CLI") {
        Some(folder) => PathBuf::from(folder),
        None => {
            let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
            let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
            cache.or_else(home)?.join("polywire/smithy-cli")
        }
    };
    folder.is_dir().then_some(folder)
}

/// The IDL of both suites, sorted by path.
fn idl_of(group: &Group) -> Result<Vec<(String, Arc<str>)>, String> {
    let root = match std::env::var_os("POLYWIRE_CONFORMANCE") {
        Some(folder) => PathBuf::from(folder),
        None => group.data_folder().path("conformance"),
    };
    let mut folders = vec![root.join("idl")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .map_err(|error| format!("no folder {} ({error})", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "smithy")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        Ok((path.display().to_string(), Arc::from(text)))
    };
    files.iter().map(read).collect()
}

/// What is no text gives an empty file, which the check then refuses.
fn text(bytes: &[u8]) -> Arc<str> {
    Arc::from(std::str::from_utf8(bytes).unwrap_or_default())
}
