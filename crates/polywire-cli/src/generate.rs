//! `polywire generate`: generates code from models.

use std::path::{Path, PathBuf};

use polywire_codegen::{Build, GeneratedModule, Maps, Strings};

use crate::model::{EXIT_STATUS, Input};
use crate::output::{OutputFile, Overwrite};
use crate::{Failure, print};

/// Generate code from a model
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    language: Language,
}

#[derive(Debug, clap::Subcommand)]
enum Language {
    Rust(Rust),
}

/// Generate the Rust types, client and server of a service as one file.
///
/// Include the file with `mod NAME;` in a crate that depends on `polywire`. Build scripts can use
/// the crate polywire-codegen instead, so that generated code is not checked in. See
/// docs/codegen.md.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
struct Rust {
    #[command(flatten)]
    input: Input,
    /// The service, with or without namespace. Required if the model has several services
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// The output folder, or `-` for standard output
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// The name of the module [default: the name of the service in snake_case]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Generate only these operations and their types, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    operations: Vec<String>,
    /// The protocols that the client supports, separated by commas [default: those of the model]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    protocols: Vec<String>,
    /// Generate types and a client, but no server
    #[arg(long, conflicts_with = "server")]
    client: bool,
    /// Generate types and a server, but no client
    #[arg(long)]
    server: bool,
    /// Generate neither a client nor a server
    #[arg(long, conflicts_with_all = ["client", "server"])]
    types_only: bool,
    /// Borrow strings from the message (`Cow`). Generates neither a client nor a server
    #[arg(long, conflicts_with_all = ["client", "server", "strings"])]
    borrowed: bool,
    /// Use `String` instead of `Text`
    #[arg(long)]
    strings: bool,
    /// Use `HashMap` instead of `BTreeMap`
    #[arg(long)]
    hash_maps: bool,
    /// The path of Polywire in the generated code
    #[arg(long, value_name = "PATH", default_value = "::polywire")]
    root: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Language::Rust(arguments) = &arguments.language;
    let model = arguments.input.load()?.model;
    let generated = arguments.build().run_on(&model).map_err(Failure::usage)?;
    if arguments.output == Path::new("-") {
        return print::out(&generated.file());
    }
    let (path, is_new) = arguments.write(&generated)?;
    if arguments.input.options.json {
        let path = path.display().to_string();
        let path = polywire::model::Node::from(path).to_json();
        return print::out(&format!("{{\"files\":[{path}]}}\n"));
    }
    let done = if is_new { "wrote" } else { "unchanged:" };
    print::out(&format!("{done} {}\n", path.display()))
}

impl Rust {
    fn build(&self) -> Build {
        let mut build = Build::new()
            .root(&self.root)
            .client(!self.server)
            .server(!self.client);
        if let Some(service) = &self.service {
            build = build.service(service);
        }
        if let Some(name) = &self.name {
            build = build.name(name);
        }
        if !self.operations.is_empty() {
            build = build.operations(&self.operations);
        }
        if !self.protocols.is_empty() {
            build = build.protocols(&self.protocols);
        }
        if self.strings {
            build = build.strings(Strings::String);
        }
        if self.hash_maps {
            build = build.maps(Maps::Hash);
        }
        if self.types_only {
            build = build.types_only();
        }
        if self.borrowed {
            build = build.borrowed(true);
        }
        build
    }

