//! `polywire serve`.

mod banner;
mod double;
mod protocols;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use clap::value_parser;
use polywire::double::Double;
use polywire::model::Model;
use polywire::prelude::*;
use polywire::rpc::aws::BodyDecoder;
use polywire::rpc::layers::CrossOrigin;
use polywire::rpc::server::{BoundAddress, Mount, RunningServer};
use polywire::rpc::{BuildError, Methods, ServerBuilder, Timeouts, Validation};
use polywire::schema::Operation;
use polywire::services::ServiceLayer;
use tokio::task::JoinSet;

use self::banner::banner;
use self::double::DoubleArguments;
use self::protocols::{all_protocols, describe_offer, mount, offers};
use crate::authentication::AuthenticationArguments;
use crate::dialect::DialectArguments;
use crate::findings::warn;
use crate::listen::{ListenArguments, Listeners};
use crate::models::{ModelArguments, bundled, names, protocol};
use crate::offers::Offer;
use crate::signals::Signals;
use crate::workers::Workers;
use crate::{Failure, pages, print, weather};

/// Serve a model over all protocols
///
/// Without --model, this serves the bundled weather service, implemented in memory, over all
/// protocols and frames. With --model, it serves a test double: it remembers what calls create, and
/// each other operation returns the output of its @examples, or else a generated sample. A model
/// with several services is served on one port.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    listen: ListenArguments,
    #[arg(long, short, value_name = "PROTOCOL", num_args = 1.., value_parser = protocol)]
    #[arg(help = format!(
        "The protocols to offer, instead of those of the model: {}. For the bundled service, \
         the default is all protocols",
        names(ProtocolKind::ALL)
    ))]
    protocol: Vec<ProtocolKind>,
    /// Offer a protocol at a path or host: restXml=/xml, ec2Query=//ec2.localhost. Needed if
    /// requests of two protocols cannot be distinguished
    #[arg(long, value_name = "PROTOCOL=PLACE", num_args = 1.., value_parser = mount)]
    mount: Vec<(ProtocolKind, Mount)>,
    /// The number of worker threads, each with its own listener per TCP address [default: number of
    /// processors]. Unix and UDP sockets share one additional thread
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// The maximum size of a request body, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.bytes())]
    max_body: usize,
    /// The maximum size of all request bodies in memory, in bytes, for all workers and protocols.
    /// Calls that exceed it are rejected as overload [default: 268435456 (256 MiB), or --max-body
    /// if larger]
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<usize>,
    /// The maximum number of open connections, for all workers and addresses. Further connections
    /// wait
    #[arg(long, value_name = "N", default_value_t = 10_000,
        value_parser = value_parser!(u64).range(1..=10_000_000))]
    max_connections: u64,
    /// The timeout in seconds for idle connections, for reading a request head, and for reading a
    /// request body
    #[arg(long, value_name = "SECONDS", default_value_t = 30,
        value_parser = value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// Do not check inputs against constraints of the model: required members, lengths, ranges,
    /// patterns, unique items, enum values. Patterns with look-around or backreferences are never
    /// checked, because that can take exponential time; a warning lists them
    #[arg(long)]
    no_validation: bool,
    /// Do not implement the introspection methods and system.multicall over XML-RPC
    #[arg(long)]
    no_introspection: bool,
    /// Do not implement system.multicall over XML-RPC, which makes many calls with one request
    #[arg(long)]
    no_multicall: bool,
    #[command(flatten)]
    dialect: DialectArguments,
    /// Accept calls by web pages of these origins, such as https://app.example or
    /// http://localhost:3000, or of `any`. Browsers send the origin with each call; calls by other
    /// pages are rejected with status 403. Other clients are not affected
    #[arg(long, value_name = "ORIGIN", num_args = 1..)]
    allow_origin: Vec<String>,
    /// Trust the SCGI variables sent by other machines, such as the address of the caller. Clients
    /// can forge them, so use this only if no one but the web server can connect to the port
    #[arg(long)]
    trust_remote_scgi: bool,
    /// Print only errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    double: DoubleArguments,
    // Must be the last field: its help heading applies to all following options.
    #[command(flatten)]
    authentication: AuthenticationArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let has_model = arguments.model.is_given();
    let model = if has_model {
        let assembled = arguments.model.load()?;
        if !arguments.quiet {
            warn(&assembled.warnings);
        }
        assembled.model
    } else {
        bundled()?
    };
    let services = match has_model {
        true => arguments.model.services(&model)?,
        false => vec![arguments.model.service(&model)?],
    };
    let model = Arc::new(model);
    let doubles = match has_model {
        true => arguments.double.build(&model, &services, arguments.quiet)?,
        false => arguments.double.refuse().map(|()| Vec::new())?,
    };
    if arguments.double.explain_state {
        let texts = doubles.iter().map(Double::explain);
        return print::out(&texts.collect::<Vec<_>>().join("\n"));
    }
    let server = servers(arguments, &model, &services, &doubles)?;

    let workers = arguments
        .workers
        .or_else(|| std::thread::available_parallelism().ok());
    let mut listeners = arguments.listen.bind(
        workers.unwrap_or(NonZeroUsize::MIN),
        arguments.authentication.certificate_is_optional(),
    )?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.map_err(Failure::transport)?.block_on(async {
        // Install signal handlers before the server is announced.
        let mut signals = Signals::new().map_err(Failure::transport)?;
        let sockets = listeners.sockets(&server).await?;
        let Listeners { workers, urls, .. } = listeners;
        let mut workers = Workers::start(&server, workers).map_err(Failure::usage)?;
        if !arguments.quiet {
            let credentials = arguments.authentication.credentials();
            print::out(&banner(&model, &services, &server, &urls, credentials))?;
        }
        let is_early = tokio::select! {
            () = signals.next() => false,
            () = workers.wait_for_any(), if !workers.is_empty() => true,
        };
        if !arguments.quiet {
            print::err(format_args!(
                "stopping: waiting up to {} s for calls in progress; press Ctrl-C or send SIGTERM again \
                 to abort them",
                SHUTDOWN.as_secs()
            ));
        }
        tokio::select! {
            () = stop(&mut workers, sockets) => {}
            () = signals.next() => {
                return Err(Failure::transport("calls in progress were aborted"));
            }
        }
        workers.result().map_err(Failure::transport)?;
        if is_early {
            return Err(Failure::transport("a worker thread stopped unexpectedly"));
        }
        Ok(())
    })
}

