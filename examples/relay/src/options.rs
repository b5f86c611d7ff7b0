//! Command line options.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;
use polywire_nostr::RelayUrl;

/// A Nostr relay that stores events on disk.
#[derive(Clone, Debug, Parser)]
#[command(version)]
pub struct Options {
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7447")]
    pub listen: SocketAddr,
    /// The data directory. It is created if it does not exist.
    #[arg(long, value_name = "DIRECTORY", default_value = "relay-data")]
    pub data: PathBuf,
    /// The URL that clients connect to. AUTH events must contain it (NIP-42). Default: the URL of the address.
    #[arg(long, value_name = "URL")]
    pub url: Option<RelayUrl>,
    /// The name in the information document (NIP-11).
    #[arg(long, default_value = "A Polywire relay")]
    pub name: String,
    /// The TLS certificate chain, in PEM. Requires --tls-key.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The TLS private key, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Require authentication (NIP-42) to publish and to read.
    #[arg(long)]
    pub require_auth: bool,
    /// The maximum size of a client message.
    #[arg(long, value_name = "BYTES", default_value_t = 128 << 10)]
    pub max_message: usize,
    /// The maximum number of tags of an event.
    #[arg(long, value_name = "COUNT", default_value_t = 2_000)]
    pub max_tags: usize,
    /// How far `created_at` may be in the future.
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    pub max_future: u64,
    /// The maximum number of subscriptions of a connection.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub max_subscriptions: usize,
    /// The maximum number of filters of a request.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub max_filters: usize,
    /// The maximum number of stored events to return per filter. Lowers the `limit` of filters.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    pub max_limit: u64,
    /// The maximum number of events to examine, and of scans to start, per filter.
    #[arg(long, value_name = "COUNT", default_value_t = 500_000)]
    pub max_work: u64,
    /// The maximum number of events of a reconciliation (NIP-77).
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    pub max_records: u64,
    /// The maximum number of EVENT and AUTH messages per second and IP address. 0: no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub events_per_second: u32,
    /// The maximum number of REQ, COUNT, NEG-OPEN and NEG-MSG messages per second and IP address. 0: no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub requests_per_second: u32,
    /// The maximum number of connections per IP address.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub max_connections: u32,
    /// Disconnect a client that accepts no data for this time.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub slow_reader: u64,
    /// The maximum number of bytes in the send queue of a connection.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20)]
    pub max_queue: usize,
    /// Write the index when this many keys are in memory.
    #[arg(long, value_name = "COUNT", default_value_t = 150_000)]
    pub index_keys: usize,
    /// The size of the database cache.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub cache: usize,
}
