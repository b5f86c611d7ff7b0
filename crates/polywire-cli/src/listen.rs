//! The addresses of `polywire serve`.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use polywire::prelude::*;
use polywire::rpc::connect;
use polywire::rpc::server::{BoundAddress, Listener, RunningServer, bind_shared};
use polywire::rpc::tls::{ClientCertificates, Pem, ServerTls};

use crate::Failure;

/// Options for listeners and their TLS settings.
#[derive(Debug, clap::Args)]
pub(crate) struct ListenArguments {
    /// Listen on these URLs. HTTP: http://HOST:PORT, https://HOST:PORT, scgi://HOST:PORT,
    /// http+unix:///PATH, scgi+unix:///PATH. Frames and HTTP on the same port: tcp://HOST:PORT,
    /// tcp+tls://HOST:PORT (with TLS), unix:///PATH. Frames over UDP: udp://HOST:PORT. If frames
    /// are offered, all URLs except SCGI accept them
    #[arg(long, short, value_name = "URL", num_args = 1.., default_value = "http://127.0.0.1:8080")]
    listen: Vec<String>,
    /// The certificate chain for https:// and tcp+tls://, in PEM format
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// The private key of --cert, in PEM format, if it is not in the same file
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Request client certificates signed by these authorities (PEM format). Connections without
    /// one are rejected unless --allow-certificate is given
    #[arg(long, value_name = "FILE", requires = "cert")]
    client_ca: Option<PathBuf>,
    /// The file mode of Unix sockets, in octal: 660 lets the group of the socket connect
    #[arg(long, value_name = "MODE", default_value = "600", value_parser = mode)]
    socket_mode: u32,
}

/// The protocol of a TCP listener.
#[derive(Clone, Debug)]
enum TcpProtocol {
    Http,
    Https(ServerTls),
    Scgi,
}

/// A TCP listener and its protocol.
#[derive(Debug)]
pub(crate) struct TcpEndpoint {
    listener: TcpListener,
    protocol: TcpProtocol,
}

/// A Unix socket to create.
#[derive(Clone, Debug)]
struct UnixSocket {
    path: PathBuf,
    scgi: bool,
}

/// All listeners of the server.
#[derive(Debug)]
pub(crate) struct Listeners {
    /// The TCP listeners of each worker: one per address.
    pub(crate) workers: Vec<Vec<TcpEndpoint>>,
    sockets: Vec<UnixSocket>,
    datagrams: Vec<SocketAddr>,
    mode: u32,
    /// The URLs that clients use.
    pub(crate) urls: Vec<String>,
}

impl ListenArguments {
    /// Binds the addresses for a number of workers. [`Listeners::sockets`] creates Unix sockets.
    pub(crate) fn bind(
        &self,
        workers: NonZeroUsize,
        certificate_is_optional: bool,
    ) -> Result<Listeners, Failure> {
        let mut listeners = Listeners {
            workers: Vec::new(),
            sockets: Vec::new(),
            datagrams: Vec::new(),
            mode: self.socket_mode,
            urls: Vec::new(),
        };
        let mut tls = None;
        for url in &self.listen {
            let usage =
                |reason: &dyn fmt::Display| Failure::usage(format!("--listen {url}: {reason}"));
            let (scheme, rest) = url.split_once("://").ok_or_else(|| usage(&EXPECTED))?;
            let scheme = scheme.to_ascii_lowercase();
            let protocol = match scheme.as_str() {
                "http" | "tcp" => TcpProtocol::Http,
                "scgi" => TcpProtocol::Scgi,
                "https" | "tcp+tls" => {
                    if tls.is_none() {
                        tls = Some(
                            self.tls(certificate_is_optional)
                                .map_err(|reason| usage(&reason))?,
                        );
                    }
                    tls.clone().map_or(TcpProtocol::Http, TcpProtocol::Https)
                }
                "http+unix" | "scgi+unix" | "unix" => {
                    let path = socket_path(&scheme, url).map_err(|reason| usage(&reason))?;
                    listeners.urls.push(url.clone());
                    let scgi = scheme == "scgi+unix";
                    listeners.sockets.push(UnixSocket { path, scgi });
                    continue;
                }
                "udp" => {
                    let addresses = addresses(&scheme, rest).map_err(|reason| usage(&reason))?;
                    listeners.datagrams.extend(addresses);
                    continue;
                }
                _ => return Err(usage(&EXPECTED)),
            };
            for address in addresses(&scheme, rest).map_err(|reason| usage(&reason))? {
                listeners.listen(&scheme, address, &protocol, workers)?;
            }
        }
        if self.cert.is_some() && tls.is_none() {
            let message = "--cert requires a --listen URL with https:// or tcp+tls://";
            return Err(Failure::usage(message));
        }
        Ok(listeners)
    }