    /// Writes the file. Returns its path, and whether the contents changed.
    fn write(&self, generated: &GeneratedModule) -> Result<(PathBuf, bool), Failure> {
        if self.output.extension().is_some_and(|end| end == "rs") && !self.output.is_dir() {
            return Err(Failure::usage(format_args!(
                "`{}` must be a folder; use `--name` for the name of the module",
                self.output.display()
            )));
        }
        let path = self.output.join(format!("{}.rs", generated.name()));
        let files = [OutputFile::new(&path, generated.file())];
        let changed = self.overwrite.write(&files)?;
        let is_new = !changed.is_empty();
        Ok((path, is_new))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser as _;
    use tempfile::TempDir;

    use super::*;
    use crate::output::GENERATED;

    #[derive(clap::Parser)]
    struct Program {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// A temporary directory with a model, deleted on drop.
    struct Folder(TempDir);

    impl Folder {
        fn new() -> Self {
            let folder = Self(TempDir::new().unwrap());
            let model = "$version: \"2\"\nnamespace a\n\
                service BigLamp { version: \"1\", operations: [Shine, Rest] }\n\
                operation Shine { input := { level: Integer, why: String } }\n\
                operation Rest {}\n";
            fs::write(folder.0.path().join("lamp.smithy"), model).unwrap();
            folder
        }

        fn run(&self, more: &[&str]) -> Result<(), Failure> {
            let model = self.0.path().join("lamp.smithy");
            let output = self.0.path().join("src");
            let start = ["polywire", "rust", model.to_str().unwrap()];
            let mut all: Vec<&str> = start.to_vec();
            if !more.contains(&"-o") {
                all.extend(["-o", output.to_str().unwrap()]);
            }
            all.extend(more);
            match Program::try_parse_from(all) {
                Ok(program) => run(&program.arguments),
                Err(error) => Err(Failure::usage(error)),
            }
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.0.path().join("src").join(name)).unwrap()
        }
    }

    #[test]
    fn writes_one_file_per_module() {
        let folder = Folder::new();
        folder.run(&[]).unwrap();
        let code = folder.read("big_lamp.rs");
        assert!(code.starts_with(GENERATED), "{code}");
        assert!(code.contains("pub mod client {"), "{code}");
        assert!(code.contains("pub mod server {"), "{code}");
        assert!(code.contains("pub struct ShineInput {"), "{code}");
        let names = fs::read_dir(folder.0.path().join("src")).unwrap();
        assert_eq!(names.count(), 1);
    }

    #[test]
    fn options_select_the_contents() {
        let folder = Folder::new();
        let parts = |more: &[&str]| {
            folder.run(&[more, &["--name", "lamp"]].concat()).unwrap();
            let code = folder.read("lamp.rs");
            [
                "pub mod client {",
                "pub mod server {",
                "ShineInput",
                "schema::Text",
                "Cow<'a, str>",
            ]
            .map(|part| code.contains(part))
        };
        assert_eq!(parts(&[]), [true, true, true, true, false]);
        assert_eq!(parts(&["--client"]), [true, false, true, true, false]);
        assert_eq!(parts(&["--server"]), [false, true, true, true, false]);
        assert_eq!(parts(&["--types-only"]), [false, false, true, true, false]);
        assert_eq!(parts(&["--borrowed"]), [false, false, true, false, true]);
        assert_eq!(parts(&["--strings"]), [true, true, true, false, false]);
        let rest = ["--operations", "Rest"];
        assert_eq!(parts(&rest), [true, true, false, false, false]);
    }

    #[test]
    fn other_files_are_not_replaced() {
        let folder = Folder::new();
        folder.run(&[]).unwrap();
        let code = folder.read("big_lamp.rs");
        let path = folder.0.path().join("src/big_lamp.rs");
        // GeneratedModule code is replaced even if it was modified.
        fs::write(&path, code.replace("ShineInput", "Other")).unwrap();
        folder.run(&[]).unwrap();
        assert_eq!(folder.read("big_lamp.rs"), code);
        fs::write(&path, "// My own.\n").unwrap();
        let failure = folder.run(&[]).unwrap_err();
        assert_eq!(failure.code, 2);
        assert!(failure.message.contains("--force"), "{}", failure.message);
        assert_eq!(folder.read("big_lamp.rs"), "// My own.\n");
        folder.run(&["--force"]).unwrap();
        assert_eq!(folder.read("big_lamp.rs"), code);
    }

    #[test]
    fn unchanged_files_keep_their_modification_time() {
        let folder = Folder::new();
        folder.run(&[]).unwrap();
        let path = folder.0.path().join("src/big_lamp.rs");
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(long_ago).unwrap();
        folder.run(&[]).unwrap();
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(modified, long_ago);
    }

    #[test]
    fn rejects_invalid_options() {
        let folder = Folder::new();
        let output = folder.0.path().join("lamp.rs");
        for (arguments, part) in [
            (&["-o", output.to_str().unwrap()][..], "--name"),
            (&["--service", "Fan"], "a#BigLamp"),
            (&["--operations", "Sing"], "Sing"),
            (&["--protocols", "soap"], "soap"),
            (&["--client", "--server"], "--server"),
            (&["--borrowed", "--client"], "--client"),
        ] {
            let failure = folder.run(arguments).unwrap_err();
            assert_eq!(failure.code, 2, "{arguments:?}");
            assert!(failure.message.contains(part), "{}", failure.message);
        }
        assert!(!output.exists());
    }
}
