//! Tunnels through proxies: `CONNECT` of HTTP, and SOCKS5.

use std::future::ready;

use http::Uri;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::rt::TokioIo;
use tower::Service;

use super::dial::Dialer;
use super::proxy::{Hop, HopKind};
use super::stream::Socket;
use super::{Step, TransportError};

/// Opens a tunnel to a server over a connection to its proxy.
pub(super) async fn open(
    dialer: &Dialer,
    hop: &Hop,
    socket: Socket,
    (host, port): (&str, u16),
    address: &str,
) -> Result<Socket, TransportError> {
    let failed = |reason: String| dialer.error(Step::Proxy).at(address).because(reason);
    let proxy = hop
        .uri()
        .ok_or_else(|| failed("it is no host".to_owned()))?;
    let target = match hop.kind {
        HopKind::Socks5 { local_lookup: true } => {
            let found = dialer.resolve(host, port).await?;
            found[0].to_string()
        }
        _ => format!("{host}:{port}"),
    };
    let target = Uri::builder()
        .scheme("http")
        .authority(target)
        .path_and_query("/")
        .build()
        .map_err(|error| failed(error.to_string()))?;
    let mut socket = Some(TokioIo::new(socket));
    let connected = tower::service_fn(move |_: Uri| {
        let socket = socket.take();
        ready(socket.ok_or_else(|| std::io::Error::other("connected twice")))
    });
    let opened = match hop.kind {
        HopKind::Http => {
            let mut tunnel = Tunnel::new(proxy, connected);
            if let Some(credentials) = &hop.credentials {
                tunnel = tunnel.with_auth(credentials.basic());
            }
            tunnel
                .call(target)
                .await
                .map_err(|error| with_cause(&error))
        }
        HopKind::Socks5 { .. } => {
            let mut socks = SocksV5::new(proxy, connected);
            if let Some(credentials) = hop.credentials.clone() {
                socks = socks.with_auth(credentials.user, credentials.password);
            }
            socks.call(target).await.map_err(|error| error.to_string())
        }
    };
    Ok(opened.map_err(failed)?.into_inner())
}

fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
