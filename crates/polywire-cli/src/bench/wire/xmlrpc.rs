//! Calls over XML-RPC, without a model.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use polywire::rpc::connect::Proxy;
use polywire::rpc::tls::ClientTls;
use polywire::rpc::xmlrpc::Client;
use polywire::schema::{Member, Value};

use super::{About, Asked, Connect, Expected, Outcome, Wire, kind};
use crate::Failure;
use crate::bench::recording::Wrong;
use crate::call::{Headers, ServiceArguments, given};
use crate::xmlrpc::input::{json, with_types};

/// A call over XML-RPC.
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
    expected: Expected,
}

impl XmlRpc {
    pub(super) fn new(asked: Asked<'_>, service: &ServiceArguments) -> Result<Self, Failure> {
        let Some(method) = asked.operation else {
            return Err(Failure::usage("--xmlrpc takes the name of a method"));
        };
        let named = service.header.iter().flat_map(|Headers(all)| all);
        let call = Call {
            url: service.user.url(asked.url)?,
            user: service.user.credentials()?,
            headers: named.cloned().collect(),
            tls: service.way.tls()?,
            proxy: service.way.proxy()?,
            deadline: asked.deadline,
            method: method.to_owned(),
            parameters: parameters(asked.input.unwrap_or("[]"))?,
            expected: Expected::new(asked.expectation, Member::DOCUMENT)?,
        };
        // What is wrong with it is said before anything begins.
        call.client()?;
        Ok(Self(Arc::new(call)))
    }

    pub(super) fn about(&self) -> About {
        About {
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

    /// The URL as the client shows it: without secrets.
    fn shown(&self) -> String {
        let client = self.client();
        client.map_or_else(|_| String::new(), |client| client.url().to_owned())
    }
}

/// An array is the list of parameters; anything else is the only one.
fn parameters(text: &str) -> Result<Vec<Value>, Failure> {
    let value = json(&given(text)?);
    let value = value.map_err(|error| Failure::usage(format!("the parameters: {error}")))?;
    let value =
        with_types(value).map_err(|reason| Failure::usage(format!("the parameters: {reason}")))?;
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

/// A client with its pool of connections.
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
            Err(error) => Err(Wrong::new(kind(&error), error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_the_parameters() {
        assert_eq!(parameters("[1, 2]").unwrap().len(), 2);
        assert_eq!(parameters("{\"a\": 1}").unwrap().len(), 1);
        assert!(parameters("x").is_err());
    }
}
