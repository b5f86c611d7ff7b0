//! What all wires share: operations, methods and their limits.

use std::sync::Arc;

use polywire_protocol::{ServerProtocol, Validator};
use polywire_schema::Limits;

use super::memory::Memory;
use crate::blocking::BlockingPool;
use crate::handler::CallService;
use crate::layers::RequestRates;
use crate::methods::Router;
use crate::{Handler, ServiceHandle};

/// The operations and methods of a server, and what their calls share on all wires: limits, memory, threads.
pub(crate) struct Engine {
    pub(crate) service: ServiceHandle,
    /// Methods by their names, if there are any.
    pub(crate) methods: Option<Router>,
    /// Handlers by the index of their operation.
    pub(crate) handlers: Vec<Option<Arc<dyn Handler>>>,
    /// Handlers behind layers, if there are any.
    pub(crate) layered: Vec<Option<CallService>>,
    /// The protocols over HTTP, by [`Context::mount`](crate::Context::mount).
    pub(crate) protocols: Arc<[Box<dyn ServerProtocol>]>,
    pub(crate) limits: Limits,
    /// The operations with a stream of events in the input, and those with one in the output.
    pub(crate) input_events: Vec<bool>,
    pub(crate) output_events: Vec<bool>,
    /// Checks constraints of inputs, unless that is disabled.
    pub(crate) validator: Option<Validator>,
    pub(crate) memory: Arc<Memory>,
    /// Decodes large bodies.
    pub(crate) decoding: BlockingPool,
    pub(crate) rates: RequestRates,
}
