//! The router and the protocols that [`Methods`] are built into.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use polywire_protocol::{MountError, XmlRpc};
use polywire_schema::Service;

use super::router::{Entry, Router, Work};
use super::system::{self, About, System};
use super::{CborMethods, Methods, MethodsError};
use crate::call::Target;

impl Methods {
    /// The methods that it has of itself.
    fn system(&self) -> impl Iterator<Item = System> + use<> {
        let (introspection, no_multicall) = (self.introspection, self.no_multicall);
        let there =
            move |system: &System| introspection && !(no_multicall && *system == System::Multicall);
        System::ALL.into_iter().filter(there)
    }

    /// The paths of XML-RPC.
    pub(crate) fn paths(&self) -> Vec<String> {
        match self.paths.is_empty() {
            true => vec!["/RPC2".to_owned()],
            false => self.paths.clone(),
        }
    }

    /// The wire of XML-RPC, with the operations of a model.
    pub(crate) fn xmlrpc_wire(&self, service: Service<'_>) -> Result<XmlRpc, MountError> {
        let wire = XmlRpc::new(service)?;
        Ok(wire.with_profile(self.profile).with_style(self.style))
    }

    /// The wire of CBOR, beside a model that is offered over CBOR under a name.
    pub(crate) fn cbor_wire(&self, model: Option<&str>) -> Option<CborMethods> {
        let service = self.cbor.as_deref()?;
        let names = model.filter(|model| *model == service).map(|_| {
            let own = self.methods.iter().map(|(name, _)| name.clone());
            own.chain(self.system().map(|system| system.name().to_owned()))
                .collect()
        });
        Some(CborMethods::new(service, names))
    }

    /// The names of all methods, looked up; with the operations of a service
    /// where XML-RPC offers them.
    pub(crate) fn build(self, operations: Option<Service<'_>>) -> Result<Router, MethodsError> {
        if let Some((name, kind)) = self.doubtful {
            return Err(MethodsError::NoFault(name, kind));
        }
        let unusable = |path: &&String| !path.starts_with('/');
        if let Some(path) = self.paths.iter().find(unusable) {
            return Err(MethodsError::Path(path.clone()));
        }
        let system = self.system();
        let mut about = self.about;
        let mut documentation = self.documentation;
        let mut known = BTreeMap::new();
        let mut names: HashMap<Box<str>, Target> = HashMap::new();
        let mut add = |name: &str, target: Target, own: About| {
            if name.is_empty() || name.trim() != name || name.contains(char::is_control) {
                return Err(MethodsError::Name(name.to_owned()));
            }
            let mut told = about.remove(name).unwrap_or_default();
            if told.help.is_empty() {
                told.help = own.help;
            }
            if told.signatures.is_empty() {
                told.signatures = own.signatures;
            }
            // Who asks for the names could not call it over the same wire.
            let elsewhere = matches!(&target, Target::Method(entry) if entry.is_of_frames());
            if !elsewhere {
                known.insert(Box::from(name), told);
            }
            match names.insert(name.into(), target) {
                None => Ok(()),
                Some(_) => Err(MethodsError::Twice(name.to_owned())),
            }
        };
        for (name, method) in self.methods {
            let entry = Arc::new(Entry::new(&name, Work::Own(method)));
            add(&name, Target::Method(entry), About::default())?;
        }
        for (name, method) in self.streams {
            let entry = Arc::new(Entry::new(&name, Work::Stream(method)));
            add(&name, Target::Method(entry), About::default())?;
        }
        for (name, function) in self.bytes {
            if !self.layers.is_empty() {
                return Err(MethodsError::PastLayers(name));
            }
            let entry = Arc::new(Entry::new(&name, Work::Bytes(function)));
            add(&name, Target::Method(entry), About::default())?;
        }
        for operation in operations.into_iter().flat_map(Service::operations) {
            let about = About {
                signatures: system::signatures_of(operation),
                help: documentation.remove(operation.name()).unwrap_or_default(),
            };
            let target = Target::Operation(operation.index());
            add(operation.xmlrpc_method(), target, about)?;
        }
        for system in system {
            let name = system.name();
            let entry = Arc::new(Entry::new(name, Work::System(system)));
            add(name, Target::Method(entry), system.about())?;
        }
        if let Some((name, _)) = about.into_iter().next() {
            return Err(MethodsError::Unknown(name));
        }
        // What nobody may ask for is not kept.
        let known = match self.introspection {
            true => known.into_iter().collect(),
            false => Vec::new(),
        };
        Ok(Router::new(
            names,
            self.layers,
            (self.profile, self.style),
            known,
        ))
    }
}
