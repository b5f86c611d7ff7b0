//! `Operation` and `Service` of a set.

use std::fmt;

use crate::{OperationDef, OperationFlags, Schema, SchemaSet, ServiceDef, ServiceFlags};

/// An operation of a set.
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

    /// The index within the set.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The absolute id.
    #[must_use]
    pub fn id(self) -> &'s str {
        self.set.str(self.def().id)
    }

    /// The name without its namespace.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.id().rsplit('#').next().unwrap_or_default()
    }

    /// The input structure.
    #[must_use]
    pub fn input(self) -> Schema<'s> {
        Schema::at(self.set, self.def().input)
    }

    /// The output structure.
    #[must_use]
    pub fn output(self) -> Schema<'s> {
        Schema::at(self.set, self.def().output)
    }

    /// The errors that the model gives, its own first and then those of the
    /// service, each once.
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

    /// The error with a name, with or without its namespace.
    #[must_use]
    pub fn find_error(self, name: &str) -> Option<Schema<'s>> {
        self.errors()
            .find(|error| error.id() == name || error.name() == name)
    }

    /// Method, URI pattern and status code of `@http`.
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

    /// The host prefix of `@endpoint`; empty if there is none.
    #[must_use]
    pub fn host_prefix(self) -> &'s str {
        self.set.str(self.def().host_prefix)
    }

    /// The method name in XML-RPC.
    #[must_use]
    pub fn xmlrpc_method(self) -> &'s str {
        self.set.str(self.def().xmlrpc_method)
    }

    /// The encodings of `@requestCompression`, the best first; none without the
    /// trait.
    ///
    /// <https://smithy.io/2.0/spec/behavior-traits.html#requestcompression-trait>
    pub fn request_compression(self) -> impl Iterator<Item = &'s str> {
        self.set.words(self.def().request_compression)
    }

    /// Whether it has all these flags.
    #[must_use]
    pub fn has(self, flags: OperationFlags) -> bool {
        self.def().flags.contains(flags)
    }
}

impl fmt::Debug for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A service of a set.
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

    /// The set that the service belongs to.
    #[must_use]
    pub const fn set(self) -> &'s SchemaSet<'s> {
        self.set
    }

    /// The index within the set.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The absolute id.
    #[must_use]
    pub fn id(self) -> &'s str {
        self.set.str(self.def().id)
    }

    /// The name without its namespace.
    #[must_use]
    pub fn name(self) -> &'s str {
        self.id().rsplit('#').next().unwrap_or_default()
    }

    /// The version.
    #[must_use]
    pub fn version(self) -> &'s str {
        self.set.str(self.def().version)
    }

    /// The ids of the protocol traits that the model gives.
    pub fn protocols(self) -> impl Iterator<Item = &'s str> {
        self.set.words(self.def().protocols)
    }

    /// `@xmlNamespace`: the prefix, if it has one, and the URI. What is written
    /// of the service stands in this namespace unless its own shape says other.
    #[must_use]
    pub fn xml_namespace(self) -> Option<(Option<&'s str>, &'s str)> {
        let (prefix, uri) = (self.def().xml_prefix, self.def().xml_uri);
        let prefix = (prefix.len > 0).then(|| self.set.str(prefix));
        (uri.len > 0).then(|| (prefix, self.set.str(uri)))
    }

    /// `sdkId` of `@aws.api#service`, such as `DynamoDB`; empty without it.
    #[must_use]
    pub fn sdk_id(self) -> &'s str {
        self.set.str(self.def().sdk_id)
    }

    /// `endpointPrefix` of `@aws.api#service`, the first label of its host
    /// names; empty without it.
    #[must_use]
    pub fn endpoint_prefix(self) -> &'s str {
        self.set.str(self.def().endpoint_prefix)
    }

    /// The name of `@aws.auth#sigv4`, which requests are signed for; empty
    /// without it.
    #[must_use]
    pub fn signing_name(self) -> &'s str {
        self.set.str(self.def().signing_name)
    }

    /// Whether it has all these flags.
    #[must_use]
    pub fn has(self, flags: ServiceFlags) -> bool {
        self.def().flags.contains(flags)
    }

    /// Whether its errors carry the codes of the query protocol too:
    /// `@aws.protocols#awsQueryCompatible`.
    #[must_use]
    pub fn is_aws_query_compatible(self) -> bool {
        self.has(ServiceFlags::AWS_QUERY_COMPATIBLE)
    }

    /// Whether its errors stand in no `ErrorResponse` element:
    /// `noErrorWrapping` of `@aws.protocols#restXml`.
    #[must_use]
    pub fn has_no_error_wrapping(self) -> bool {
        self.has(ServiceFlags::NO_ERROR_WRAPPING)
    }

    /// Its operations, sorted by id.
    pub fn operations(self) -> impl ExactSizeIterator<Item = Operation<'s>> + use<'s> {
        let set = self.set;
        set.list(self.def().operations)
            .iter()
            .map(move |index| Operation { set, index: *index })
    }

    /// The operation with a name.
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
