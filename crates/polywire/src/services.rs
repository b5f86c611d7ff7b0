//! Several services on one port.
//!
//! A [`Server`] has one service. [`ServiceLayer`] is a layer around the HTTP requests of one server
//! that passes the requests of other services to their servers. A request belongs to the first
//! service that one of these names, in this order:
//!
//! 1. a label of the host: `sqs` in `sqs.localhost` or `bucket.s3.localhost`;
//! 2. the header `X-Amz-Target`, up to the first dot, as protocols of AWS with JSON send it;
//! 3. the credential scope of a signature: `.../us-east-1/sqs/aws4_request` in `Authorization` or the
//!    parameter `X-Amz-Credential`. The signature is not checked;
//! 4. the path `/service/NAME/operation/...` of rpcv2Cbor and rpcv2Json;
//! 5. the parameter `Action` of the query, if only one service has such an operation;
//! 6. the path: the first service, with that of the layer before others, that has an operation there.
//!
//! Other requests go to the server with the layer. Services are named by their shape, endpoint
//! prefix, signing name and SDK id, in any case. Frames go to the server with the layer, which has
//! to allow it: [`ServerBuilder::frames_bypass_layers`](polywire_rpc::ServerBuilder).
//!
//! ```
//! use polywire::prelude::*;
//! use polywire::services::ServiceLayer;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # fn echo(name: &str) -> Result<(ServiceHandle, polywire::rpc::ServerBuilder), polywire::LoadError> {
//! #     let text = format!(r#"
//! #         $version: "2"
//! #         namespace example.{name}
//! #         service {name} {{ version: "1", operations: [Who] }}
//! #         operation Who {{ output := {{ name: String }} }}
//! #     "#);
//! #     let service = polywire::load_text("echo.smithy", &text)?;
//! #     let own = name.to_owned();
//! #     let builder = Server::builder(service.clone())
//! #         .protocol(ProtocolKind::RpcV2Cbor)
//! #         .operation("Who", dynamic(move |_: Map, _| {
//! #             let own = own.clone();
//! #             async move { Ok(Map::from_iter([("name", own)])) }
//! #         }));
//! #     Ok((service, builder))
//! # }
//! let (cats, cat_server) = echo("Cats")?;
//! let (dogs, dog_server) = echo("Dogs")?;
//! let layer = ServiceLayer::new(cats).with(dog_server.build()?);
//! let running = cat_server.http_layer(layer).build()?.listen("127.0.0.1:0".parse()?).await?;
//!
//! let url = format!("http://{}", running.address());
//! let client = Client::builder(dogs, ProtocolKind::RpcV2Cbor).connect(&url)?;
//! assert_eq!(client.call("Who", Map::new()).await?["name"].as_str(), Some("Dogs"));
//! # running.shutdown().await;
//! # Ok(()) }).map_err(|error: Box<dyn std::error::Error>| error)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, HOST};
use http::request::Parts;
use polywire_protocol::{Claim, HeadSummary, ProtocolKind, ServerProtocol};
use polywire_rpc::server::{HttpRequest, HttpResponse, HttpService, Mount};
use polywire_rpc::{Server, ServiceHandle};
use tower::{Layer, Service};

/// A layer that passes requests of other services to their servers.
#[derive(Clone, Debug)]
pub struct ServiceLayer(Arc<Services>);

#[derive(Clone)]
struct Services {
    /// Of the server with the layer.
    own: Names,
    /// The protocols of its model.
    protocols: Arc<[Box<dyn ServerProtocol>]>,
    others: Vec<(Names, Server)>,
}

/// The names of a service.
#[derive(Clone, Debug)]
struct Names {
    service: ServiceHandle,
    /// In lower case.
    names: Vec<String>,
}

impl ServiceLayer {
    /// A layer for a server of this service.
    #[must_use]
    pub fn new(own: ServiceHandle) -> Self {
        let service = own.service();
        let kinds = service.protocols().filter_map(ProtocolKind::from_name);
        // The server reports protocols that do not support the service.
        let protocols = kinds.filter_map(|kind| kind.server(service).ok()).collect();
        Self(Arc::new(Services {
            own: Names::of(own),
            protocols,
            others: Vec::new(),
        }))
    }

    /// Adds the server of another service.
    #[must_use]
    pub fn with(mut self, server: Server) -> Self {
        let names = Names::of(server.service().clone());
        Arc::make_mut(&mut self.0).others.push((names, server));
        self
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let others = self.others.iter().map(|(names, _)| &names.service);
        f.debug_list()
            .entry(&self.own.service)
            .entries(others)
            .finish()
    }
}

