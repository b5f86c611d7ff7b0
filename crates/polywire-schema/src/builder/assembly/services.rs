//! Builds services and their operations.

use super::{Assembly, no_shape};
use crate::builder::{BuildError, OperationSpec, ServiceSpec};
use crate::{OperationDef, OperationFlags, ServiceDef, Span};

impl Assembly {
    pub(super) fn operation(&mut self, spec: &OperationSpec) -> Result<OperationDef, BuildError> {
        let (method, uri, code) = match &spec.http {
            Some((method, uri, code)) => (method.as_str(), uri.as_str(), *code),
            None => ("", "", 200),
        };
        let name = spec.id.rsplit('#').next().unwrap_or_default();
        let shapes = [spec.input, spec.output];
        let mut shapes = shapes.iter().chain(&spec.errors);
        if let Some(invalid) = shapes.find(|shape| !self.has(**shape)) {
            return Err(no_shape(&spec.id, *invalid));
        }
        let errors: Vec<u32> = spec.errors.iter().map(|error| error.0).collect();
        Ok(OperationDef {
            id: self.intern(&spec.id)?,
            input: spec.input.0,
            output: spec.output.0,
            errors: self.list(&errors)?,
            service_errors: Span::default(),
            http_method: self.intern(method)?,
            http_uri: self.intern(uri)?,
            http_code: code,
            host_prefix: self.intern(&spec.host_prefix)?,
            xmlrpc_method: self.intern(spec.xmlrpc_method.as_deref().unwrap_or(name))?,
            request_compression: self.intern(&spec.request_compression.join(" "))?,
            http_checksum: self.intern(&spec.http_checksum.join(" "))?,
            flags: if spec.http.is_some() {
                spec.flags.with(OperationFlags::HTTP)
            } else {
                spec.flags
            },
        })
    }

    pub(super) fn service(
        &mut self,
        spec: &ServiceSpec,
        operations: &mut [OperationDef],
    ) -> Result<ServiceDef, BuildError> {
        if let Some(invalid) = spec.errors.iter().find(|shape| !self.has(**shape)) {
            return Err(no_shape(&spec.id, *invalid));
        }
        let errors: Vec<u32> = spec.errors.iter().map(|error| error.0).collect();
        let errors = self.list(&errors)?;
        for index in &spec.operations {
            let Some(operation) = operations.get_mut(*index as usize) else {
                return Err(BuildError(format!(
                    "{}: operation {index} does not exist",
                    spec.id
                )));
            };
            self.add_errors(operation, errors)?;
        }
        let namespace = spec.xml_namespace.as_ref();
        let (prefix, uri) = namespace.map_or((None, ""), |(prefix, uri)| (prefix.as_deref(), uri));
        Ok(ServiceDef {
            id: self.intern(&spec.id)?,
            version: self.intern(&spec.version)?,
            operations: self.list(&spec.operations)?,
            protocols: self.intern(&spec.protocols.join(" "))?,
            xml_prefix: self.intern(prefix.unwrap_or_default())?,
            xml_uri: self.intern(uri)?,
            sdk_id: self.intern(&spec.sdk_id)?,
            endpoint_prefix: self.intern(&spec.endpoint_prefix)?,
            signing_name: self.intern(&spec.signing_name)?,
            flags: spec.flags,
        })
    }

    /// Adds the errors of a service to an operation. All operations of a service share one list.
    pub(super) fn add_errors(
        &mut self,
        operation: &mut OperationDef,
        errors: Span,
    ) -> Result<(), BuildError> {
        if operation.service_errors.len > 0 {
            // The operation belongs to two services and gets the errors of both.
            let mut own = self.indices(operation.errors).to_vec();
            own.extend_from_slice(self.indices(operation.service_errors));
            operation.errors = self.list(&own)?;
        }
        operation.service_errors = errors;
        Ok(())
    }
}
