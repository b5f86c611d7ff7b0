//! The same model by others: as a `serde_json::Value` alone, and by whole programs from start
//! to exit, ours and Smithy's own on the JVM.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use polywire_gate::groups::model::{self as gate, S3, S3_CASE, S3_SHAPES};
use polywire_gate::{Case, Group, same};

pub(crate) fn cases(group: &mut Group) {
    gate::cases(group);
    let Ok(bytes) = group.data(S3) else {
        return;
    };
    let file = group.data_folder().path(S3);
    let smithy = smithy_cli();
    let ours = our_program();
    if smithy.is_none() {
        let reason = "no smithy-cli: scripts/fetch-smithy-cli fetches it";
        group.skip(format!("{S3_CASE}: smithy validate, on the JVM"), reason);
    }
    if ours.is_none() {
        let reason = "not built: cargo build --profile dist -p polywire-cli";
        group.skip(
            format!("{S3_CASE}: polywire model check, the program"),
            reason,
        );
    }
    group.extend(S3_CASE, |case| {
        json_alone(case, bytes);
        if let Some(program) = ours {
            let file = file.clone();
            case.peer_self_timed("polywire model check, the program", move || {
                time(Command::new(&program).args(["model", "check"]).arg(&file))
            });
        }
        if let Some(jars) = smithy {
            case.peer_self_timed("smithy validate, on the JVM", move || {
                smithy_validate(&jars, &file)
            });
        }
    });
}

/// Parsing the bytes as JSON and nothing else, which is the first step of most loaders.
fn json_alone(case: &mut Case, bytes: &'static [u8]) {
    case.peer(
        "serde_json::Value",
        move || serde_json::from_slice::<serde_json::Value>(bytes).ok(),
        |value| {
            let shapes = value.as_ref().and_then(|value| value["shapes"].as_object());
            same(&shapes.map(serde_json::Map::len), &Some(S3_SHAPES))
        },
    );
}

fn smithy_validate(jars: &Path, file: &Path) -> Result<f64, String> {
    let mut command = Command::new("java");
    command.arg("-cp").arg(jars.join("*"));
    command.args(["software.amazon.smithy.cli.SmithyCli", "validate"]);
    time(command.args(["--discover", "--quiet"]).arg(file))
}

/// The nanoseconds from start to exit of a program.
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

/// The `polywire` program: what `POLYWIRE_PROGRAM` names, else the `dist` build of the
/// product's workspace.
fn our_program() -> Option<PathBuf> {
    let program = match std::env::var_os("POLYWIRE_PROGRAM") {
        Some(program) => PathBuf::from(program),
        None => Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../target/dist/polywire")
            .with_extension(std::env::consts::EXE_EXTENSION),
    };
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
