//! Faults in the protocol of the caller.

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderValue, Response, StatusCode};
use polywire_protocol::{Fault, FaultKind, ServerProtocol};

use super::{Engine, Target};
use crate::Context;
use crate::server::ConnectionFault;

impl Engine {
    /// Whether a caller over HTTP asks for details of a fault that its protocol leaves out otherwise.
    pub(crate) fn wants_detail(&self, context: &Context) -> bool {
        self.protocols[context.mount as usize].wants_detail(&context.head)
    }

    /// The response to a call over HTTP that ends in a fault. `target` is what was called, as far as that is known.
    pub(crate) fn fault(
        &self,
        protocol: usize,
        target: Option<&Target>,
        fault: &Fault,
    ) -> Response<Bytes> {
        self.fault_in(&*self.protocols[protocol], target, fault)
    }

    /// Like [`Self::fault`], in a protocol that need not be mounted.
    pub(crate) fn fault_in(
        &self,
        protocol: &dyn ServerProtocol,
        target: Option<&Target>,
        fault: &Fault,
    ) -> Response<Bytes> {
        if let Some(of_connection) = ConnectionFault::of(fault) {
            return of_connection.response();
        }
        let mut response = self.encode_fault(protocol, target, fault);
        if fault.kind() == FaultKind::Overloaded {
            overloaded(&mut response);
        }
        response
    }

    fn encode_fault(
        &self,
        protocol: &dyn ServerProtocol,
        target: Option<&Target>,
        fault: &Fault,
    ) -> Response<Bytes> {
        let name = target.map_or("", |target| target.name(self));
        let operation = target.and_then(|target| target.operation(self));
        log_internal(fault, name);
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

/// Logs the reason of an internal fault, of which the caller does not learn. `operation` is empty if it is not known.
pub(crate) fn log_internal(fault: &Fault, operation: &str) {
    if fault.kind() == FaultKind::Internal {
        let reason = std::error::Error::source(fault);
        let reason = reason.map(tracing::field::display);
        tracing::error!(operation, reason, "internal fault");
    }
}

/// Sets the status and `Retry-After` of a response that rejects a request because of overload, for proxies and load
/// balancers, which do not know the protocol.
pub(crate) fn overloaded(response: &mut Response<Bytes>) {
    let status = response.status_mut();
    if !status.is_server_error() && *status != StatusCode::TOO_MANY_REQUESTS {
        *status = StatusCode::SERVICE_UNAVAILABLE;
    }
    let headers = response.headers_mut();
    let one_second = HeaderValue::from_static("1");
    headers.entry(RETRY_AFTER).or_insert(one_second);
}
