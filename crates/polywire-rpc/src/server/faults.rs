//! Faults as HTTP responses, in the protocol of the caller.

use bytes::Bytes;
use http::Response;
use polywire_protocol::{Fault, FaultKind};

use super::app::{App, Called};
use super::gate::overloaded;
use crate::Context;

impl App {
    /// A handler has taken longer than it may.
    pub(super) fn late(&self, called: &Called) -> Fault {
        let message = format!("{} took too long", self.name(called));
        Fault::new(FaultKind::DeadlineExceeded, message)
    }

    /// Its name, or nothing if it is not known.
    fn name<'a>(&'a self, called: &'a Called) -> &'a str {
        match called {
            Called::Unknown => "",
            Called::Operation(index) => self.service.operation(*index).name(),
            Called::Method(entry) => entry.name(),
        }
    }

    /// Whether a caller asks for details of a fault that its protocol leaves out otherwise.
    pub(crate) fn wants_detail(&self, context: &Context) -> bool {
        self.mounts.protocols[context.mount as usize].wants_detail(&context.head)
    }

    pub(crate) fn fault(&self, protocol: usize, called: &Called, fault: &Fault) -> Response<Bytes> {
        let mut response = self.encode_fault(protocol, called, fault);
        if fault.kind() == FaultKind::Overloaded {
            overloaded(&mut response);
        }
        response
    }

    fn encode_fault(&self, protocol: usize, called: &Called, fault: &Fault) -> Response<Bytes> {
        let name = self.name(called);
        let operation = match called {
            Called::Operation(index) => Some(self.service.operation(*index)),
            _ => None,
        };
        if fault.kind() == FaultKind::Internal {
            let reason = std::error::Error::source(fault);
            tracing::error!(
                operation = name,
                reason = reason.map(tracing::field::display),
                "internal fault"
            );
        }
        let protocol = &self.mounts.protocols[protocol];
        let Some(shape) = fault.shape_in(operation) else {
            if fault.kind() == FaultKind::Modelled {
                tracing::error!(
                    operation = name,
                    error = fault.shape(),
                    "an error that the model does not allow here, so the caller gets an internal fault"
                );
            }
            return protocol.encode_other(fault);
        };
        protocol
            .encode_error(shape, fault)
            .unwrap_or_else(|reason| {
                tracing::error!(
                    operation = name,
                    error = fault.shape(),
                    %reason,
                    "an error that does not fit the model, so the caller gets an internal fault"
                );
                protocol.encode_other(&Fault::internal(reason))
            })
    }
}
