//! [`Operation`] and [`Service`]: handles to the operations and services of a set.

use std::fmt;

use crate::{OperationDef, OperationFlags, Schema, SchemaSet, ServiceDef, ServiceFlags};

/// A handle to an operation of a [`SchemaSet`].
#[derive(Clone, Copy)]
pub struct Operation<'s> {
    set: &'s SchemaSet<'s>,
    index: u32,
}

impl<'s> Operation<'s> {
    pub(crate) const fn at(set: &'s SchemaSet<'s>, index: u32) -> Self {
        Self { set, index }
    }

    fn def(self) -> &'s OperationDef {
        &self.set.operations[self.index as usize]
    }

    /// Returns the index in the set.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns the absolute shape id.
    #[must_use]
    pub fn id(self) -> &'s str {
        self.set.str(self.def().id)
    }

    /// Returns the name without the namespace.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.id().rsplit('#').next().unwrap_or_default()
    }

    /// Returns the input structure.
    #[must_use]
    pub fn input(self) -> Schema<'s> {
        Schema::at(self.set, self.def().input)
    }

    /// Returns the output structure.
    #[must_use]
    pub fn output(self) -> Schema<'s> {
        Schema::at(self.set, self.def().output)
    }

    /// Returns the modeled errors without duplicates: first those of the operation, then those of
    /// the service.
    pub fn errors(self) -> impl Iterator<Item = Schema<'s>> + use<'s> {
        let (set, def) = (self.set, self.def());
        let own = set.list(def.errors);
        let common = set.list(def.service_errors).iter();
        // An operation has few errors of its own.
        let common = common.filter(move |index| !own.contains(index));
        own.iter()
            .chain(common)
            .map(move |index| Schema::at(set, *index))
    }

    /// Returns the error with the given name or absolute id.
    #[must_use]
    pub fn find_error(self, name: &str) -> Option<Schema<'s>> {
        self.errors()
            .find(|error| error.id() == name || error.name() == name)
    }

    /// Returns the method, URI pattern and status code of `@http`.
    #[must_use]
    pub fn http(self) -> Option<(&'s str, &'s str, u16)> {
        let def = self.def();
        let http = def.flags.contains(OperationFlags::HTTP);
        http.then(|| {
            (
                self.set.str(def.http_method),
                self.set.str(def.http_uri),
                def.http_code,
            )
        })
    }

    /// Returns the host prefix of `@endpoint`, or an empty string without the trait.
    #[must_use]
    pub fn host_prefix(self) -> &'s str {
        self.set.str(self.def().host_prefix)
    }

    /// Returns the XML-RPC method name.
    #[must_use]
    pub fn xmlrpc_method(self) -> &'s str {
        self.set.str(self.def().xmlrpc_method)
    }

    /// Returns the encodings of `@requestCompression` in order of preference. Empty without the
    /// trait.
    ///
    /// <https://smithy.io/2.0/spec/behavior-traits.html#requestcompression-trait>
    pub fn request_compression(self) -> impl Iterator<Item = &'s str> {
        self.set.words(self.def().request_compression)
    }

    /// Returns the settings of `@aws.protocols#httpChecksum`. `None` without the trait.
    ///
    /// <https://smithy.io/2.0/aws/aws-core.html#aws-protocols-httpchecksum-trait>
    #[must_use]
    pub fn http_checksum(self) -> Option<HttpChecksum<'s>> {
        let mut words = self.set.words(self.def().http_checksum);
        let mut member = || Some(words.next()?).map(|name| (name != "-").then_some(name));
        Some(HttpChecksum {
            request_algorithm_member: member()?,
            request_validation_mode_member: member()?,
            response_algorithms: words.collect(),
        })
    }

    /// Returns whether the operation has all of these flags.
    #[must_use]
    pub fn has(self, flags: OperationFlags) -> bool {
        self.def().flags.contains(flags)
    }
}

