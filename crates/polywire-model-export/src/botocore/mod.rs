//! Exports a service as data files of botocore, so that boto3 and the AWS CLI can call it.
//!
//! botocore creates its clients at run time from JSON files: `service-2.json` has the operations
//! and shapes, and other files have paginators, waiters, examples and endpoint rules. [`export`]
//! creates the contents of these files from a [`Model`], without I/O. boto3 finds them below the
//! folder in `AWS_DATA_PATH`.
//!
//! An export is for one protocol. A member has one wire name in botocore's format, but its name
//! depends on the protocol: `@jsonName` applies to REST JSON only, `@xmlName` to XML protocols, and
//! `@httpHeader` neither to CBOR nor to RPC.
//!
//! What the format cannot express is a note in [`Export::notes`] and not an error: a client without
//! one waiter is better than none.
//!
//! # Examples
//!
//! ```
//! use polywire_model::Loader;
//! use polywire_model_export::botocore::{Options, Protocol, export};
//!
//! let text = r#"
//!     $version: "2"
//!     namespace example
//!     use smithy.protocols#rpcv2Cbor
//!     @rpcv2Cbor
//!     service Weather { version: "2026-11-01", operations: [GetCity] }
//!     operation GetCity { input := { @required name: String }, output := { people: Long } }
//! "#;
//! let model = Loader::new().add_text("weather.smithy", text).assemble()?.model;
//! let export = export(&model, None, &Options::default()).unwrap();
//! assert_eq!(export.protocol(), Protocol::RpcV2Cbor);
//! let paths: Vec<&str> = export.files().iter().map(|file| file.path()).collect();
//! assert_eq!(
//!     paths,
//!     [
//!         "weather/2026-11-01/service-2.json",
//!         "weather/2026-11-01/paginators-1.json",
//!         "weather/2026-11-01/waiters-2.json",
//!         "weather/2026-11-01/endpoint-rule-set-1.json",
//!     ]
//! );
//! # Ok::<(), polywire_model::ModelError>(())
//! ```

mod auth;
mod documentation;
mod endpoint;
mod entries;
mod error;
mod examples;
mod members;
mod names;
mod operations;
mod paginators;
mod protocol;
mod service;
mod shapes;
mod waiters;

use polywire_model::{Closure, Model, Node, Shape, ids};

pub use error::ExportError;
pub use protocol::Protocol;

/// Options of an export.
///
/// # Examples
///
/// ```
/// use polywire_model_export::botocore::{Options, Protocol};
///
/// let options = Options::default().protocol(Protocol::RestJson).name("my-weather");
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    protocol: Option<Protocol>,
    name: Option<String>,
}

impl Options {
    /// The protocol of the client. By default, the protocol of the service that botocore prefers.
    ///
    /// If the service does not have the trait of the protocol, a note is added.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = Some(protocol);
        self
    }

    /// The name of the service for `boto3.client`. By default, the service id in lower case with
    /// hyphens for spaces. The id is the `sdkId` of `@aws.api#service` or the name of the shape.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// The data files of a service.
#[derive(Clone, Debug)]
pub struct Export {
    name: String,
    api_version: String,
    protocol: Protocol,
    has_endpoints: bool,
    files: Vec<File>,
    notes: Vec<String>,
}

impl Export {
    /// The name of the service for `boto3.client`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder of the version. `0` if the service has no version.
    #[must_use]
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// The protocol that clients will use.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether the model has endpoint rules. Otherwise clients need an `endpoint_url`.
    #[must_use]
    pub fn has_endpoints(&self) -> bool {
        self.has_endpoints
    }