/// Stops all listeners at the same time.
async fn stop(workers: &mut Workers, sockets: Vec<RunningServer<BoundAddress>>) {
    let mut tasks = JoinSet::new();
    for running in sockets {
        tasks.spawn(running.shutdown());
    }
    workers.stop().await;
    tasks.join_all().await;
}

const SHUTDOWN: Duration = Duration::from_secs(10);

/// Builds the server of the first service. It passes the requests of other services to theirs.
fn servers(
    arguments: &Arguments,
    model: &Arc<Model>,
    services: &[ServiceHandle],
    doubles: &[Double],
) -> Result<Server, Failure> {
    let [first, others @ ..] = services else {
        return Err(Failure::usage("the model has no service"));
    };
    let mut layer = ServiceLayer::new(first.clone());
    for (at, other) in others.iter().enumerate() {
        let builder = server(arguments, model, other, doubles.get(at + 1))?;
        layer = layer.with(build(builder)?);
    }
    let builder = server(arguments, model, first, doubles.first())?;
    let (builder, wires, offers) = (builder.0, builder.1, builder.2);
    let offers = offers.iter().map(|(mount, kind)| Offer::new(mount, *kind));
    let pages = pages::pages(
        Arc::clone(model),
        services.to_vec(),
        wires,
        offers.collect(),
        doubles.to_vec(),
    );
    let mut builder = builder.pages(pages);
    if !others.is_empty() {
        // The layer only routes. Frames go to the first service.
        builder = builder.http_layer(layer).frames_bypass_layers();
    }
    build((builder, Vec::new(), Vec::new()))
}

/// A builder, the names of its wires, and its protocols.
type Prepared = (ServerBuilder, Vec<String>, Vec<(Mount, ProtocolKind)>);

fn build((builder, ..): Prepared) -> Result<Server, Failure> {
    builder.build().map_err(|error| match &error {
        BuildError::Conflict(_, conflict) => {
            let kind = conflict.kinds.1;
            Failure::usage(format!(
                "{error}. Use a mount, such as --mount {kind}=/{kind}"
            ))
        }
        _ => Failure::usage(error),
    })
}

