//! Settings of the code generator.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use polywire_model::{Loader, Model, ShapeType};

use crate::names::plain_snake;
use crate::{GenerateError, GeneratedModule};

/// Generates Rust code from a model. Builder with the settings of the generator.
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
/// In the crate, include the module with `polywire::include_service!(pub mod weather);`.
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
    /// Trait names without namespace.
    pub(crate) protocols: Option<Vec<String>>,
    pub(crate) operations: Option<BTreeSet<String>>,
}

/// The Rust type of strings in generated types.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Strings {
    /// `Text`: short strings are stored inline, longer ones share the buffer of the message.
    /// Decoding does not allocate.
    #[default]
    Text,
    /// `String`.
    String,
    /// `Cow<'a, str>`, borrowed from the message if it contains the string unescaped. Types with
    /// strings have a lifetime. Clients and servers cannot be generated with this setting.
    Borrowed,
}

/// The Rust type of maps in generated types.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Maps {
    /// `BTreeMap`: serialized output is deterministic.
    #[default]
    BTree,
    /// `HashMap`.
    Hash,
    /// `Vec` of pairs, in the order of the message.
    Vector,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

impl Build {
    /// Creates a builder that generates types, client and server. Requires at least one
    /// [`model`](Build::model).
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

    /// Adds a model: a Smithy IDL file, a JSON AST file, a JAR, or a folder of these. Relative
    /// paths start at the package root, the working directory of build scripts.
    #[must_use]
    pub fn model(mut self, path: impl Into<PathBuf>) -> Self {
        self.models.push(path.into());
        self
    }

    /// Selects a service by its shape ID, or by its name if that is unique. Optional if the model
    /// has exactly one service.
    #[must_use]
    pub fn service(mut self, id: impl Into<String>) -> Self {
        self.service = Some(id.into());
        self
    }

    /// Sets the name of the module and of its file, without `.rs`. Default: the name of the service
    /// in `snake_case`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Generates only these operations and the types that they use. For large models, this reduces
    /// compile time considerably. Default: all operations.
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

    /// Generates neither a client nor a server.
    #[must_use]
    pub fn types_only(self) -> Self {
        self.client(false).server(false)
    }

    /// Whether to generate a client. Default: true.
    #[must_use]
    pub fn client(mut self, client: bool) -> Self {
        self.settings.client = client;
        self
    }

    /// Whether to generate a server trait. Default: true.
    #[must_use]
    pub fn server(mut self, server: bool) -> Self {
        self.settings.server = server;
        self
    }

    /// Whether to generate the functions `visit_input`, `visit_output` and `visit_shape`, which
    /// look up a type by shape ID. Used by tests that cover all types of a service. Default: false.
    #[must_use]
    pub fn registry(mut self, registry: bool) -> Self {
        self.settings.registry = registry;
        self
    }

    /// Sets the type of strings. Default: [`Strings::Text`].
    #[must_use]
    pub fn strings(mut self, strings: Strings) -> Self {
        self.settings.strings = strings;
        self
    }

    /// Whether to borrow strings from the message. True sets [`Strings::Borrowed`] and
    /// [`types_only`](Build::types_only). Default: false.
    #[must_use]
    pub fn borrowed(self, borrowed: bool) -> Self {
        match borrowed {
            true => self.strings(Strings::Borrowed).types_only(),
            false => self.strings(Strings::Text),
        }
    }

    /// Sets the type of maps. Default: [`Maps::BTree`].
    #[must_use]
    pub fn maps(mut self, maps: Maps) -> Self {
        self.settings.maps = maps;
        self
    }

    /// Sets the protocols that the client supports, by trait name without namespace, such as
    /// `rpcv2Cbor`. Programs contain only the code of these protocols. Default: the protocols of
    /// the model, or all if the model has none.
    ///
    /// For other protocols, build a `polywire::rpc::Client` with its own builder and pass it to the
    /// `new` function of the generated client.
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

    /// Sets the path of Polywire's crates in generated code. Default: `::polywire`.
    #[must_use]
    pub fn root(mut self, path: impl Into<String>) -> Self {
        self.settings.root = path.into();
        self
    }

    /// Generates the code in a build script: reads the models, registers their files with Cargo,
    /// and writes the module to `OUT_DIR`.
    ///
    /// # Errors
    ///
    /// Returns an error if `OUT_DIR` is not set, if the model has errors, if the service cannot be
    /// found, or if the file cannot be written.
    pub fn generate(&self) -> Result<GeneratedModule, GenerateError> {
        for path in &self.models {
            #[expect(
                clippy::print_stdout,
                reason = "Cargo reads instructions from standard output"
            )]
            {
                println!("cargo::rerun-if-changed={}", path.display());
            }
        }
        let out = std::env::var_os("OUT_DIR").ok_or(GenerateError::NoOutDir)?;
        self.write(Path::new(&out))
    }

    /// Writes the module to a folder, as `NAME.rs`. Creates the folder if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the model has errors, if the service cannot be found, or if the file
    /// cannot be written.
    pub fn write(&self, folder: &Path) -> Result<GeneratedModule, GenerateError> {
        let generated = self.run()?;
        let path = folder.join(format!("{}.rs", generated.name()));
        let io = |error| GenerateError::Io(path.clone(), error);
        std::fs::create_dir_all(folder).map_err(io)?;
        // Keep the modification time of an unchanged file, so that Cargo does not rebuild.
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
    /// Returns an error if the model has errors or the service cannot be found.
    pub fn run(&self) -> Result<GeneratedModule, GenerateError> {
        let mut loader = Loader::new();
        for path in &self.models {
            loader.add_path(path);
        }
        let assembled = loader.assemble().map_err(GenerateError::Model)?;
        self.run_on(&assembled.model)
    }

    /// Generates the code from a model that is already loaded.
    ///
    /// # Errors
    ///
    /// Returns an error if the service cannot be found.
    pub fn run_on(&self, model: &Model) -> Result<GeneratedModule, GenerateError> {
        let service = self.find_service(model)?;
        let short = service.rsplit('#').next().unwrap_or_default();
        let name = self.name.clone().unwrap_or_else(|| plain_snake(short));
        crate::generate(model, &service, name, &self.settings)
    }

    fn find_service(&self, model: &Model) -> Result<String, GenerateError> {
        let services = || -> Vec<String> {
            let services = model.shapes_of(ShapeType::Service);
            services.map(|service| service.id().to_string()).collect()
        };
        let Some(selected) = &self.service else {
            return match <[String; 1]>::try_from(services()) {
                Ok([only]) => Ok(only),
                Err(all) => Err(GenerateError::NoService(None, all)),
            };
        };
        let is = |id: &String| id == selected || id.rsplit('#').next() == Some(selected);
        let all = services();
        let mut found = all.iter().filter(|id| is(id));
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only.clone()),
            _ => Err(GenerateError::NoService(Some(selected.clone()), all)),
        }
    }
}