    /// The files. `service-2.json` is the first.
    #[must_use]
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// What the files cannot express, in one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// A file of an export.
#[derive(Clone, Debug)]
pub struct File {
    path: String,
    content: Node,
}

impl File {
    /// The path below the data folder, with `/` between the names:
    /// `weather/2026-11-01/service-2.json`. Each name consists of ASCII letters, digits, `.`, `_`
    /// and `-`, and does not begin with a dot.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The contents.
    #[must_use]
    pub fn content(&self) -> &Node {
        &self.content
    }
}

/// Exports a service.
///
/// `service` is the absolute id or the name of a service. It can be `None` if the model has only
/// one.
///
/// # Errors
///
/// There is no such service, or there are several. botocore supports none of the protocols of the
/// service, and `options` has none. The protocol is a REST protocol, and an operation has no
/// `@http`.
pub fn export(
    model: &Model,
    service: Option<&str>,
    options: &Options,
) -> Result<Export, ExportError> {
    let service = choose(model, service)?;
    let closure = model
        .closure(service.id())
        .ok_or_else(|| ExportError::UnknownService {
            name: service.id().to_string(),
            known: Vec::new(),
        })?;
    let mut notes = Vec::new();
    let protocol = Protocol::choose(service, options.protocol, &mut notes)?;
    if protocol.is_rest() {
        let without_http = closure
            .operations()
            .iter()
            .filter(|operation| operation.traits().http().is_none())
            .map(|operation| closure.name(operation.id()).to_owned());
        let without_http: Vec<String> = without_http.collect();
        if !without_http.is_empty() {
            return Err(ExportError::NoHttp {
                protocol,
                operations: without_http,
            });
        }
    }
    let facts = service::ServiceNames::of(service, options.name.as_deref());
    let mut context = Context {
        model,
        closure,
        service,
        protocol,
        notes,
    };

    let mut files = vec![("service-2", service::service(&mut context, &facts))];
    files.push(("paginators-1", paginators::paginators(&mut context)));
    files.push(("waiters-2", waiters::waiters(&mut context)));
    files.push(("endpoint-rule-set-1", endpoint::rule_set(service)));
    if let Some(examples) = examples::examples(&context) {
        files.push(("examples-1", examples));
    }
    let (name, api_version) = (facts.name, facts.api_version);
    let files = files.into_iter().map(|(kind, content)| File {
        path: format!("{name}/{api_version}/{kind}.json"),
        content,
    });
    Ok(Export {
        has_endpoints: endpoint::has_rules(service),
        files: files.collect(),
        name,
        api_version,
        protocol,
        notes: context.notes,
    })
}

/// The context of an export.
struct Context<'m> {
    model: &'m Model,
    closure: Closure<'m>,
    service: &'m Shape,
    protocol: Protocol,
    notes: Vec<String>,
}

impl<'m> Context<'m> {
    /// Whether responses have the codes of `@awsQueryError`: in query protocols, and in services
    /// that are compatible with them.
    fn has_query_codes(&self) -> bool {
        self.protocol.is_query() || self.service.traits().is_aws_query_compatible()
    }

    /// Whether it is a service of AWS for which botocore has special code.
    fn is(&self, sdk_id: &str) -> bool {
        let aws = self.service.traits().get(ids::AWS_SERVICE);
        aws.and_then(|aws| aws.get("sdkId")?.as_str()) == Some(sdk_id)
    }

    /// The operations, sorted by name as in botocore's own files.
    fn operations(&self) -> Vec<(&'m str, &'m Shape)> {
        let operations = self.closure.operations().iter();
        let mut operations: Vec<(&str, &Shape)> = operations
            .map(|&operation| (self.closure.name(operation.id()), operation))
            .collect();
        operations.sort_unstable_by_key(|(name, _)| *name);
        operations
    }
}

/// The service with an id or name, or the only one.
fn choose<'m>(model: &'m Model, wanted: Option<&str>) -> Result<&'m Shape, ExportError> {
    let ids = |services: &mut dyn Iterator<Item = &Shape>| -> Vec<String> {
        services.map(|service| service.id().to_string()).collect()
    };
    let is_wanted = |service: &&Shape| match wanted {
        Some(name) => service.id() == name || service.id().name() == name,
        None => true,
    };
    let mut found = model.services().filter(is_wanted);
    match (found.next(), found.next(), wanted) {
        (Some(service), None, _) => Ok(service),
        (Some(_), Some(_), _) => Err(ExportError::SeveralServices {
            known: ids(&mut model.services().filter(is_wanted)),
        }),
        (None, _, Some(name)) => Err(ExportError::UnknownService {
            name: name.to_owned(),
            known: ids(&mut model.services()),
        }),
        (None, _, None) => Err(ExportError::NoService),
    }
}
