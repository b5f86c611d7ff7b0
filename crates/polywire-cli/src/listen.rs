//! Where `polywire serve` listens.

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

/// Where to listen, and how TLS is spoken there.
#[derive(Debug, clap::Args)]
pub(crate) struct ListenArguments {
    /// Where to listen: http://HOST:PORT, https://HOST:PORT, scgi://HOST:PORT,
    /// http+unix:///PATH or scgi+unix:///PATH, several of them if need be;
    /// tcp://HOST:PORT or unix:///PATH for frames and HTTP on one port, where the
    /// first byte tells which: then all of them but scgi take frames; tcp+tls:// is the
    /// same with TLS, as https:// is; udp://HOST:PORT for frames over UDP.
    /// Nothing listens beyond this machine unless a URL says so.
    #[arg(long, short, value_name = "URL", num_args = 1.., default_value = "http://127.0.0.1:8080")]
    listen: Vec<String>,
    /// The certificate for https:// and tcp+tls://, in PEM, with those that lead to its
    /// authority.
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// The key of --cert, if it is in another file.
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Ask callers over TLS for certificates that these authorities have signed, and
    /// reject those without in the handshake, unless --allow-certificate says that
    /// there are other ways to authenticate.
    #[arg(long, value_name = "FILE", requires = "cert")]
    client_ca: Option<PathBuf>,
    /// Who may connect to Unix sockets, as the mode of the file: 660 lets its group
    /// in.
    #[arg(long, value_name = "MODE", default_value = "600", value_parser = mode)]
    socket_mode: u32,
}

/// What is spoken over TCP.
#[derive(Clone, Debug)]
enum Tcp {
    Http,
    Https(ServerTls),
    Scgi,
}

/// A listener of TCP, and what it speaks.
#[derive(Debug)]
pub(crate) struct Speaking {
    listener: TcpListener,
    how: Tcp,
}

/// A Unix socket to make.
#[derive(Clone, Debug)]
struct Socket {
    path: PathBuf,
    scgi: bool,
}

/// All that is listened on.
#[derive(Debug)]
pub(crate) struct Listening {
    /// The listeners of each worker: one on each address.
    pub(crate) workers: Vec<Vec<Speaking>>,
    sockets: Vec<Socket>,
    datagrams: Vec<SocketAddr>,
    mode: u32,
    /// What callers give as URL.
    pub(crate) urls: Vec<String>,
}

impl ListenArguments {
    /// Takes the addresses, for so many workers. Unix sockets are made by
    /// [`Listening::sockets`].
    pub(crate) fn bind(
        &self,
        workers: NonZeroUsize,
        certificate_is_optional: bool,
    ) -> Result<Listening, Failure> {
        let mut listening = Listening {
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
            let how = match scheme.as_str() {
                "http" | "tcp" => Tcp::Http,
                "scgi" => Tcp::Scgi,
                "https" | "tcp+tls" => {
                    if tls.is_none() {
                        tls = Some(
                            self.tls(certificate_is_optional)
                                .map_err(|reason| usage(&reason))?,
                        );
                    }
                    tls.clone().map_or(Tcp::Http, Tcp::Https)
                }
                "http+unix" | "scgi+unix" | "unix" => {
                    let path = socket_path(&scheme, url).map_err(|reason| usage(&reason))?;
                    listening.urls.push(url.clone());
                    let scgi = scheme == "scgi+unix";
                    listening.sockets.push(Socket { path, scgi });
                    continue;
                }
                "udp" => {
                    let addresses = addresses(&scheme, rest).map_err(|reason| usage(&reason))?;
                    listening.datagrams.extend(addresses);
                    continue;
                }
                _ => return Err(usage(&EXPECTED)),
            };
            for address in addresses(&scheme, rest).map_err(|reason| usage(&reason))? {
                listening.listen(&scheme, address, &how, workers)?;
            }
        }
        if self.cert.is_some() && tls.is_none() {
            let message = "--cert is for https:// and tcp+tls://, which no --listen has";
            return Err(Failure::usage(message));
        }
        Ok(listening)
    }

