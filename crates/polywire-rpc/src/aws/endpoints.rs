//! Endpoint rules for the calls of a client.

use std::fmt;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use polywire_aws::endpoint::{
    Argument, ArgumentError, AuthScheme, Endpoint, Partitions, RuleSet, RuleSetError, ServiceRules,
    built_in,
};
use polywire_codec::Message;
use polywire_schema::Operation;

use super::json::json_of;
use crate::client::{EndpointResolver, RequestEndpoint};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Finds the endpoints of calls by the rules of a model
/// ([specification](https://smithy.io/2.0/additional-specs/rules-engine/index.html)): URL, headers, and the name and region
/// of the signature, which the [`Signer`](super::Signer) takes from here. For S3 this covers path style and virtual hosts,
/// dual stack, FIPS, acceleration, and the ARNs of access points.
///
/// ```
/// use polywire_protocol::ProtocolKind;
/// use polywire_rpc::aws::{Credentials, Endpoints, Signer};
/// use polywire_rpc::{Client, ServiceHandle};
///
/// /// `model` is the JSON AST of the model of S3.
/// fn s3(
///     service: ServiceHandle,
///     model: &str,
/// ) -> Result<Client, Box<dyn std::error::Error>> {
///     let endpoints = Endpoints::from_model(model, "com.amazonaws.s3#AmazonS3")?
///         .with_region("eu-west-1")
///         .with_dual_stack(true);
///     let credentials = Credentials::new("AKIDEXAMPLE", "a secret of 40 characters");
///     let client = Client::builder(service, ProtocolKind::RestXml)
///         .interceptor(Signer::new(credentials, "eu-west-1", "s3"))
///         .connect_with(endpoints)?;
///     Ok(client)
/// }
/// ```
#[derive(Clone)]
pub struct Endpoints {
    rules: Arc<ServiceRules>,
    built_ins: Vec<(&'static str, Argument<'static>)>,
    parameters: Vec<(String, Argument<'static>)>,
}

/// What endpoint rules say about the signature. In the extensions of requests.
#[derive(Clone, Debug, Default)]
pub(super) struct SigningScope {
    pub(super) name: Option<String>,
    pub(super) region: Option<String>,
    /// The scheme, if this crate does not have it.
    pub(super) unsupported: Option<String>,
    pub(super) disable_double_encoding: bool,
    pub(super) disable_normalize_path: bool,
}

impl Endpoints {
    /// Reads the rules and the bindings of parameters of a service from a model in the JSON AST. `service` is its shape id.
    ///
    /// # Errors
    ///
    /// The text is not JSON, the model has no such service, or its rules are not valid.
    pub fn from_model(model: &str, service: &str) -> Result<Self, RuleSetError> {
        Ok(Self::new(ServiceRules::from_json(model, service)?))
    }

    /// Reads a rule set in JSON, the value of `smithy.rules#endpointRuleSet` or `smithy.rules#endpointBdd`. Without a
    /// model, members of inputs are not bound to parameters.
    ///
    /// # Errors
    ///
    /// The rule set is not valid.
    pub fn from_rules(rules: &str) -> Result<Self, RuleSetError> {
        Ok(Self::new(ServiceRules::new(RuleSet::from_json(rules)?)))
    }

    fn new(rules: ServiceRules) -> Self {
        Self {
            rules: Arc::new(rules),
            built_ins: Vec::new(),
            parameters: Vec::new(),
        }
    }

    /// Sets the region.
    #[must_use]
    pub fn with_region(self, region: &str) -> Self {
        self.with_built_in(built_in::REGION, region.to_owned())
    }

    /// Sets the URL of a server instead of those of AWS, such as `http://127.0.0.1:9000`. The rules of S3 put the bucket
    /// into the host unless the host is an address, or [`with_path_style`](Self::with_path_style) is set.
    #[must_use]
    pub fn with_endpoint(self, url: &str) -> Self {
        self.with_built_in(built_in::SDK_ENDPOINT, url.to_owned())
    }

    /// Sets whether to use endpoints with IPv4 and IPv6. Default: no.
    #[must_use]
    pub fn with_dual_stack(self, dual_stack: bool) -> Self {
        self.with_built_in(built_in::USE_DUAL_STACK, dual_stack)
    }