impl Names {
    fn of(handle: ServiceHandle) -> Self {
        let service = handle.service();
        let given = [
            service.name(),
            service.endpoint_prefix(),
            service.signing_name(),
            service.sdk_id(),
        ];
        let given = given.iter().filter(|name| !name.is_empty());
        // SDK ids can have spaces, which labels and paths cannot.
        let names = given.map(|name| name.to_ascii_lowercase().replace(' ', ""));
        let names = names.collect();
        Self {
            service: handle,
            names,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

impl Services {
    /// The server of a request. `None` for the server with the layer.
    fn choose(&self, head: &Parts) -> Option<&Server> {
        if head.uri.path().starts_with("/_polywire") {
            return None;
        }
        let named = |name: &str| {
            if self.own.has(name) {
                return Some(None);
            }
            let mut others = self.others.iter();
            others
                .find(|(own, _)| own.has(name))
                .map(|(_, server)| Some(server))
        };
        let by_host = || host(head)?.split('.').find_map(named);
        let header = |name: &str| head.headers.get(name)?.to_str().ok();
        let by_target = || named(header("x-amz-target")?.split('.').next()?);
        let by_scope = || named(signing_name(head)?);
        let by_path = || {
            named(
                head.uri
                    .path()
                    .strip_prefix("/service/")?
                    .split('/')
                    .next()?,
            )
        };
        by_host()
            .or_else(by_target)
            .or_else(by_scope)
            .or_else(by_path)
            .or_else(|| self.by_action(head))
            .or_else(|| self.by_route(head))
            .flatten()
    }

    /// By the operation that the query names.
    fn by_action(&self, head: &Parts) -> Option<Option<&Server>> {
        let action = parameter(head, "Action")?;
        self.only(|names| names.service.find_operation(action).is_some())
    }

    /// By the protocols that know the path.
    fn by_route(&self, head: &Parts) -> Option<Option<&Server>> {
        let summary = HeadSummary::new(head);
        let knows = |protocol: &dyn ServerProtocol| {
            protocol.claim(&summary) > Claim::No
                && protocol
                    .route(head)
                    .is_ok_and(|plan| plan.route().is_some())
        };
        if self.protocols.iter().any(|protocol| knows(&**protocol)) {
            return None;
        }
        let mut others = self.others.iter();
        let other = others.find(|(_, server)| {
            let mut mounts = server.mounts();
            mounts.any(|(mount, protocol)| *mount == Mount::default() && knows(protocol))
        });
        other.map(|(_, server)| Some(server))
    }

    /// The only service for which something holds.
    fn only(&self, holds: impl Fn(&Names) -> bool) -> Option<Option<&Server>> {
        let own = holds(&self.own).then_some(None);
        let others = self.others.iter().filter(|(names, _)| holds(names));
        let mut found = own
            .into_iter()
            .chain(others.map(|(_, server)| Some(server)));
        match (found.next(), found.next()) {
            (Some(one), None) => Some(one),
            _ => None,
        }
    }
}

/// The host without port. Addresses have no labels.
fn host(head: &Parts) -> Option<&str> {
    let host = match head.uri.host() {
        Some(host) => host,
        None => head.headers.get(HOST)?.to_str().ok()?,
    };
    let name = host.split(':').next()?;
    name.contains(|letter: char| letter.is_ascii_alphabetic())
        .then_some(name)
}

/// The service in the credential scope of a SigV4 signature, which only routes: nothing checks it.
fn signing_name(head: &Parts) -> Option<&str> {
    let header = || {
        let header = head.headers.get(AUTHORIZATION)?.to_str().ok()?;
        let (_, rest) = header.split_once("Credential=")?;
        rest.split([',', ' ']).next()
    };
    let scope = header().or_else(|| parameter(head, "X-Amz-Credential"))?;
    // Access keys can contain slashes: the end of the scope has a fixed form.
    let separator = if scope.contains('/') { "/" } else { "%2F" };
    let mut parts = scope.rsplit(separator);
    let end = parts.next()?;
    (end == "aws4_request").then(|| parts.next())?
}

/// A parameter of the query, without percent-decoding.
fn parameter<'h>(head: &'h Parts, name: &str) -> Option<&'h str> {
    let pairs = head.uri.query()?.split('&');
    let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
    pairs.find(|(own, _)| *own == name).map(|(_, value)| value)
}

impl Layer<HttpService> for ServiceLayer {
    type Service = RoutedService;

    fn layer(&self, inner: HttpService) -> RoutedService {
        RoutedService {
            services: Arc::clone(&self.0),
            inner,
        }
    }
}

/// The server with the layer and those of the other services.
#[derive(Clone, Debug)]
pub struct RoutedService {
    services: Arc<Services>,
    inner: HttpService,
}

impl Service<HttpRequest> for RoutedService {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // Other servers are always ready.
        Service::<HttpRequest>::poll_ready(&mut self.inner, context)
    }

    fn call(&mut self, request: HttpRequest) -> Self::Future {
        let (head, body) = request.into_parts();
        let other = self.services.choose(&head).cloned();
        let request = HttpRequest::from_parts(head, body);
        match other {
            Some(mut other) => other.call(request),
            None => Service::<HttpRequest>::call(&mut self.inner, request),
        }
    }
}
