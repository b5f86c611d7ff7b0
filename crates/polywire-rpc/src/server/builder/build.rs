//! Builds a server from the settings of a builder.

use std::sync::Arc;

use polywire_protocol::{MountError, ProtocolKind, ServerProtocol, Validator, XmlRpc, conflict};
use polywire_schema::Direction;
use tokio::sync::Semaphore;
use tower::service_fn;
use tower::util::BoxCloneSyncService;

use super::{BuildError, ServerBuilder, Validation};
use crate::call::memory::Memory;
use crate::call::{CallLimit, Engine, decoding};
use crate::layers::RequestRates;
use crate::server::Server;
use crate::server::app::{App, HeadService, RoutedCall};
use crate::server::frames::{Flow, Table};
use crate::server::gate::Gate;
use crate::server::http_service::HttpService;
use crate::server::mount::{Mount, Mounts};
use crate::server::service::InnerService;
use crate::server::unoffered::UnofferedProtocols;
use crate::{Call, Handler, ServiceHandle};

/// The default of [`ServerBuilder::body_memory`] in bytes.
const DEFAULT_BODY_MEMORY: usize = 256 << 20;

impl ServerBuilder {
    /// Builds the server.
    ///
    /// # Errors
    ///
    /// A protocol does not support the service, the requests of two protocols of a mount cannot be distinguished, handlers
    /// and operations do not match, or another [`BuildError`].
    pub fn build(self) -> Result<Server, BuildError> {
        let service = self.service.service();
        let mut kinds = self.protocols;
        if kinds.is_empty() && self.custom_protocols.is_empty() {
            let own = service.protocols().filter_map(ProtocolKind::from_name);
            kinds.extend(own.map(|kind| (Mount::default(), kind)));
        }
        let custom = self.custom_protocols.into_iter();
        let mut protocols: Vec<_> = custom
            .map(|protocol| (Mount::default(), protocol))
            .collect();
        let mut frames = self.frames;
        for (mount, kind) in kinds {
            if kind == ProtocolKind::Frame {
                if mount != Mount::default() {
                    return Err(BuildError::Mount(kind, MountError::no_place(kind)));
                }
                frames = true;
                continue;
            }
            let protocol = match (kind, &self.methods) {
                // With the XML-RPC settings of the methods.
                (ProtocolKind::XmlRpc, Some(methods)) => methods.xmlrpc_wire(service).map(boxed),
                _ => kind.server(service),
            };
            let protocol = protocol.map_err(|error| BuildError::Mount(kind, error))?;
            protocols.push((mount, protocol));
        }
        let over_xmlrpc = protocols.iter().any(|(_, protocol)| is_xmlrpc(&**protocol));
        let has_operations = service.operations().len() > 0;
        if protocols.is_empty() && !frames && (has_operations || self.methods.is_none()) {
            return Err(BuildError::NoProtocol);
        }
        let methods = match self.methods {
            None => None,
            Some(methods) => {
                let none = ServiceHandle::empty();
                let offered = match over_xmlrpc {
                    true => service,
                    false => none.service(),
                };
                for path in methods.paths() {
                    // At any mount: each XML-RPC protocol of the server offers the methods.
                    let is_offered = |(_, protocol): &(Mount, Box<dyn ServerProtocol>)| {
                        is_xmlrpc(&**protocol) && protocol.endpoint() == Some(&*path)
                    };
                    if !protocols.iter().any(is_offered) {
                        let protocol = methods
                            .xmlrpc_wire(offered)
                            .map_err(|error| BuildError::Mount(ProtocolKind::XmlRpc, error))?;
                        protocols.push((Mount::default(), boxed(protocol.at_path(path))));
                    }
                }
                let over_cbor = |(_, protocol): &(Mount, Box<dyn ServerProtocol>)| {
                    protocol.kind() == ProtocolKind::RpcV2Cbor
                };
                let model = protocols.iter().any(over_cbor).then(|| service.name());
                if let Some(wire) = methods.cbor_wire(model) {
                    // Before that of the model, which claims all calls of the service.
                    protocols.insert(0, (Mount::default(), Box::new(wire)));
                }
                let router = methods.build(over_xmlrpc.then_some(service));
                Some(router.map_err(BuildError::Methods)?)
            }
        };
        for (at, (mount, one)) in protocols.iter().enumerate() {
            let others = protocols[at + 1..].iter();
            let mut others = others.filter(|(other, _)| other == mount);
            if let Some(conflict) = others.find_map(|(_, other)| conflict(&**one, &**other)) {
                return Err(BuildError::Conflict(mount.clone(), conflict));
            }
        }

        #[cfg(feature = "websocket")]
        let websockets = {
            let mut endpoints = crate::websocket::Endpoints::default();
            for (path, endpoint) in self.websockets {
                let is_path = path.starts_with('/') && !path.contains(['?', '#']);
                if !is_path || !endpoints.add(&path, endpoint) {
                    return Err(BuildError::WebSocketPath(path));
                }
            }
            if endpoints.has_frames() && !frames {
                return Err(BuildError::NoFrames);
            }
            endpoints
        };
        if frames
            && !self.frames_bypass_layers
            && !(self.http_layers.is_empty() && self.head_layers.is_empty())
        {
            return Err(BuildError::FramesBypassLayers);
        }
        let mut handlers: Vec<Option<Arc<dyn Handler>>> = Vec::new();
        for operation in service.operations() {
            let index = operation.index() as usize;
            handlers.resize_with(handlers.len().max(index + 1), || None);
            let own = self
                .handlers
                .iter()
                .rev()
                .find(|(name, _)| name == operation.name());
            handlers[index] = own.map(|(_, handler)| Arc::clone(handler));
        }
        let known = |name: &str| service.find_operation(name).is_some();
        if let Some((name, _)) = self.handlers.iter().find(|(name, _)| !known(name)) {
            return Err(BuildError::UnknownOperation(name.clone()));
        }
        let unhandled: Vec<String> = service
            .operations()
            .filter(|operation| handlers[operation.index() as usize].is_none())
            .map(|operation| operation.name().to_owned())
            .collect();
        if !unhandled.is_empty() {
            return Err(BuildError::Unhandled(unhandled));
        }

        let limit = self.limits.bytes();
        let memory = self.body_memory.unwrap_or(limit.max(DEFAULT_BODY_MEMORY));
        if memory < limit {
            return Err(BuildError::BodyMemory(memory, limit));
        }
        if self.connections == 0 {
            return Err(BuildError::NoConnections);
        }

        let validator = match self.validation {
            Validation::Off => None,
            Validation::All => Some(Validator::new(service).map_err(BuildError::Pattern)?),
            Validation::WithoutUncheckedPatterns => {
                let (validator, unchecked) = Validator::with_unchecked_patterns(service);
                for pattern in unchecked {
                    tracing::warn!("{pattern}: this pattern is not checked");
                }
                Some(validator)
            }
        };
        let layered = handlers.iter().map(|handler| {
            let handler = Arc::clone(handler.as_ref()?);
            let (first, rest) = self.call_layers.split_first()?;
            let base = service_fn(move |call: Call| handler.call(call));
            let base = first(BoxCloneSyncService::new(base));
            Some(rest.iter().fold(base, |inner, layer| layer(inner)))
        });
        let layered = layered.collect();
        let head = (!self.head_layers.is_empty()).then(|| {
            let base = service_fn(|routed: RoutedCall| async move { routed.answer().await });
            let base: HeadService = BoxCloneSyncService::new(base);
            self.head_layers
                .into_iter()
                .fold(base, |inner, layer| layer(inner))
        });
        let rates = RequestRates {
            firewall: self.firewall,
            callers: self.callers,
        };
        let has_limits = !rates.is_empty() || self.cross_origin.is_some() || self.calls.is_some();
        let gate = has_limits.then(|| Gate {
            cross_origin: self.cross_origin,
            calls: self.calls.map(CallLimit::new),
        });
        let mounts = Mounts::new(protocols);
        let frames = frames.then(|| Arc::new(Table::new(&self.service, methods.as_ref())));
        let indices = || 0..handlers.len() as u32;
        let find = |direction| Engine::find_event_streams(indices(), &self.service, direction);
        let (input_events, output_events) = (find(Direction::Request), find(Direction::Response));
        let engine = Engine {
            input_events,
            output_events,
            service: self.service,
            methods,
            handlers,
            layered,
            protocols: Arc::clone(&mounts.protocols),
            limits: self.limits,
            validator,
            memory: Arc::new(Memory::new(memory)),
            decoding: decoding::pool(),
            rates,
        };
        let app = App {
            engine: Arc::new(engine),
            mounts,
            head,
            frames,
            flow: Arc::new(Flow::new(self.frame_limits)),
            topics: self.topics,
            #[cfg(feature = "websocket")]
            websockets,
            timeouts: self.timeouts.capped(),
            stream_bytes: self.stream_bytes,
            // The semaphore panics with more permits.
            connections: Arc::new(Semaphore::new(self.connections.min(Semaphore::MAX_PERMITS))),
            half_close: self.half_close,
            trust_remote_scgi: self.trust_remote_scgi,
            request_ids: self.request_ids,
            pages: self.pages,
            authenticators: self.authenticators,
            body_filters: self.body_filters,
            gate,
            unoffered: UnofferedProtocols::new(self.missing_protocol_hint),
        };
        let mut server = Server {
            app: Arc::new(app),
            http: None,
        };
        if !self.http_layers.is_empty() {
            let base = HttpService::new(InnerService(Arc::clone(&server.app)));
            server.http = Some(
                self.http_layers
                    .into_iter()
                    .fold(base, |inner, layer| layer(inner)),
            );
        }
        Ok(server)
    }
}

fn boxed(protocol: XmlRpc) -> Box<dyn ServerProtocol> {
    Box::new(protocol)
}

fn is_xmlrpc(protocol: &dyn ServerProtocol) -> bool {
    protocol.kind() == ProtocolKind::XmlRpc
}
