//! What is called, and how: the service, its operation, the input, by what the command line says.

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
use crate::offers::{Offer, Place, choose};
use crate::target::Target;
use crate::user::UserArguments;
use crate::way::WayArguments;
use crate::{Failure, Report, paste};

/// Which service, over which protocol, as whom.
#[derive(Debug, clap::Args)]
// One file for each --model: more would take the URL for a file.
#[command(mut_arg("files", |files| files.num_args(1)))]
pub(crate) struct ServiceArguments {
    #[command(flatten)]
    pub(super) model: ModelArguments,
    #[arg(long, short, value_parser = protocol)]
    #[arg(help = format!(
        "The protocol: one of {}. By default the first that the model names, of those that the \
         server says it offers. It is called at the path where the server offers it. Calls over \
         frames (tcp://, tcp+tls://, udp:// and unix://) need no protocol",
        names(ProtocolKind::http())
    ))]
    pub(super) protocol: Option<ProtocolKind>,
    #[command(flatten)]
    pub(crate) user: UserArguments,
    /// Add a header to the request, and to that for the model; those of a file, one
    /// a line, by @FILE.
    #[arg(long, short = 'H', value_name = "NAME: VALUE", value_parser = headers)]
    pub(crate) header: Vec<Headers>,
    #[command(flatten)]
    pub(crate) way: WayArguments,
}

/// A call over HTTP that is ready to be made.
#[derive(Debug)]
pub(crate) struct HttpCall {
    pub(crate) service: ServiceHandle,
    pub(crate) operation: String,
    pub(crate) input: Map,
    pub(crate) kind: ProtocolKind,
    target: Target,
    /// The path where the server offers the protocol, appended to the path of the URL.
    mount: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    tls: tls::ClientTls,
    proxy: Option<connect::Proxy>,
    deadline: Duration,
}

impl HttpCall {
    /// Where it goes, without what may be a secret.
    pub(crate) fn url(&self) -> String {
        let base = self.base();
        base.split('?').next().unwrap_or_default().to_owned()
    }

    /// Where the paths of the protocol begin.
    fn base(&self) -> String {
        let base = self.target.base();
        let at = base.find('?').unwrap_or(base.len());
        let (path, query) = base.split_at(at);
        format!("{path}{}{query}", self.mount)
    }

    /// A client with connections of its own.
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

    /// The operation.
    pub(crate) fn operation(&self) -> Result<Operation<'_>, Failure> {
        find(&self.service, &self.operation)
    }
}

