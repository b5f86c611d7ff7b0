//! The router and the protocols that [`Methods`] are built into.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use polywire_protocol::{MountError, XmlRpc};
use polywire_schema::Service;

use super::router::{Entry, Implementation, Router};
use super::system::{self, MethodInfo, SystemMethod};
use super::{CborMethods, Methods, MethodsError};
use crate::call::Target;

impl Methods {
    /// The enabled `system.*` methods.
    fn system(&self) -> impl Iterator<Item = SystemMethod> + use<> {
        let (introspection, no_multicall) = (self.introspection, self.no_multicall);
        let is_enabled = move |system: &SystemMethod| {
            introspection && !(no_multicall && *system == SystemMethod::Multicall)
        };
        SystemMethod::ALL.into_iter().filter(is_enabled)
    }

    /// The paths at which XML-RPC is offered.
    pub(crate) fn paths(&self) -> Vec<String> {
        match self.paths.is_empty() {
            true => vec!["/RPC2".to_owned()],
            false => self.paths.clone(),
        }
    }

    /// The XML-RPC protocol for the operations of a service, with the settings of the methods.
    pub(crate) fn xmlrpc_wire(&self, service: Service<'_>) -> Result<XmlRpc, MountError> {
        let wire = XmlRpc::new(service)?;
        Ok(wire.with_profile(self.profile).with_style(self.style))
    }

    /// The CBOR protocol, if enabled. `model` is the name of a service whose operations are offered over CBOR too.
    pub(crate) fn cbor_wire(&self, model: Option<&str>) -> Option<CborMethods> {
        let service = self.cbor.as_deref()?;
        let names = model.filter(|model| *model == service).map(|_| {
            let own = self.methods.iter().map(|(name, _)| name.clone());
            own.chain(self.system().map(|system| system.name().to_owned()))
                .collect()
        });
        Some(CborMethods::new(service, names))
    }

    /// Builds the router for all methods, and for the operations of a service that XML-RPC offers.
    pub(crate) fn build(self, operations: Option<Service<'_>>) -> Result<Router, MethodsError> {
        if let Some((name, kind)) = self.invalid_result {
            return Err(MethodsError::NotAFault(name, kind));
        }
        let unusable = |path: &&String| !path.starts_with('/');
        if let Some(path) = self.paths.iter().find(unusable) {
            return Err(MethodsError::Path(path.clone()));
        }
        let system = self.system();
        let mut info = self.info;
        let mut documentation = self.documentation;
        let mut listed = BTreeMap::new();
        let mut names: HashMap<Box<str>, Target> = HashMap::new();
        let mut add = |name: &str, target: Target, defaults: MethodInfo| {
            if name.is_empty() || name.trim() != name || name.contains(char::is_control) {
                return Err(MethodsError::Name(name.to_owned()));
            }
            let mut entry_info = info.remove(name).unwrap_or_default();
            if entry_info.help.is_empty() {
                entry_info.help = defaults.help;
            }
            if entry_info.signatures.is_empty() {
                entry_info.signatures = defaults.signatures;
            }
            // Clients of XML-RPC could not call them.
            let frames_only = matches!(&target, Target::Method(entry) if entry.is_frames_only());
            if !frames_only {
                listed.insert(Box::from(name), entry_info);
            }
            match names.insert(name.into(), target) {
                None => Ok(()),
                Some(_) => Err(MethodsError::Duplicate(name.to_owned())),
            }
        };
        for (name, method) in self.methods {
            let entry = Arc::new(Entry::new(&name, Implementation::Function(method)));
            add(&name, Target::Method(entry), MethodInfo::default())?;
        }
        for (name, method) in self.streams {
            let entry = Arc::new(Entry::new(&name, Implementation::Stream(method)));
            add(&name, Target::Method(entry), MethodInfo::default())?;
        }
        for (name, function) in self.bytes {
            if !self.layers.is_empty() {
                return Err(MethodsError::BypassesLayers(name));
            }
            let entry = Arc::new(Entry::new(&name, Implementation::Bytes(function)));
            add(&name, Target::Method(entry), MethodInfo::default())?;
        }
        for operation in operations.into_iter().flat_map(Service::operations) {
            let info = MethodInfo {
                signatures: system::signatures_of(operation),
                help: documentation.remove(operation.name()).unwrap_or_default(),
            };
            let target = Target::Operation(operation.index());
            add(operation.xmlrpc_method(), target, info)?;
        }
        for system in system {
            let name = system.name();
            let entry = Arc::new(Entry::new(name, Implementation::System(system)));
            add(name, Target::Method(entry), system.info())?;
        }
        if let Some((name, _)) = info.into_iter().next() {
            return Err(MethodsError::Unknown(name));
        }
        // Needed only for introspection.
        let listed = match self.introspection {
            true => listed.into_iter().collect(),
            false => Vec::new(),
        };
        Ok(Router::new(
            names,
            self.layers,
            (self.profile, self.style),
            listed,
        ))
    }
}
