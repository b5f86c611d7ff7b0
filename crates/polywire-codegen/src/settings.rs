//! What to generate, and from what.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use polywire_model::{Loader, Model, ShapeType};

use crate::names::plain_snake;
use crate::{GenerateError, Generated};

/// What is generated from a model, and how.
///
/// In a build script:
///
/// ```no_run
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     polywire_codegen::Build::new().model("model/weather.smithy").generate()?;
///     Ok(())
/// }
/// ```
///
/// and in the crate: `polywire::include_service!(pub mod weather);`.
#[derive(Clone, Debug)]
pub struct Build {
    models: Vec<PathBuf>,
    service: Option<String>,
    name: Option<String>,
    settings: Settings,
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) root: String,
    pub(crate) client: bool,
    pub(crate) server: bool,
    pub(crate) registry: bool,
    pub(crate) strings: Strings,
    pub(crate) maps: Maps,
    /// By their short names.
    pub(crate) protocols: Option<Vec<String>>,
    pub(crate) operations: Option<BTreeSet<String>>,
}

/// What strings are in generated types.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Strings {
    /// `Text`: short ones inline, longer ones a part of the message that they
    /// came in. Reading one allocates nothing.
    #[default]
    Text,
    /// `String`.
    String,
    /// `Cow<'a, str>`, borrowed from the message where they stand there as they
    /// are. The types that hold strings have a lifetime; there are neither
    /// clients nor servers of them.
    Borrowed,
}

/// What maps are in generated types.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Maps {
    /// `BTreeMap`: what is written does not depend on chance.
    #[default]
    BTree,
    /// `HashMap`.
    Hash,
    /// `Vec` of pairs, in the order of the wire.
    Vector,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

impl Build {
    /// Types, client and server of a service that is still to be named.
    #[must_use]
    pub fn new() -> Self {
        Self {
            models: Vec::new(),
            service: None,
            name: None,
            settings: Settings {
                root: "::polywire".to_owned(),
                client: true,
                server: true,
                registry: false,
                strings: Strings::Text,
                maps: Maps::BTree,
                protocols: None,
                operations: None,
            },
        }
    }

    /// Adds a model: IDL, JSON AST, a JAR, or a folder of models. A relative
    /// path is one from the folder of the crate, where build scripts run.
    #[must_use]
    pub fn model(mut self, path: impl Into<PathBuf>) -> Self {
        self.models.push(path.into());
        self
    }

    /// Says which service is meant, by its id, or by its name if no other has
    /// it. Need not be said where the model has one service only.
    #[must_use]
    pub fn service(mut self, id: impl Into<String>) -> Self {
        self.service = Some(id.into());
        self
    }