/// `@aws.protocols#httpChecksum` of an operation. `requestChecksumRequired` is
/// [`OperationFlags::HTTP_CHECKSUM_REQUIRED`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpChecksum<'s> {
    /// The member of the input that names the algorithm for the request.
    pub request_algorithm_member: Option<&'s str>,
    /// The member of the input that asks for a checksum in the response.
    pub request_validation_mode_member: Option<&'s str>,
    /// The algorithms of checksums in responses.
    pub response_algorithms: Vec<&'s str>,
}

impl fmt::Debug for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A handle to a service of a [`SchemaSet`].
#[derive(Clone, Copy)]
pub struct Service<'s> {
    set: &'s SchemaSet<'s>,
    index: u32,
}

impl<'s> Service<'s> {
    pub(crate) const fn at(set: &'s SchemaSet<'s>, index: u32) -> Self {
        Self { set, index }
    }

    fn def(self) -> &'s ServiceDef {
        &self.set.services[self.index as usize]
    }

    /// Returns the set that contains the service.
    #[must_use]
    pub const fn set(self) -> &'s SchemaSet<'s> {
        self.set
    }

    /// Returns the index in the set.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns the absolute shape id.
    #[must_use]
    pub fn id(self) -> &'s str {
        self.set.str(self.def().id)
    }

    /// Returns the name without the namespace.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.id().rsplit('#').next().unwrap_or_default()
    }

    /// Returns the version of the service.
    #[must_use]
    pub fn version(self) -> &'s str {
        self.set.str(self.def().version)
    }

    /// Returns the ids of the protocol traits.
    pub fn protocols(self) -> impl Iterator<Item = &'s str> {
        self.set.words(self.def().protocols)
    }

    /// Returns the prefix and the URI of `@xmlNamespace`. This is the default namespace for all
    /// shapes of the service.
    #[must_use]
    pub fn xml_namespace(self) -> Option<(Option<&'s str>, &'s str)> {
        let (prefix, uri) = (self.def().xml_prefix, self.def().xml_uri);
        let prefix = (prefix.len > 0).then(|| self.set.str(prefix));
        (uri.len > 0).then(|| (prefix, self.set.str(uri)))
    }

    /// Returns `sdkId` of `@aws.api#service`, such as `DynamoDB`, or an empty string without it.
    #[must_use]
    pub fn sdk_id(self) -> &'s str {
        self.set.str(self.def().sdk_id)
    }

    /// Returns `endpointPrefix` of `@aws.api#service`, the first label of the host names, or an
    /// empty string without it.
    #[must_use]
    pub fn endpoint_prefix(self) -> &'s str {
        self.set.str(self.def().endpoint_prefix)
    }

    /// Returns the signing name of `@aws.auth#sigv4`, or an empty string without the trait.
    #[must_use]
    pub fn signing_name(self) -> &'s str {
        self.set.str(self.def().signing_name)
    }

    /// Returns whether the service has all of these flags.
    #[must_use]
    pub fn has(self, flags: ServiceFlags) -> bool {
        self.def().flags.contains(flags)
    }

    /// Returns whether errors also contain the error codes of awsQuery
    /// (`@aws.protocols#awsQueryCompatible`).
    #[must_use]
    pub fn is_aws_query_compatible(self) -> bool {
        self.has(ServiceFlags::AWS_QUERY_COMPATIBLE)
    }

    /// Returns whether errors are written without an `ErrorResponse` element (`noErrorWrapping` of
    /// `@aws.protocols#restXml`).
    #[must_use]
    pub fn has_no_error_wrapping(self) -> bool {
        self.has(ServiceFlags::NO_ERROR_WRAPPING)
    }

    /// Returns the operations, sorted by id.
    pub fn operations(self) -> impl ExactSizeIterator<Item = Operation<'s>> + use<'s> {
        let set = self.set;
        set.list(self.def().operations)
            .iter()
            .map(move |index| Operation { set, index: *index })
    }

    /// Returns the operation with the given name, without namespace.
    #[must_use]
    pub fn find_operation(self, name: &str) -> Option<Operation<'s>> {
        self.operations().find(|operation| operation.name() == name)
    }
}

impl fmt::Debug for Service<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