    /// Sets whether to use endpoints with certified cryptography. Default: no.
    #[must_use]
    pub fn with_fips(self, fips: bool) -> Self {
        self.with_built_in(built_in::USE_FIPS, fips)
    }

    /// Sets whether the bucket of S3 is always in the path. Default: no.
    #[must_use]
    pub fn with_path_style(self, path_style: bool) -> Self {
        self.with_built_in(built_in::S3_FORCE_PATH_STYLE, path_style)
    }

    /// Sets whether to use the transfer acceleration of S3. Default: no.
    #[must_use]
    pub fn with_accelerate(self, accelerate: bool) -> Self {
        self.with_built_in(built_in::S3_ACCELERATE, accelerate)
    }

    /// Sets the account of the credentials, which some endpoints of DynamoDB have.
    #[must_use]
    pub fn with_account_id(self, account_id: &str) -> Self {
        self.with_built_in(built_in::ACCOUNT_ID, account_id.to_owned())
    }

    /// Sets any of the [built-in values](polywire_aws::endpoint::built_in). Values that the rules do not use have no
    /// effect.
    #[must_use]
    pub fn with_built_in(
        mut self,
        name: &'static str,
        value: impl Into<Argument<'static>>,
    ) -> Self {
        self.built_ins.retain(|(own, _)| *own != name);
        self.built_ins.push((name, value.into()));
        self
    }

    /// Sets a parameter of the rules, such as one of `smithy.rules#clientContextParams`.
    ///
    /// # Errors
    ///
    /// The rules have no such parameter, or the value has another type.
    pub fn with_parameter(
        mut self,
        name: &str,
        value: impl Into<Argument<'static>>,
    ) -> Result<Self, ArgumentError> {
        let value = value.into();
        self.rules.rules().arguments().set(name, value.clone())?;
        self.parameters.push((name.to_owned(), value));
        Ok(self)
    }

    /// Evaluates the rules for a call.
    fn evaluate(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<Endpoint, BoxError> {
        let rules = &*self.rules;
        let mut arguments = rules.rules().arguments();
        for (name, value) in &self.built_ins {
            arguments.set_built_in(name, value.clone())?;
        }
        for (name, value) in &self.parameters {
            arguments.set(name, value.clone())?;
        }
        let name = operation.name();
        let input = match rules.needs_input(name) {
            true => {
                let wants = |member: &str| rules.needs_member(name, member);
                json_of(input, operation.input().root(), &wants)
            }
            false => serde_json::Value::Null,
        };
        rules.bind(name, &input, &mut arguments)?;
        Ok(arguments.resolve(Partitions::aws())?)
    }
}

impl EndpointResolver for Endpoints {
    fn resolve(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<RequestEndpoint, BoxError> {
        let found = self.evaluate(operation, input)?;
        let mut endpoint = RequestEndpoint::new(&*found.url);
        for (name, values) in &found.headers {
            for value in values {
                let value = HeaderValue::try_from(value)?;
                endpoint.headers.append(HeaderName::try_from(name)?, value);
            }
        }
        if let Some(scope) = scope(&found) {
            endpoint.extensions.insert(scope);
        }
        // The rules of S3 put the bucket into the URL, but its operations also have it in their path.
        let bucket = self.rules.member(operation.name(), "Bucket");
        let uri = operation.http().map_or("", |(_, uri, _)| uri);
        let first = uri
            .strip_prefix("/{")
            .and_then(|rest| rest.split('}').next());
        endpoint.replaces_first_segment = bucket.is_some() && bucket == first;
        Ok(endpoint)
    }
}

/// The settings of the first scheme that this crate has.
fn scope(endpoint: &Endpoint) -> Option<SigningScope> {
    let mut schemes = endpoint.auth_schemes().peekable();
    let first = schemes.peek().map(AuthScheme::name)?;
    let Some(scheme) = schemes.find(|scheme| scheme.name() == "sigv4") else {
        return Some(SigningScope {
            unsupported: Some(first.to_owned()),
            ..SigningScope::default()
        });
    };
    Some(SigningScope {
        name: scheme.signing_name().map(str::to_owned),
        region: scheme.signing_region().map(str::to_owned),
        unsupported: None,
        disable_double_encoding: scheme.disable_double_encoding(),
        disable_normalize_path: scheme.disable_normalize_path(),
    })
}

impl fmt::Debug for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoints")
            .field("built_ins", &self.built_ins)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}