    /// Whether a URL is one for frames.
    pub(crate) fn has_frames_url(&self) -> bool {
        let mut schemes = self.listen.iter().filter_map(|url| url.split_once("://"));
        schemes.any(|(scheme, _)| {
            matches!(
                &*scheme.to_ascii_lowercase(),
                "tcp" | "tcp+tls" | "udp" | "unix"
            )
        })
    }

    fn tls(&self, certificate_is_optional: bool) -> Result<ServerTls, String> {
        let Some(cert) = &self.cert else {
            return Err("TLS requires a certificate and a key: --cert FILE --key FILE".to_owned());
        };
        let key = self.key.as_ref().unwrap_or(cert);
        let mut builder = ServerTls::builder(Pem::file(cert), Pem::file(key));
        if let Some(roots) = &self.client_ca {
            let clients = match certificate_is_optional {
                true => ClientCertificates::Optional,
                false => ClientCertificates::Required,
            };
            builder = builder.clients(clients, Pem::file(roots));
        }
        builder.build().map_err(|error| error.to_string())
    }
}

const EXPECTED: &str = "expected http://HOST:PORT, https://HOST:PORT, scgi://HOST:PORT, \
                        http+unix:///PATH, scgi+unix:///PATH, tcp://HOST:PORT, tcp+tls://HOST:PORT, \
                        unix:///PATH or udp://HOST:PORT";

impl Listeners {
    fn listen(
        &mut self,
        scheme: &str,
        address: SocketAddr,
        protocol: &TcpProtocol,
        workers: NonZeroUsize,
    ) -> Result<(), Failure> {
        let fail = |error: io::Error| {
            Failure::usage(format!("cannot listen on {scheme}://{address}: {error}"))
        };
        let listeners = bind_shared(address, workers).map_err(fail)?;
        // Port 0 was replaced by an unused port.
        let bound = listeners
            .first()
            .map_or(Ok(address), TcpListener::local_addr);
        self.urls
            .push(format!("{scheme}://{}", bound.map_err(fail)?));
        let count = self.workers.len().max(listeners.len());
        self.workers.resize_with(count, Vec::new);
        for (unique, listener) in self.workers.iter_mut().zip(listeners) {
            let protocol = protocol.clone();
            unique.push(TcpEndpoint { listener, protocol });
        }
        Ok(())
    }

    /// Serves Unix and UDP sockets on this runtime. Unlike TCP ports, threads cannot share them.
    pub(crate) async fn sockets(
        &mut self,
        server: &Server,
    ) -> Result<Vec<RunningServer<BoundAddress>>, Failure> {
        let mut running = Vec::new();
        for address in &self.datagrams {
            let listeners = server.listen_udp(*address).await.map_err(|error| {
                Failure::usage(format!("cannot listen on udp://{address}: {error}"))
            })?;
            // Port 0 was replaced by an unused port.
            self.urls.push(format!("udp://{}", listeners.address()));
            running.push(listeners.into_any());
        }
        for UnixSocket { path, scgi } in &self.sockets {
            let listeners = on_socket(server, path.clone(), self.mode, *scgi).await;
            let listeners = listeners.map_err(|error| {
                let scheme = if *scgi { "scgi+unix" } else { "unix" };
                let path = path.display();
                Failure::usage(format!("cannot listen on {scheme}://{path}: {error}"))
            })?;
            running.push(listeners.into_any());
        }
        Ok(running)
    }
}

#[cfg(unix)]
async fn on_socket(
    server: &Server,
    path: PathBuf,
    mode: u32,
    scgi: bool,
) -> io::Result<RunningServer<PathBuf>> {
    let socket = polywire::rpc::server::UnixSocket::new(path).mode(mode);
    match scgi {
        true => server.listen_scgi_unix(socket).await,
        false => server.listen_unix(socket).await,
    }
}

