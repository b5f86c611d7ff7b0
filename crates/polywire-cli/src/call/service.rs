//! The service, operation and input of a call.

use std::io::Read;
use std::time::Duration;

use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use polywire::codec::json::{JsonDecoder, JsonProfile};
use polywire::model::Model;
use polywire::prelude::*;
use polywire::protocol::XmlRpc;
use polywire::rpc::connect::{self, TransportError};
use polywire::rpc::tls;
use polywire::schema::{Operation, Schema, decode_structure};

use super::frames::{self, FramesOptions};
use super::header::{Headers, basic, headers};
use crate::models::{ModelArguments, from_json, names, protocol};
use crate::offers::{Offer, UrlParts, choose};
use crate::target::Target;
use crate::transport::TransportArguments;
use crate::user::UserArguments;
use crate::{Failure, Report, paste};

/// Options that select the service, the protocol and the caller.
#[derive(Debug, clap::Args)]
// Each --model takes one file; otherwise it would consume the URL.
#[command(mut_arg("files", |files| files.num_args(1)))]
pub(crate) struct ServiceArguments {
    #[command(flatten)]
    pub(super) model: ModelArguments,
    #[arg(long, short, value_parser = protocol)]
    #[arg(help = format!(
        "The protocol: one of {}. By default, the first protocol of the model that the server \
        offers. It is called at the path where the server offers it. Not used over frames (tcp://, \
        tcp+tls://, udp:// and unix://)",
        names(ProtocolKind::http())
    ))]
    pub(super) protocol: Option<ProtocolKind>,
    #[command(flatten)]
    pub(crate) user: UserArguments,
    /// Add a header to the call and to the request for the model, or all headers in a file with
    /// @FILE, one per line
    #[arg(long, short = 'H', value_name = "NAME: VALUE", value_parser = headers)]
    pub(crate) header: Vec<Headers>,
    #[command(flatten)]
    pub(crate) transport: TransportArguments,
}

/// A prepared call over HTTP.
#[derive(Debug)]
pub(crate) struct HttpCall {
    pub(crate) service: ServiceHandle,
    pub(crate) operation: String,
    pub(crate) input: Map,
    pub(crate) kind: ProtocolKind,
    target: Target,
    /// The mount of the protocol, appended to the path of the URL.
    mount: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    tls: tls::ClientTls,
    proxy: Option<connect::Proxy>,
    deadline: Duration,
}

impl HttpCall {
    /// Returns the URL without secrets.
    pub(crate) fn url(&self) -> String {
        let base = self.base();
        base.split('?').next().unwrap_or_default().to_owned()
    }

    /// Returns the URL that the paths of the protocol are appended to.
    fn base(&self) -> String {
        let base = self.target.base();
        let at = base.find('?').unwrap_or(base.len());
        let (path, query) = base.split_at(at);
        format!("{path}{}{query}", self.mount)
    }

    /// Creates a client with its own connections.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let service = &self.service;
        let mut builder = Client::builder(service.clone(), self.kind)
            .deadline(self.deadline)
            .tls(self.tls.clone())
            .proxy(self.proxy.clone());
        for (name, value) in &self.headers {
            builder = builder.header(name.clone(), value.clone());
        }
        let client = match self.target.endpoint() {
            Some(path) if self.kind == ProtocolKind::XmlRpc => {
                let protocol = XmlRpc::new(service.service()).map_err(Failure::usage)?;
                let protocol = Box::new(protocol.at_path(path));
                builder
                    .custom_protocol(protocol)
                    .connect(self.target.origin())
            }
            _ => builder.connect(&self.base()),
        };
        client.map_err(Failure::usage)
    }

    pub(crate) fn operation(&self) -> Result<Operation<'_>, Failure> {
        find(&self.service, &self.operation)
    }
}