    /// Sets the name of the module: that of the file without `.rs`. The name of
    /// the service in `snake_case` otherwise.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Generates no more than what these operations need; the service has no
    /// others then. Those of a large model that a program uses take a fraction
    /// of the time to compile.
    #[must_use]
    pub fn operations<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let names = names.into_iter().map(Into::into);
        self.settings.operations = Some(names.collect());
        self
    }

    /// Leaves out client and server.
    #[must_use]
    pub fn types_only(self) -> Self {
        self.client(false).server(false)
    }

    /// Whether there is a client. There is.
    #[must_use]
    pub fn client(mut self, client: bool) -> Self {
        self.settings.client = client;
        self
    }

    /// Whether there is a server trait. There is.
    #[must_use]
    pub fn server(mut self, server: bool) -> Self {
        self.settings.server = server;
        self
    }

    /// Whether there are functions that find a type by the id of its shape:
    /// `visit_input`, `visit_output` and `visit_shape`. There are none. Tests
    /// of all types of a service are what they are for.
    #[must_use]
    pub fn registry(mut self, registry: bool) -> Self {
        self.settings.registry = registry;
        self
    }

    /// Sets what strings are. [`Strings::Text`].
    #[must_use]
    pub fn strings(mut self, strings: Strings) -> Self {
        self.settings.strings = strings;
        self
    }

    /// Whether strings are borrowed from the message: [`Strings::Borrowed`]
    /// without client and server.
    #[must_use]
    pub fn borrowed(self, borrowed: bool) -> Self {
        match borrowed {
            true => self.strings(Strings::Borrowed).types_only(),
            false => self.strings(Strings::Text),
        }
    }

    /// Sets what maps are. [`Maps::BTree`].
    #[must_use]
    pub fn maps(mut self, maps: Maps) -> Self {
        self.settings.maps = maps;
        self
    }

    /// Sets the protocols that the client can be told to speak, by their short names,
    /// such as `rpcv2Cbor`. A program has no code of others. Otherwise they are those
    /// that the model names, and of a model that names none, all.
    ///
    /// Clients of other protocols, `polywire::rpc::Client::builder`, can be given to
    /// the generated one nevertheless.
    #[must_use]
    pub fn protocols<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let names = names.into_iter().map(Into::into);
        self.settings.protocols = Some(names.collect());
        self
    }

    /// Sets the path under which generated code finds Polywire's crates.
    /// `::polywire`.
    #[must_use]
    pub fn root(mut self, path: impl Into<String>) -> Self {
        self.settings.root = path.into();
        self
    }

    /// Generates from a build script: reads the models, tells Cargo about their
    /// files, and writes the code to `OUT_DIR`.
    ///
    /// # Errors
    ///
    /// The model has errors, the service is not to be found, or the file cannot
    /// be written.
    pub fn generate(&self) -> Result<Generated, GenerateError> {
        for path in &self.models {
            // What Cargo reads of a build script.
            #[expect(clippy::print_stdout, reason = "Cargo reads it")]
            {
                println!("cargo::rerun-if-changed={}", path.display());
            }
        }
        let out = std::env::var_os("OUT_DIR").ok_or(GenerateError::NoOutDir)?;
        self.write(Path::new(&out))
    }

    /// Generates into a folder, which is made if it is not there: a file with
    /// the name of the module.
    ///
    /// # Errors
    ///
    /// As [`Build::generate`].
    pub fn write(&self, folder: &Path) -> Result<Generated, GenerateError> {
        let generated = self.run()?;
        let path = folder.join(format!("{}.rs", generated.name()));
        let io = |error| GenerateError::Io(path.clone(), error);
        std::fs::create_dir_all(folder).map_err(io)?;
        // An unchanged file keeps its time, so that nothing is built again.
        let old = std::fs::read_to_string(&path).ok();
        if old.as_deref() != Some(generated.code()) {
            std::fs::write(&path, generated.code()).map_err(io)?;
        }
        Ok(generated)
    }

    /// Reads the models and generates the code.
    ///
    /// # Errors
    ///
    /// The model has errors, or the service is not to be found.
    pub fn run(&self) -> Result<Generated, GenerateError> {
        let mut loader = Loader::new();
        for path in &self.models {
            loader.add_path(path);
        }
        let assembled = loader.assemble().map_err(GenerateError::Model)?;
        self.run_on(&assembled.model)
    }

    /// Generates the code for a model that is there.
    ///
    /// # Errors
    ///
    /// The service is not to be found.
    pub fn run_on(&self, model: &Model) -> Result<Generated, GenerateError> {
        let service = self.find_service(model)?;
        let short = service.rsplit('#').next().unwrap_or_default();
        let name = self.name.clone().unwrap_or_else(|| plain_snake(short));
        crate::generate(model, &service, name, &self.settings)
    }

    fn find_service(&self, model: &Model) -> Result<String, GenerateError> {
        let known = || -> Vec<String> {
            let services = model.shapes_of(ShapeType::Service);
            services.map(|service| service.id().to_string()).collect()
        };
        let Some(wanted) = &self.service else {
            return match <[String; 1]>::try_from(known()) {
                Ok([only]) => Ok(only),
                Err(all) => Err(GenerateError::NoService(None, all)),
            };
        };
        let is = |id: &String| id == wanted || id.rsplit('#').next() == Some(wanted);
        let all = known();
        let mut found = all.iter().filter(|id| is(id));
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only.clone()),
            _ => Err(GenerateError::NoService(Some(wanted.clone()), all)),
        }
    }
}