#[cfg(not(unix))]
async fn on_socket(_: &Server, _: PathBuf, _: u32, _: bool) -> io::Result<RunningServer<PathBuf>> {
    Err(io::Error::other(
        "Unix sockets are not supported on this system",
    ))
}

impl TcpEndpoint {
    /// Serves the listener on this runtime.
    pub(crate) fn serve(self, server: &Server) -> io::Result<RunningServer> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        match self.protocol {
            TcpProtocol::Http => server.serve(listener),
            TcpProtocol::Https(tls) => server.serve(listener.tls(&tls)),
            TcpProtocol::Scgi => server.serve_scgi(listener),
        }
    }
}

/// Resolves `HOST:PORT`.
fn addresses(scheme: &str, rest: &str) -> Result<Vec<SocketAddr>, String> {
    let authority = rest.trim_end_matches('/');
    if authority.contains(['/', '?', '#']) {
        return Err(format!(
            "expected {scheme}://HOST:PORT without a path; use --mount for paths"
        ));
    }
    let resolved = authority
        .to_socket_addrs()
        .map_err(|error| format!("expected {scheme}://HOST:PORT ({error})"))?;
    // A host name may resolve to the same address twice. That is not an error, unlike listing an
    // address twice.
    let mut unique: Vec<SocketAddr> = Vec::new();
    for address in resolved {
        if !unique.contains(&address) {
            unique.push(address);
        }
    }
    Ok(unique)
}

/// Parses the path of a Unix socket, with the rules that clients use.
fn socket_path(scheme: &str, url: &str) -> Result<PathBuf, String> {
    let expected = |reason: &str| format!("expected {scheme}:///PATH: {reason}");
    let path = connect::socket_path(url).map_err(|error| expected(error.reason()))?;
    match url.ends_with('/') {
        true => Err(expected("the path of a socket must not end with a slash")),
        false => Ok(path),
    }
}

/// Parses a file mode.
fn mode(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("expected a file mode in octal, such as 660".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(urls: &[&str]) -> Result<Listeners, Failure> {
        let arguments = ListenArguments {
            listen: urls.iter().map(|url| (*url).to_owned()).collect(),
            cert: None,
            key: None,
            client_ca: None,
            socket_mode: 0o600,
        };
        arguments.bind(NonZeroUsize::MIN, false)
    }

    #[test]
    fn rejects_invalid_urls() {
        for (url, part) in [
            ("localhost:8080", "expected http://HOST:PORT"),
            ("ftp://localhost", "expected http://HOST:PORT"),
            ("http://localhost", "expected http://HOST:PORT ("),
            ("http://localhost:1/RPC2", "--mount"),
            ("https://localhost:1", "--cert FILE --key FILE"),
            ("scgi://localhost", "expected scgi://HOST:PORT ("),
            ("http+unix://run/a.sock", "expected http+unix:///PATH"),
            ("tcp://localhost", "expected tcp://HOST:PORT ("),
            ("tcp://localhost:1/x", "expected tcp://HOST:PORT"),
            ("unix://run/a.sock", "expected unix:///PATH"),
            ("udp://localhost", "expected udp://HOST:PORT ("),
            ("scgi+unix:///run/", "expected scgi+unix:///PATH"),
            ("http+unix:///run/a.sock:/RPC2", "nothing behind it"),
            ("unix://u@/run/a.sock", "expected unix:///PATH: "),
        ] {
            let message = bind(&[url]).unwrap_err().message;
            let start = format!("error: --listen {url}: ");
            assert!(message.starts_with(&start), "{message}");
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn modes() {
        assert_eq!(mode("660"), Ok(0o660));
        for text in ["", "8", "1000", "rw"] {
            assert!(mode(text).is_err(), "{text}");
        }
    }

    #[test]
    fn urls_contain_bound_ports() {
        let urls = [
            "http://127.0.0.1:0",
            "scgi://127.0.0.1:0",
            "tcp://127.0.0.1:0",
        ];
        let listeners = bind(&urls).unwrap();
        assert_eq!(listeners.workers.len(), 1);
        assert_eq!(listeners.workers[0].len(), 3);
        assert!(listeners.urls[1].starts_with("scgi://127.0.0.1:"));
        assert!(listeners.urls[2].starts_with("tcp://127.0.0.1:"));
        assert!(!listeners.urls.iter().any(|url| url.ends_with(":0")));
    }
}
