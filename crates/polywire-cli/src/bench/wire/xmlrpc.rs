//! Calls over XML-RPC, without a model.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use polywire::rpc::connect::Proxy;
use polywire::rpc::tls::ClientTls;
use polywire::rpc::xmlrpc::Client;
use polywire::schema::{Member, Value};

use super::{Connect, Outcome, ReplyChecker, TargetInfo, TargetSpec, Wire, kind};
use crate::Failure;
use crate::bench::recording::CallFailure;
use crate::call::{Headers, ServiceArguments, read_argument};
use crate::xmlrpc::input::{json, with_types};

/// A prepared call over XML-RPC.
#[derive(Clone, Debug)]
pub(in crate::bench) struct XmlRpc(Arc<Call>);

#[derive(Debug)]
struct Call {
    url: String,
    user: Option<(String, String)>,
    headers: Vec<(HeaderName, HeaderValue)>,
    tls: ClientTls,
    proxy: Option<Proxy>,
    deadline: Duration,
    method: String,
    parameters: Vec<Value>,
    expected: ReplyChecker,
}

impl XmlRpc {
    pub(super) fn new(asked: TargetSpec<'_>, service: &ServiceArguments) -> Result<Self, Failure> {
        let Some(method) = asked.operation else {
            return Err(Failure::usage("--xmlrpc requires the name of a method"));
        };
        let named = service.header.iter().flat_map(|Headers(all)| all);
        let call = Call {
            url: service.user.url(asked.url)?,
            user: service.user.credentials()?,
            headers: named.cloned().collect(),
            tls: service.transport.tls()?,
            proxy: service.transport.proxy()?,
            deadline: asked.deadline,
            method: method.to_owned(),
            parameters: parameters(asked.input.unwrap_or("[]"))?,
            expected: ReplyChecker::new(asked.expectation, Member::DOCUMENT)?,
        };
        // Report invalid options before the run starts.
        call.client()?;
        Ok(Self(Arc::new(call)))
    }

    pub(super) fn info(&self) -> TargetInfo {
        TargetInfo {
            url: self.0.shown(),
            wire: "xmlRpc".to_owned(),
            operation: self.0.method.clone(),
        }
    }
}

impl Call {
    fn client(&self) -> Result<Client, Failure> {
        let builder = Client::builder(&self.url).map_err(Failure::usage)?;
        let mut builder = builder
            .deadline(self.deadline)
            .tls(self.tls.clone())
            .proxy(self.proxy.clone());
        if let Some((user, password)) = &self.user {
            builder = builder.basic(user, password);
        }
        for (name, value) in &self.headers {
            builder = builder.header(name.clone(), value.clone());
        }
        builder.build().map_err(Failure::usage)
    }

    /// Returns the URL without secrets.
    fn shown(&self) -> String {
        let client = self.client();
        client.map_or_else(|_| String::new(), |client| client.url().to_owned())
    }
}

/// Parses parameters: an array is the list of parameters, any other value is a single parameter.
fn parameters(text: &str) -> Result<Vec<Value>, Failure> {
    let value = json(&read_argument(text)?);
    let value = value.map_err(|error| Failure::usage(format!("invalid parameters: {error}")))?;
    let value = with_types(value)
        .map_err(|reason| Failure::usage(format!("invalid parameters: {reason}")))?;
    Ok(match value {
        Value::List(parameters) => parameters,
        one => vec![one],
    })
}

impl Connect for XmlRpc {
    type Wire = Connections;

    async fn connect(&self) -> Result<Connections, Failure> {
        Ok(Connections {
            client: self.0.client()?,
            call: Arc::clone(&self.0),
        })
    }
}

/// A client with its connection pool.
#[derive(Debug)]
pub(in crate::bench) struct Connections {
    client: Client,
    call: Arc<Call>,
}

impl Wire for Connections {
    async fn call(&self) -> Outcome {
        let call = &self.call;
        let result = self.client.call_values(&call.method, &call.parameters);
        match result.await {
            Ok(reply) => call.expected.check(&reply),
            Err(error) => Err(CallFailure::new(kind(&error), error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_parameter_lists() {
        assert_eq!(parameters("[1, 2]").unwrap().len(), 2);
        assert_eq!(parameters("{\"a\": 1}").unwrap().len(), 1);
        assert!(parameters("x").is_err());
    }
}
