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
use crate::listen::{ListenArguments, Listening};
use crate::models::{ModelArguments, bundled, names, protocol};
use crate::offers::Offer;
use crate::signals::Signals;
use crate::workers::Workers;
use crate::{Failure, pages, paste, print, weather};

/// Serve a model on every wire.
///
/// Without --model this is the bundled weather service, with a real
/// implementation in memory, over all protocols and over frames. With --model every operation answers from its
/// @examples, or else with a sample of its output: a mock of any Smithy
/// service.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    listen: ListenArguments,
    #[arg(long, short, value_name = "PROTOCOL", num_args = 1.., value_parser = protocol)]
    #[arg(help = format!(
        "The protocols to offer, whatever the model says: {}. By default those that the model \
         names; for the bundled service all of them",
        names(ProtocolKind::ALL)
    ))]
    protocol: Vec<ProtocolKind>,
    /// Offer a protocol below a path or on a host of its own, as two need that
    /// cannot be told apart: restXml=/xml, ec2Query=//ec2.localhost.
    #[arg(long, value_name = "PROTOCOL=PLACE", num_args = 1.., value_parser = mount)]
    mount: Vec<(ProtocolKind, Mount)>,
    /// Worker threads, each with its own listener on every address. By default one
    /// a processor. Unix sockets have one thread together.
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// The largest request body, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.bytes())]
    max_body: usize,
    /// The most bytes of request bodies that are held at once, by all workers
    /// together, over all wires; calls beyond it are answered that the server is
    /// overloaded. By default 268435456 (256 MiB), or --max-body if that is more.
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<usize>,
    /// The most connections that are served at once, on all addresses and by all
    /// workers together; more wait.
    #[arg(long, value_name = "N", default_value_t = 10_000,
        value_parser = value_parser!(u64).range(1..=10_000_000))]
    max_connections: u64,
    /// Seconds until an idle connection, or one that does not finish its
    /// request's head, is closed; and as many for a body.
    #[arg(long, value_name = "SECONDS", default_value_t = 30,
        value_parser = value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// Do not check inputs by the model's constraints: required members, lengths,
    /// ranges, patterns, unique items and the values of enums. Patterns that no engine
    /// checks in linear time, those with look-around or references to groups,
    /// are never checked; a warning names each.
    #[arg(long)]
    no_validation: bool,
    /// Do not answer system.listMethods, system.methodSignature,
    /// system.methodHelp, system.getCapabilities and system.multicall over
    /// XML-RPC.
    #[arg(long)]
    no_introspection: bool,
    /// Do not answer system.multicall over XML-RPC, by which one request makes
    /// many calls.
    #[arg(long)]
    no_multicall: bool,
    #[command(flatten)]
    dialect: DialectArguments,
    /// Let web pages of these origins call: https://app.example,
    /// http://localhost:3000; `any` lets all. Browsers say which page they call
    /// for; without this, calls for pages of other servers are answered 403, since
    /// any page could have a browser call whatever the browser reaches. Who is no
    /// browser is never turned away.
    #[arg(long, value_name = "ORIGIN", num_args = 1..)]
    allow_origin: Vec<String>,
    /// Trust the SCGI variables that a web server on another machine sends: the
    /// address of the caller, and whether it used TLS. Any client that reaches the
    /// port can set them, so use this only where the web server is alone.
    #[arg(long)]
    trust_remote_scgi: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    quiet: bool,
    // The last one, since its heading holds for what follows.
    #[command(flatten)]
    authentication: AuthenticationArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let given = arguments.model.is_given();
    let model = if given {
        let assembled = arguments.model.load()?;
        if !arguments.quiet {
            warn(&assembled.warnings);
        }
        assembled.model
    } else {
        bundled()?
    };
    let service = arguments.model.service(&model)?;
    let server = server(arguments, &model, service.clone(), given)?;

    let workers = arguments
        .workers
        .or_else(|| std::thread::available_parallelism().ok());
    let mut listening = arguments.listen.bind(
        workers.unwrap_or(NonZeroUsize::MIN),
        arguments.authentication.certificate_is_optional(),
    )?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.map_err(Failure::transport)?.block_on(async {
        // Before anybody can know that it runs.
        let mut signals = Signals::new().map_err(Failure::transport)?;
        let sockets = listening.sockets(&server).await?;
        let Listening { workers, urls, .. } = listening;
        let mut workers = Workers::start(&server, workers).map_err(Failure::usage)?;
        if !arguments.quiet {
            let credentials = arguments.authentication.credentials();
            print::out(&banner(&model, &service, &server, &urls, credentials))?;
        }
        let early = tokio::select! {
            () = signals.next() => false,
            () = workers.one_ended(), if !workers.is_empty() => true,
        };
        if !arguments.quiet {
            print::err(format_args!(
                "stopping: calls in progress have {} s to end; Ctrl-C or SIGTERM once more \
                 cuts them off",
                SHUTDOWN.as_secs()
            ));
        }
        tokio::select! {
            () = stop(&mut workers, sockets) => {}
            () = signals.next() => {
                return Err(Failure::transport("calls in progress were cut off"));
            }
        }
        workers.result().map_err(Failure::transport)?;
        if early {
            return Err(Failure::transport("a worker ended too early"));
        }
        Ok(())
    })
}