/// Prepares the server of a service, which answers with a double or else is the bundled one.
fn server(
    arguments: &Arguments,
    model: &Model,
    service: &ServiceHandle,
    double: Option<&Double>,
) -> Result<Prepared, Failure> {
    let mock = double.is_some();
    let time = Duration::from_secs(arguments.timeout);
    let mut builder = Server::builder(service.clone())
        .limits(Limits::DEFAULT.with_bytes(arguments.max_body))
        .connections(usize::try_from(arguments.max_connections).unwrap_or(usize::MAX))
        .trust_remote_scgi(arguments.trust_remote_scgi)
        .frames(offers_frames(arguments, mock))
        .missing_protocol_hint(|kind| format!("`polywire serve -p {kind}` offers it"))
        .timeouts(
            Timeouts::DEFAULT
                .with_head(time)
                .with_body(time)
                .with_shutdown(SHUTDOWN),
        );
    if let Some(bytes) = arguments.max_memory {
        if bytes < arguments.max_body {
            return Err(Failure::usage(format!(
                "--max-memory {bytes} is less than --max-body {}",
                arguments.max_body
            )));
        }
        builder = builder.body_memory(bytes);
    }
    if let Some(guard) = cross_origin(&arguments.allow_origin)? {
        builder = builder.cross_origin(guard);
    }
    builder = arguments.authentication.apply(builder, arguments.quiet)?;
    let offers = match (mock, arguments.protocol.as_slice()) {
        (false, []) => all_protocols(arguments, service),
        (true, []) => {
            let own = service.service().protocols();
            let own: Vec<ProtocolKind> = own.filter_map(ProtocolKind::from_name).collect();
            offers(arguments, &own)
        }
        (_, named) => offers(arguments, named),
    };
    for (mount, kind) in &offers {
        builder = builder.protocol_at(mount.clone(), *kind);
    }
    // Mocks ignore patterns that cannot be checked, because the model may be from a third party. A
    // warning lists them.
    builder = builder.validation(match arguments.no_validation {
        true => Validation::Off,
        false => Validation::WithoutUncheckedPatterns,
    });
    builder = match double {
        Some(double) => {
            // AWS clients expect request IDs with all protocols.
            if !service.service().sdk_id().is_empty() {
                builder = builder.request_ids(true);
                // Their bodies can be in aws-chunked, and have checksums. Signatures are not checked.
                builder = builder.body_filter(BodyDecoder::new());
            }
            double.serve(builder)
        }
        None => weather::handlers(builder),
    };
    let over_xmlrpc = offers.iter().any(|(_, kind)| *kind == ProtocolKind::XmlRpc);
    // Operations of the model replace introspection methods of the same name.
    let is_system = |operation: Operation<'_>| operation.xmlrpc_method().starts_with("system.");
    let introspection =
        !arguments.no_introspection && !service.service().operations().any(is_system);
    if over_xmlrpc {
        let mut methods = Methods::new()
            .xmlrpc_profile(arguments.dialect.profile())
            .xmlrpc_style(arguments.dialect.style());
        if introspection {
            methods = methods
                .documentation(polywire::documentation(model))
                .introspection(true)
                .multicall(!arguments.no_multicall);
        }
        builder = builder.methods(methods);
    }
    let wires = offers
        .iter()
        .map(|(mount, kind)| describe_offer(mount, *kind));
    let wires = wires.collect();
    Ok((builder, wires, offers))
}

/// Whether to offer frames even if the model does not have them: for URLs of frames, and with the
/// bundled service.
fn offers_frames(arguments: &Arguments, mock: bool) -> bool {
    arguments.listen.has_frames_url() || (!mock && arguments.protocol.is_empty())
}

/// Returns the origin check, unless all origins are accepted.
fn cross_origin(origins: &[String]) -> Result<Option<CrossOrigin>, Failure> {
    if origins.iter().any(|origin| origin == "any") {
        return Ok(None);
    }
    let guard = origins
        .iter()
        .try_fold(CrossOrigin::new(), |guard, origin| guard.allow(origin));
    guard
        .map(Some)
        .map_err(|error| Failure::usage(format!("--allow-origin: {error}, or `any`")))
}