impl ServiceArguments {
    /// Prepares a call over HTTP. Without an operation, selects the operation that is easiest to
    /// call, and an input for it.
    pub(crate) async fn http(
        &self,
        url: &str,
        operation: Option<&str>,
        input: Option<&str>,
        deadline: Duration,
    ) -> Result<HttpCall, Failure> {
        let target = Target::parse(url)?;
        let headers = self.headers()?;
        let (model, offers) = if self.model.is_given() {
            // Callers cannot fix the warnings of the service's model.
            (self.model.load()?.model, None)
        } else {
            self.fetch_service(&target, &headers, deadline).await?
        };
        let service = self.model.service(&model)?;
        let (operation, input) = choose_operation(&model, &service, operation, input)?;
        let named = service.service().protocols();
        let named: Vec<ProtocolKind> = named.filter_map(ProtocolKind::from_name).collect();
        let (kind, mount) = match offers {
            Some((offers, path)) => {
                let url = UrlParts {
                    host: target.host(),
                    path: &path,
                };
                choose(&offers, url, self.protocol, &named)?
            }
            None => {
                let Some(kind) = self.protocol.or(named.first().copied()) else {
                    return Err(Failure::usage(
                        "the model has no supported protocol: use --protocol",
                    ));
                };
                (kind, String::new())
            }
        };
        Ok(HttpCall {
            mount,
            service,
            operation,
            input,
            kind,
            target,
            headers,
            tls: self.transport.tls()?,
            proxy: self.transport.proxy()?,
            deadline,
        })
    }

    /// Whether the URL is for frames. Returns an error for options that frames do not support.
    pub(crate) fn is_over_frames(&self, url: &str) -> Result<bool, Failure> {
        if !frames::is_frames_url(url, self.protocol)? {
            return Ok(false);
        }
        if self.transport.has_tls_options() && !url.starts_with("tcp+tls:") {
            return Err(Failure::usage(format!(
                "`{url}`: TLS options require tcp+tls://HOST:PORT"
            )));
        }
        Ok(true)
    }

    fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
        let mut headers = Vec::new();
        if let Some((user, password)) = self.user.credentials()? {
            headers.push((AUTHORIZATION, basic(&user, &password)?));
        }
        let named = self.header.iter().flat_map(|Headers(all)| all);
        headers.extend(named.cloned());
        Ok(headers)
    }

    /// Fetches the model from the server, and the protocols that the server offers, if it lists
    /// them. The string is the rest of the URL's path after that of the server.
    async fn fetch_service(
        &self,
        target: &Target,
        headers: &[(HeaderName, HeaderValue)],
        deadline: Duration,
    ) -> Result<(Model, Option<(Vec<Offer>, String)>), Failure> {
        let fetch = |base| fetch_model(base, headers, &self.transport, deadline);
        let (base, origin) = (target.base(), target.origin());
        // Omit the query, which may contain a secret.
        let base = base.split('?').next().unwrap_or_default();
        let (model, server) = match self.protocol {
            Some(ProtocolKind::XmlRpc) => (fetch(origin).await?, origin),
            // Behind a proxy, the server is below the path of the URL. For a mount, the path is
            // below the server.
            _ if base != origin => match fetch(base).await {
                Ok(model) => (model, base),
                Err(failure) => (fetch(origin).await.map_err(|_| failure)?, origin),
            },
            _ => (fetch(base).await?, base),
        };
        let offers = fetch_offers(server, headers, &self.transport, deadline).await;
        let path = base.strip_prefix(server).unwrap_or_default();
        Ok((model, offers.map(|offers| (offers, path.to_owned()))))
    }

    /// Returns the options of frame clients.
    pub(super) fn frames_options(&self) -> Result<FramesOptions, Failure> {
        Ok(FramesOptions {
            headers: self.headers()?,
            tls: self.transport.tls()?,
            proxy: self.transport.proxy()?,
        })
    }

    /// Returns the model for a call over frames: the one of --model, or the one that the server
    /// publishes over HTTP on the same port.
    pub(super) async fn model_of_frames(
        &self,
        base: Option<&str>,
        deadline: Duration,
    ) -> Result<Option<Model>, Failure> {
        if self.model.is_given() {
            return Ok(Some(self.model.load()?.model));
        }
        let Some(base) = base else {
            return Ok(None);
        };
        let headers = self.headers()?;
        Ok(fetch_model(base, &headers, &self.transport, deadline)
            .await
            .ok())
    }
}

