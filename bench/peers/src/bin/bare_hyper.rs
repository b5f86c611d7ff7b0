//! A hyper server that answers every request with the same bytes: the limit that
//! `scripts/bench-http` compares `polywire serve` with, and `scripts/bench-xmlrpc` our XML-RPC
//! server.
//!
//! Each worker is a thread with a current-thread runtime and a listener of its own. With
//! SO_REUSEPORT the kernel spreads the connections over them.

#![forbid(unsafe_code)]

use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use std::error::Error;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

#[path = "../listener.rs"]
mod listener;

use listener::listener;

/// Answers the same bytes to every HTTP/1.1 request.
#[derive(Parser)]
#[command(name = "bare_hyper")]
struct Command {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:8081", value_name = "ADDRESS")]
    listen: SocketAddr,

    /// Threads, each with a runtime and a listener of its own
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,

    /// The body to answer: a file's content, or the text itself if there is no such file
    #[arg(long, default_value = "{}", value_name = "FILE or TEXT")]
    body: String,

    /// Its content type
    #[arg(long, default_value = "application/json", value_name = "TYPE")]
    content_type: HeaderValue,

    /// A further header of the answer; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(HeaderName, HeaderValue)>,

    /// Speak HTTPS, by rustls, with a certificate for localhost that is generated at the start
    #[arg(long)]
    tls: bool,
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("a header is NAME: VALUE")?;
    let name = name
        .trim()
        .parse()
        .map_err(|_| format!("{name:?} names no header"))?;
    let value = value
        .trim()
        .parse()
        .map_err(|_| format!("{value:?} is no header's value"))?;
    Ok((name, value))
}

/// The answer to everything.
#[derive(Clone)]
struct Answer {
    body: Bytes,
    headers: HeaderMap,
}

/// TLS as our servers offer it, without HTTP/2.
fn acceptor() -> Result<TlsAcceptor, Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let command = Command::parse();
    let body = if Path::new(&command.body).is_file() {
        std::fs::read(&command.body)?
    } else {
        command.body.into_bytes()
    };
    let mut headers: HeaderMap = command.headers.into_iter().collect();
    headers.insert(CONTENT_TYPE, command.content_type);
    let answer = Answer {
        body: body.into(),
        headers,
    };
    let tls = command.tls.then(acceptor).transpose()?;
    // Listeners are bound before any thread starts, so that an address in use ends the program.
    let listeners = (0..command.workers)
        .map(|_| listener(command.listen))
        .collect::<io::Result<Vec<_>>>()?;
    let workers: Vec<_> = listeners
        .into_iter()
        .map(|listener| {
            let (answer, tls) = (answer.clone(), tls.clone());
            std::thread::spawn(move || work(listener, &answer, tls.as_ref()))
        })
        .collect();
    let scheme = if command.tls { "https" } else { "http" };
    writeln!(io::stdout(), "listening on {scheme}://{}", command.listen)?;
    for worker in workers {
        worker.join().map_err(|_| "a worker panicked")??;
    }
    Ok(())
}

/// Serves one listener until the process is ended.
fn work(listener: TcpListener, answer: &Answer, tls: Option<&TlsAcceptor>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    // The connections' tasks stay on this thread, so they need not be `Send`.
    tokio::task::LocalSet::new().block_on(&runtime, async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = match listener.accept().await {
                Ok(accepted) => accepted,
                // Out of file descriptors, or the client is gone: continue after a pause.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                }
            };
            stream.set_nodelay(true)?;
            let answer = answer.clone();
            match tls.cloned() {
                None => tokio::task::spawn_local(connection(stream, answer)),
                Some(tls) => tokio::task::spawn_local(async move {
                    if let Ok(stream) = tls.accept(stream).await {
                        connection(stream, answer).await;
                    }
                }),
            };
        }
    })
}

async fn connection<S: AsyncRead + AsyncWrite + Unpin>(stream: S, answer: Answer) {
    let service = service_fn(move |request| respond(request, answer.clone()));
    // The timer is for hyper's default timeout for headers. Errors end only their connection.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Reads the body to its end, as every server has to, and answers.
async fn respond(
    request: Request<Incoming>,
    answer: Answer,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let mut body = request.into_body();
    while let Some(frame) = body.frame().await {
        frame?;
    }
    let mut response = Response::new(Full::new(answer.body));
    *response.headers_mut() = answer.headers;
    Ok(response)
}
