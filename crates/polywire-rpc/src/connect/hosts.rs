//! Connections to several servers, for clients whose requests have different hosts.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use http::Uri;

use super::dial::ConnectOptions;
use super::transport::Transport;
use super::url::{ServerUrl, UrlError};

/// The largest number of hosts with connections. The one that was not used for the longest time is forgotten; requests to
/// it that are in progress end as usual.
const MAX_HOSTS: usize = 64;

/// The transports to the hosts of recent requests.
pub(crate) struct Hosts {
    /// With the TLS configuration of all hosts, once one of them has needed it: reading the certificates of the system is
    /// slow.
    options: Mutex<ConnectOptions>,
    /// The latest first.
    transports: Mutex<Vec<Transport>>,
}

impl Hosts {
    pub(crate) fn new(options: ConnectOptions) -> Self {
        Self {
            options: Mutex::new(options),
            transports: Mutex::default(),
        }
    }

    /// The transport to the host of an absolute URL.
    ///
    /// # Errors
    ///
    /// The URL has no scheme or host, or TLS is not possible.
    pub(crate) fn transport(&self, uri: &Uri) -> Result<Transport, UrlError> {
        let mut transports = self
            .transports
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &Transport| {
            let url = known.url();
            uri.scheme_str() == Some(url.http_scheme()) && uri.authority() == Some(&url.authority)
        };
        if let Some(at) = transports.iter().position(is_same) {
            transports[..=at].rotate_right(1);
            return Ok(transports[0].clone());
        }
        let scheme = uri.scheme_str().unwrap_or_default();
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let url = ServerUrl::for_http(&format!("{scheme}://{host}"))?;
        #[cfg_attr(not(feature = "tls"), expect(unused_mut, reason = "changed for TLS"))]
        let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(feature = "tls")]
        if url.wire.is_tls() {
            options.prepare_tls(&url)?;
        }
        let transport = Transport::new(url, &options)?;
        transports.insert(0, transport.clone());
        transports.truncate(MAX_HOSTS);
        Ok(transport)
    }
}

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transports = self.transports.lock();
        let transports = transports.unwrap_or_else(PoisonError::into_inner);
        f.debug_tuple("Hosts").field(&*transports).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(known: &Hosts) -> Vec<String> {
        let transports = known.transports.lock().unwrap();
        let hosts = transports.iter().map(|own| own.url().shown().to_owned());
        hosts.collect()
    }

    #[tokio::test]
    async fn the_latest_hosts_are_kept() {
        let known = Hosts::new(ConnectOptions::new());
        let find = |uri: &str| known.transport(&uri.parse().unwrap()).map(|_| ());
        for uri in ["http://a/x", "http://b:1/", "http://a/y?z", "http://b:2/"] {
            find(uri).unwrap();
        }
        assert_eq!(hosts(&known), ["http://b:2", "http://a", "http://b:1"]);
        for port in 1..=100 {
            find(&format!("http://c:{port}/")).unwrap();
        }
        let hosts = hosts(&known);
        assert_eq!((hosts.len(), &*hosts[0]), (MAX_HOSTS, "http://c:100"));
        assert!(find("ftp://a/").is_err() && find("/a").is_err());
    }
}