    /// Whether a URL asks for frames.
    pub(crate) fn names_frames(&self) -> bool {
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
            return Err("https takes a certificate and its key: --cert FILE --key FILE".to_owned());
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

impl Listening {
    fn listen(
        &mut self,
        scheme: &str,
        address: SocketAddr,
        how: &Tcp,
        workers: NonZeroUsize,
    ) -> Result<(), Failure> {
        let fail = |error: io::Error| {
            Failure::usage(format!("cannot listen on {scheme}://{address}: {error}"))
        };
        let listeners = bind_shared(address, workers).map_err(fail)?;
        // Port 0 has become a port.
        let bound = listeners
            .first()
            .map_or(Ok(address), TcpListener::local_addr);
        self.urls
            .push(format!("{scheme}://{}", bound.map_err(fail)?));
        let count = self.workers.len().max(listeners.len());
        self.workers.resize_with(count, Vec::new);
        for (own, listener) in self.workers.iter_mut().zip(listeners) {
            let how = how.clone();
            own.push(Speaking { listener, how });
        }
        Ok(())
    }

    /// Serves the Unix sockets and those of UDP on this runtime. No two threads can share one as
    /// they can share a port.
    pub(crate) async fn sockets(
        &mut self,
        server: &Server,
    ) -> Result<Vec<RunningServer<BoundAddress>>, Failure> {
        let mut running = Vec::new();
        for address in &self.datagrams {
            let listening = server.listen_udp(*address).await.map_err(|error| {
                Failure::usage(format!("cannot listen on udp://{address}: {error}"))
            })?;
            // Port 0 has become a port.
            self.urls.push(format!("udp://{}", listening.address()));
            running.push(listening.into_any());
        }
        for Socket { path, scgi } in &self.sockets {
            let listening = on_socket(server, path.clone(), self.mode, *scgi).await;
            let listening = listening.map_err(|error| {
                let scheme = if *scgi { "scgi+unix" } else { "unix" };
                let path = path.display();
                Failure::usage(format!("cannot listen on {scheme}://{path}: {error}"))
            })?;
            running.push(listening.into_any());
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
    Err(io::Error::other("this system has no Unix sockets"))
}

impl Speaking {
    /// Serves on this runtime.
    pub(crate) fn serve(self, server: &Server) -> io::Result<RunningServer> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        match self.how {
            Tcp::Http => server.serve(listener),
            Tcp::Https(tls) => server.serve(listener.tls(&tls)),
            Tcp::Scgi => server.serve_scgi(listener),
        }
    }
}

/// The addresses of `HOST:PORT`.
fn addresses(scheme: &str, rest: &str) -> Result<Vec<SocketAddr>, String> {
    let authority = rest.trim_end_matches('/');
    if authority.contains(['/', '?', '#']) {
        return Err(format!(
            "expected {scheme}://HOST:PORT: a path is for --mount, not for where to listen"
        ));
    }
    let resolved = authority
        .to_socket_addrs()
        .map_err(|error| format!("expected {scheme}://HOST:PORT ({error})"))?;
    // A name may be listed twice with one address. That is no mistake of
    // the caller, as naming an address twice is.
    let mut own: Vec<SocketAddr> = Vec::new();
    for address in resolved {
        if !own.contains(&address) {
            own.push(address);
        }
    }
    Ok(own)
}

/// The path of a socket, as clients read it.
fn socket_path(scheme: &str, url: &str) -> Result<PathBuf, String> {
    let expected = |reason: &str| format!("expected {scheme}:///PATH: {reason}");
    let path = connect::socket_path(url).map_err(|error| expected(error.reason()))?;
    match url.ends_with('/') {
        true => Err(expected("the path of a socket does not end in a slash")),
        false => Ok(path),
    }
}

/// Reads the mode of a file.
fn mode(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("expected the mode of a file in octal, such as 660".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(urls: &[&str]) -> Result<Listening, Failure> {
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
    fn what_cannot_be_listened_on_says_why() {
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
    fn urls_have_the_ports_that_there_are() {
        let urls = [
            "http://127.0.0.1:0",
            "scgi://127.0.0.1:0",
            "tcp://127.0.0.1:0",
        ];
        let listening = bind(&urls).unwrap();
        assert_eq!(listening.workers.len(), 1);
        assert_eq!(listening.workers[0].len(), 3);
        assert!(listening.urls[1].starts_with("scgi://127.0.0.1:"));
        assert!(listening.urls[2].starts_with("tcp://127.0.0.1:"));
        assert!(!listening.urls.iter().any(|url| url.ends_with(":0")));
    }
}