/// Stops all that listens, at the same time.
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
        .frames(over_frames(arguments, mock))
        .missing_protocol_hint(|kind| format!("`polywire serve -p {kind}` would offer it"))
        .timeouts(
            Timeouts::DEFAULT
                .with_head(time)
                .with_body(time)
                .with_shutdown(SHUTDOWN),
        );
    if let Some(bytes) = arguments.max_memory {
        if bytes < arguments.max_body {
            return Err(Failure::usage(format!(
                "--max-memory {bytes} is less than one body may have (--max-body {})",
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
        (false, []) => on_every_wire(arguments, &service),
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
    // A mock of a model that somebody else has written has to live with its
    // patterns: those that cannot be checked are warned of.
    builder = builder.validation(match arguments.no_validation {
        true => Validation::Off,
        false => Validation::WithoutUncheckedPatterns,
    });
    builder = if mock {
        // Callers of AWS look for ids on every wire.
        if !service.service().sdk_id().is_empty() {
            builder = builder.request_ids(true);
        }
        mocks(builder, model, &service, arguments.quiet)
    } else {
        weather::handlers(builder)
    };
    let over_xmlrpc = offers.iter().any(|(_, kind)| *kind == ProtocolKind::XmlRpc);
    // A model that has such a method itself answers it itself.
    let own = |operation: Operation<'_>| operation.xmlrpc_method().starts_with("system.");
    let introspection = !arguments.no_introspection && !service.service().operations().any(own);
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
    let wires = offers.iter().map(|(mount, kind)| wire(mount, *kind));
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
                Failure::usage(format!("{error}: --mount {kind}=/{kind}, say"))
            }
            _ => Failure::usage(error),
        })
}

/// Whether frames are offered whatever the model says: where a URL says so, and with all other wires.
fn over_frames(arguments: &Arguments, mock: bool) -> bool {
    arguments.listen.names_frames() || (!mock && arguments.protocol.is_empty())
}

/// What turns away calls for web pages, unless those of all origins may call.
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

/// Where to offer these protocols and those with a mount: on the whole server, unless they
/// have one.
fn offers(arguments: &Arguments, own: &[ProtocolKind]) -> Vec<(Mount, ProtocolKind)> {
    let mounted = |kind: &ProtocolKind| arguments.mount.iter().any(|(own, _)| own == kind);
    let everywhere = own.iter().filter(|kind| !mounted(kind));
    let everywhere = everywhere.map(|kind| (Mount::default(), *kind));
    let mounts = arguments.mount.iter();
    everywhere
        .chain(mounts.map(|(kind, mount)| (mount.clone(), *kind)))
        .collect()
}

/// All protocols, those of the model first: what cannot be told apart from one before it is
/// below a path of its name.
fn on_every_wire(arguments: &Arguments, service: &ServiceHandle) -> Vec<(Mount, ProtocolKind)> {
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
        // What cannot be built is refused with the server.
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

/// A protocol and where it is, if that is not everywhere.
fn wire(mount: &Mount, kind: ProtocolKind) -> String {
    match *mount == Mount::default() {
        true => kind.to_string(),
        false => format!("{kind} at {mount}"),
    }
}

/// Reads `PROTOCOL=PLACE`.
fn mount(text: &str) -> Result<(ProtocolKind, Mount), String> {
    let (name, place) = text
        .split_once('=')
        .ok_or("expected PROTOCOL=/PATH or PROTOCOL=//HOST")?;
    let place = place.parse::<Mount>();
    Ok((protocol(name)?, place.map_err(|error| error.to_string())?))
}

/// A handler of canned answers for every operation.
fn mocks(
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
        // The model has passed its checks, so that the other examples are worth serving.
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

/// Says what is served where, and how to try it.
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
    // What is to be pasted goes over HTTP, and best where nobody has to be trusted.
    let with = |scheme: &str| urls.iter().find(|url| url.starts_with(scheme));
    // Where frames are taken, HTTP is too.
    let of_frames = with("tcp://").map(|url| url.replacen("tcp", "http", 1));
    let base = with("http://").or_else(|| with("https://"));
    let base = base.or(of_frames.as_ref());
    let easiest = base.and_then(|base| Some((base, paste::easiest(model, service)?)));
    // The easiest to call first.
    let mut mounts: Vec<_> = server.mounts().collect();
    mounts.sort_by_key(|(mount, _)| **mount != Mount::default());
    for (mount, protocol) in mounts {
        text.push_str(&format!("\n  {}\n", wire(mount, protocol.kind())));
        // What its name resolves to is not known here.
        let reachable = easiest.as_ref().filter(|_| mount.host_name().is_none());
        let line = reachable.and_then(|(base, (operation, input))| {
            let base = format!("{base}{}", mount.path_prefix());
            let calls = protocol.kind().client(name).ok()?;
            paste::line(&base, &*calls, *operation, input, credentials)
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