impl ServiceArguments {
    /// Finds out what is called: without an operation that which is easiest to call, with an input
    /// for it.
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
            // Who calls a service can do nothing about the warnings of its model.
            (self.model.load()?.model, None)
        } else {
            self.told(&target, &headers, deadline).await?
        };
        let service = self.model.service(&model)?;
        let (operation, input) = chosen(&model, &service, operation, input)?;
        let named = service.service().protocols();
        let named: Vec<ProtocolKind> = named.filter_map(ProtocolKind::from_name).collect();
        let (kind, mount) = match offers {
            Some((offers, path)) => {
                let place = Place {
                    host: target.host(),
                    path: &path,
                };
                choose(&offers, place, self.protocol, &named)?
            }
            None => {
                let Some(kind) = self.protocol.or(named.first().copied()) else {
                    return Err(Failure::usage(
                        "the model names no protocol that is known here: use --protocol",
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
            tls: self.way.tls()?,
            proxy: self.way.proxy()?,
            deadline,
        })
    }

    /// Whether frames are meant by a URL. What they have not is refused then.
    pub(crate) fn is_over_frames(&self, url: &str) -> Result<bool, Failure> {
        if !frames::is_meant(url, self.protocol)? {
            return Ok(false);
        }
        if self.way.is_about_tls() && !url.starts_with("tcp+tls:") {
            return Err(Failure::usage(format!(
                "`{url}`: TLS is spoken at tcp+tls://HOST:PORT"
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

    /// Fetches the model of the server of a URL and, if the server lists them, the protocols that it offers.
    /// The string is the rest of the URL's path after that of the server.
    async fn told(
        &self,
        target: &Target,
        headers: &[(HeaderName, HeaderValue)],
        deadline: Duration,
    ) -> Result<(Model, Option<(Vec<Offer>, String)>), Failure> {
        let fetch = |base| fetch_model(base, headers, &self.way, deadline);
        let (base, origin) = (target.base(), target.origin());
        // A query is the service's, and may hold a secret.
        let base = base.split('?').next().unwrap_or_default();
        let (model, server) = match self.protocol {
            Some(ProtocolKind::XmlRpc) => (fetch(origin).await?, origin),
            // Before a proxy the server is below the path; at a mount the path
            // is below the server.
            _ if base != origin => match fetch(base).await {
                Ok(model) => (model, base),
                Err(failure) => (fetch(origin).await.map_err(|_| failure)?, origin),
            },
            _ => (fetch(base).await?, base),
        };
        let offers = fetch_offers(server, headers, &self.way, deadline).await;
        let path = base.strip_prefix(server).unwrap_or_default();
        Ok((model, offers.map(|offers| (offers, path.to_owned()))))
    }

    /// The options of a client of frames.
    pub(super) fn frames_options(&self) -> Result<FramesOptions, Failure> {
        Ok(FramesOptions {
            headers: self.headers()?,
            tls: self.way.tls()?,
            proxy: self.way.proxy()?,
        })
    }

    /// The model of a server that speaks frames: what --model says, or what the server tells over
    /// HTTP on the same port, if it does.
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
        Ok(fetch_model(base, &headers, &self.way, deadline).await.ok())
    }
}

/// The operation of this name and its input, or that which is easiest to call.
pub(super) fn chosen(
    model: &Model,
    service: &ServiceHandle,
    operation: Option<&str>,
    input: Option<&str>,
) -> Result<(String, Map), Failure> {
    let Some(name) = operation else {
        let easiest = paste::easiest(model, service);
        let (operation, input) = easiest.ok_or_else(|| {
            Failure::usage("the service has no operation that can be called without being told how")
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

/// The model that a Polywire server tells.
async fn fetch_model(
    base: &str,
    headers: &[(HeaderName, HeaderValue)],
    way: &WayArguments,
    deadline: Duration,
) -> Result<Model, Failure> {
    let target = format!("{base}/_polywire/model.json");
    let reason = |reason: &dyn std::fmt::Display| {
        let message =
            format!("no model at {target} ({reason}): give the service's model with --model FILE");
        Failure::transport(message).reported(Report::Error("no_model"))
    };
    // As the call has them: what lets the call in shall let this in.
    let headers = headers.iter().cloned().collect();
    let (tls, proxy) = (way.tls()?, way.proxy()?);
    let response = connect::get(&target, headers, tls, proxy, 64 << 20, deadline).await;
    // It tells the causes too: "connection refused" is what helps.
    let response = response.map_err(|error| {
        let advice = way.advice(&*error);
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

/// Fetches the list of protocols that a Polywire server offers. `None` if there is none, as with other servers. If the
/// server cannot be reached, the call reports that.
async fn fetch_offers(
    base: &str,
    headers: &[(HeaderName, HeaderValue)],
    way: &WayArguments,
    deadline: Duration,
) -> Option<Vec<Offer>> {
    let target = format!("{base}/_polywire/protocols.json");
    let headers = headers.iter().cloned().collect();
    let (tls, proxy) = (way.tls().ok()?, way.proxy().ok()?);
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

/// What was given as JSON, or what stands on standard input.
pub(crate) fn given(argument: &str) -> Result<String, Failure> {
    let mut text = argument.to_owned();
    if argument == "-" {
        text.clear();
        let read = std::io::stdin().lock().read_to_string(&mut text);
        read.map_err(|error| Failure::usage(format!("standard input: {error}")))?;
    }
    Ok(text)
}

fn read_input(argument: &str, shape: Schema<'_>) -> Result<Map, Failure> {
    let text = given(argument)?;
    let mut map = Map::new();
    let mut read = || {
        let mut decoder = JsonDecoder::from_str(&text, JsonProfile::HUMAN, &Limits::DEFAULT)?;
        decode_structure(&mut map, shape.root(), &mut decoder)?;
        decoder.finish()
    };
    read().map_err(|error| Failure::usage(format!("the input: {error}")))?;
    Ok(map)
}