/// Returns an operation and its input. Without a name, selects the operation that is easiest to
/// call.
pub(super) fn choose_operation(
    model: &Model,
    service: &ServiceHandle,
    operation: Option<&str>,
    input: Option<&str>,
) -> Result<(String, Map), Failure> {
    let Some(name) = operation else {
        let easiest = paste::easiest_call(model, service);
        let (operation, input) = easiest.ok_or_else(|| {
            Failure::usage("the service has no operation that can be called without input: specify an operation")
        })?;
        return Ok((operation.name().to_owned(), input));
    };
    let operation = find(service, name)?;
    let input = read_input(input.unwrap_or("{}"), operation.input())?;
    Ok((operation.name().to_owned(), input))
}

fn find<'s>(service: &'s ServiceHandle, name: &str) -> Result<Operation<'s>, Failure> {
    service
        .find_operation(name)
        .ok_or_else(|| unknown_operation(name, service))
}

/// Fetches the model of a Polywire server.
async fn fetch_model(
    base: &str,
    headers: &[(HeaderName, HeaderValue)],
    transport: &TransportArguments,
    deadline: Duration,
) -> Result<Model, Failure> {
    let target = format!("{base}/_polywire/model.json");
    let reason = |reason: &dyn std::fmt::Display| {
        let message = format!(
            "no model at {target} ({reason}); use --model FILE for the model of the service"
        );
        Failure::transport(message).reported(Report::Error("no_model"))
    };
    // Send the headers of the call, because the server may require authentication.
    let headers = headers.iter().cloned().collect();
    let (tls, proxy) = (transport.tls()?, transport.proxy()?);
    let response = connect::get(&target, headers, tls, proxy, 64 << 20, deadline).await;
    // The message includes the causes, such as "connection refused".
    let response = response.map_err(|error| {
        let advice = transport.advice(&*error);
        match error.downcast::<TransportError>() {
            Ok(error) => reason(&CallError::from(*error)).advised(advice),
            Err(error) => reason(&error),
        }
    })?;
    if !response.status().is_success() {
        return Err(reason(&response.status()));
    }
    let body = response.into_body();
    let text = std::str::from_utf8(&body).map_err(|error| reason(&error))?;
    from_json("model.json", text)
}

/// Fetches the list of protocols that a Polywire server offers. `None` if the server does not
/// publish one. If the server cannot be reached, the call itself reports the error.
async fn fetch_offers(
    base: &str,
    headers: &[(HeaderName, HeaderValue)],
    transport: &TransportArguments,
    deadline: Duration,
) -> Option<Vec<Offer>> {
    let target = format!("{base}/_polywire/protocols.json");
    let headers = headers.iter().cloned().collect();
    let (tls, proxy) = (transport.tls().ok()?, transport.proxy().ok()?);
    let response = connect::get(&target, headers, tls, proxy, 1 << 20, deadline).await;
    let response = response.ok()?;
    match response.status().is_success() {
        true => serde_json::from_slice(response.body()).ok(),
        false => None,
    }
}

fn unknown_operation(name: &str, service: &ServiceHandle) -> Failure {
    let names: Vec<&str> = service
        .service()
        .operations()
        .map(Operation::name)
        .collect();
    let list = names.join(", ");
    Failure::usage(format!(
        "{} has no operation {name}; it has {list}",
        service.service().id()
    ))
}

/// Returns a JSON argument, or reads it from standard input.
pub(crate) fn read_argument(argument: &str) -> Result<String, Failure> {
    let mut text = argument.to_owned();
    if argument == "-" {
        text.clear();
        let read = std::io::stdin().lock().read_to_string(&mut text);
        read.map_err(|error| Failure::usage(format!("standard input: {error}")))?;
    }
    Ok(text)
}

fn read_input(argument: &str, shape: Schema<'_>) -> Result<Map, Failure> {
    let text = read_argument(argument)?;
    let mut map = Map::new();
    let mut read = || {
        let mut decoder = JsonDecoder::from_str(&text, JsonProfile::HUMAN, &Limits::DEFAULT)?;
        decode_structure(&mut map, shape.root(), &mut decoder)?;
        decoder.finish()
    };
    read().map_err(|error| Failure::usage(format!("invalid input: {error}")))?;
    Ok(map)
}
