//! `polywire serve`.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::value_parser;
use polywire::model::Model;
use polywire::prelude::*;
use polywire::protocol::{Protocol, conflict};
use polywire::rpc::layers::CrossOrigin;
use polywire::rpc::server::{BoundAddress, Mount, RunningServer};
use polywire::rpc::{BuildError, Methods, ServerBuilder, Timeouts, Validation};
use polywire::schema::Operation;
use tokio::task::JoinSet;

use crate::authentication::{AuthenticationArguments, CredentialKind};
use crate::dialect::DialectArguments;
use crate::findings::warn;
use crate::listen::{ListenArguments, Listeners};
use crate::models::{ModelArguments, bundled, names, protocol};
use crate::offers::Offer;
use crate::signals::Signals;
use crate::workers::Workers;
use crate::{Failure, pages, paste, print, weather};

/// Serve a model over all protocols
///
/// Without --model, this serves the bundled weather service, implemented in memory, over all
/// protocols and frames. With --model, it serves a mock: each operation returns the output of its
/// @examples, or else a generated sample.
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
    let service = arguments.model.service(&model)?;
    let server = server(arguments, &model, service.clone(), has_model)?;

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
            print::out(&banner(&model, &service, &server, &urls, credentials))?;
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

fn server(
    arguments: &Arguments,
    model: &Model,
    service: ServiceHandle,
    mock: bool,
) -> Result<Server, Failure> {
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
        (false, []) => all_protocols(arguments, &service),
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
    builder = if mock {
        // AWS clients expect request IDs with all protocols.
        if !service.service().sdk_id().is_empty() {
            builder = builder.request_ids(true);
        }
        add_mocks(builder, model, &service, arguments.quiet)
    } else {
        weather::handlers(builder)
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
    let offers = offers.iter().map(|(mount, kind)| Offer::new(mount, *kind));
    builder
        .pages(pages::pages(
            model.clone(),
            service,
            wires,
            offers.collect(),
        ))
        .build()
        .map_err(|error| match &error {
            BuildError::Conflict(_, conflict) => {
                let kind = conflict.kinds.1;
                Failure::usage(format!(
                    "{error}. Use a mount, such as --mount {kind}=/{kind}"
                ))
            }
            _ => Failure::usage(error),
        })
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

/// Returns the mounts of protocols. The default mount is the whole server.
fn offers(arguments: &Arguments, own: &[ProtocolKind]) -> Vec<(Mount, ProtocolKind)> {
    let mounted = |kind: &ProtocolKind| arguments.mount.iter().any(|(own, _)| own == kind);
    let everywhere = own.iter().filter(|kind| !mounted(kind));
    let everywhere = everywhere.map(|kind| (Mount::default(), *kind));
    let mounts = arguments.mount.iter();
    everywhere
        .chain(mounts.map(|(kind, mount)| (mount.clone(), *kind)))
        .collect()
}

/// Returns all protocols, those of the model first. A protocol that conflicts with an earlier one
/// gets its name as path.
fn all_protocols(arguments: &Arguments, service: &ServiceHandle) -> Vec<(Mount, ProtocolKind)> {
    let own = service.service().protocols();
    let mut kinds: Vec<ProtocolKind> = own.filter_map(ProtocolKind::from_name).collect();
    let others = ProtocolKind::http();
    kinds.extend(
        others
            .filter(|kind| !kinds.contains(kind))
            .collect::<Vec<_>>(),
    );
    let mut offers = offers(arguments, &kinds);
    let mut everywhere: Vec<Box<dyn Protocol>> = Vec::new();
    for (mount, kind) in &mut offers {
        // The server reports protocols that cannot be built.
        let Ok(protocol) = kind.build(service.service()) else {
            continue;
        };
        let mut others = everywhere.iter();
        let clashes = others.any(|other| conflict(&**other, &*protocol).is_some());
        match (*mount == Mount::default(), clashes) {
            (true, true) => *mount = Mount::path(&format!("/{kind}")).unwrap_or_default(),
            (true, false) => everywhere.push(protocol),
            (false, _) => {}
        }
    }
    offers
}

/// Formats a protocol and its mount.
fn describe_offer(mount: &Mount, kind: ProtocolKind) -> String {
    match *mount == Mount::default() {
        true => kind.to_string(),
        false => format!("{kind} at {mount}"),
    }
}

/// Parses `PROTOCOL=PLACE`.
fn mount(text: &str) -> Result<(ProtocolKind, Mount), String> {
    let (name, place) = text
        .split_once('=')
        .ok_or("expected PROTOCOL=/PATH or PROTOCOL=//HOST")?;
    let place = place.parse::<Mount>();
    Ok((protocol(name)?, place.map_err(|error| error.to_string())?))
}

/// Adds handlers that return canned outputs.
fn add_mocks(
    mut builder: ServerBuilder,
    model: &Model,
    service: &ServiceHandle,
    quiet: bool,
) -> ServerBuilder {
    let service = service.service();
    for operation in service.operations() {
        let Some(mock) = polywire::mock::handler(model, service, operation) else {
            continue;
        };
        // The model is valid, so other examples can be used.
        for bad in mock.bad_examples.iter().filter(|_| !quiet) {
            print::err(format_args!(
                "warning: {} is not served with {bad}",
                operation.name()
            ));
        }
        builder = builder.operation_arc(operation.name(), mock.handler);
    }
    builder
}

/// Formats the startup message: what is served, and example commands.
fn banner(
    model: &Model,
    service: &ServiceHandle,
    server: &Server,
    urls: &[String],
    credentials: CredentialKind,
) -> String {
    let name = service.service();
    let count = name.operations().len();
    let mut text = format!(
        "{} {}: {count} operations on {}\n",
        name.id(),
        name.version(),
        urls.join(", ")
    );
    // Prefer HTTP for examples, and URLs that need no trusted certificate.
    let with = |scheme: &str| urls.iter().find(|url| url.starts_with(scheme));
    // Ports that accept frames accept HTTP too.
    let http_of_frames = with("tcp://").map(|url| url.replacen("tcp", "http", 1));
    let base = with("http://").or_else(|| with("https://"));
    let base = base.or(http_of_frames.as_ref());
    let easiest = base.and_then(|base| Some((base, paste::easiest_call(model, service)?)));
    // Sort the easiest protocol first.
    let mut mounts: Vec<_> = server.mounts().collect();
    mounts.sort_by_key(|(mount, _)| **mount != Mount::default());
    for (mount, protocol) in mounts {
        text.push_str(&format!("\n  {}\n", describe_offer(mount, protocol.kind())));
        // The host name of a mount may not resolve to this server.
        let reachable = easiest.as_ref().filter(|_| mount.host_name().is_none());
        let line = reachable.and_then(|(base, (operation, input))| {
            let base = format!("{base}{}", mount.path_prefix());
            let calls = protocol.kind().client(name).ok()?;
            paste::command(&base, &*calls, *operation, input, credentials)
        });
        if let Some(line) = line {
            text.push_str(&format!("    {line}\n"));
        }
    }
    if server.offers_frames() {
        text.push_str("\n  frames\n");
        let url = with("tcp://").cloned();
        let url = url.or_else(|| with("http://").map(|url| url.replacen("http", "tcp", 1)));
        if let (Some(url), Some((_, (operation, input)))) = (url, &easiest)
            && let Some(line) = paste::over_frames(&url, *operation, input, credentials)
        {
            text.push_str(&format!("    {line}\n"));
        }
    }
    let lists = base.map(|base| format!("{base}/_polywire/ lists the operations. "));
    text.push_str(&format!("\n  {}Ctrl-C stops.\n", lists.unwrap_or_default()));
    text
}
