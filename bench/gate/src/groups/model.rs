//! From files to a validated model: the largest AWS model as JSON AST, and the IDL of the
//! official tests of the AWS protocols.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{Case, Group, same};
use polywire_model::{Loader, Model};

/// The data file of [`S3_CASE`]: Amazon S3, the largest AWS model.
pub const S3: &str = "models/s3.json";
/// The name of the case that loads [`S3`].
pub const S3_CASE: &str = "S3, 2.3 MB of AST";
/// The number of shapes in [`S3`].
pub const S3_SHAPES: usize = 724;
/// The number of services in the suite for the AWS protocols.
const SUITE_SERVICES: usize = 15;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    group.case_from(S3_CASE, [S3], |case, [bytes]| {
        load(case, vec![ast(text(bytes))], |model| {
            same(&model.len(), &S3_SHAPES)
        });
        case.target_time(Duration::from_millis(30))
            .target_peak_bytes(60_000_000);
    });
    // The same shapes again under a second namespace: twice the input.
    group.case_from("S3 twice, under two names", [S3], |case, [bytes]| {
        let other = text(bytes).replace("com.amazonaws.s3#", "com.amazonaws.s4#");
        case.bytes(2 * bytes.len());
        load(
            case,
            vec![ast(text(bytes)), ast(Arc::from(other))],
            |model| same(&model.len(), &(2 * S3_SHAPES)),
        );
        case.target_instructions_of_case(S3_CASE, 2.2);
    });
    let name = "the AWS protocol tests, IDL";
    match suite_files() {
        Ok(files) => {
            let case = group.case(name);
            case.bytes(files.iter().map(|(_, text)| text.len()).sum());
            load(case, files, |model| {
                same(&model.services().count(), &SUITE_SERVICES)
            });
            case.target_time(Duration::from_millis(60));
        }
        Err(reason) => group.skip(name, reason),
    }
}

/// Loads files, given as names and texts, and checks the model.
fn load(
    case: &mut Case,
    files: Vec<(String, Arc<str>)>,
    check: impl Fn(&Model) -> Result<(), String> + 'static,
) {
    case.polywire(
        move || {
            let mut loader = Loader::new();
            for (name, text) in &files {
                loader.add_text(name, Arc::clone(text));
            }
            loader.assemble().map(|assembled| assembled.model)
        },
        move |model| match model {
            Ok(model) => check(model),
            Err(error) => Err(error.to_string()),
        },
    );
}

fn ast(text: Arc<str>) -> (String, Arc<str>) {
    ("model.json".to_owned(), text)
}

/// The files of the suite for the AWS protocols, sorted by path.
fn suite_files() -> Result<Vec<(String, Arc<str>)>, String> {
    let root = test_data::suite("aws").map_err(|missing| missing.to_string())?;
    let mut folders = vec![root];
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

/// Bytes that are not UTF-8 become an empty text, which the check then rejects.
fn text(bytes: &[u8]) -> Arc<str> {
    Arc::from(std::str::from_utf8(bytes).unwrap_or_default())
}
