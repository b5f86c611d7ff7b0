//! The arguments of the program.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;
use polywire_nostr::RelayUrl;

/// A Nostr relay that keeps its events on disk.
#[derive(Clone, Debug, Parser)]
#[command(version)]
pub struct Options {
    /// Where it listens.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7447")]
    pub listen: SocketAddr,
    /// The folder of its data. It is made if it is not there.
    #[arg(long, value_name = "FOLDER", default_value = "relay-data")]
    pub data: PathBuf,
    /// The URL by which clients reach it, which proofs of identity (NIP-42) name. By default that of the address.
    #[arg(long, value_name = "URL")]
    pub url: Option<RelayUrl>,
    /// Its name in the information document (NIP-11).
    #[arg(long, default_value = "A Polywire relay")]
    pub name: String,
    /// The certificates of TLS, in PEM. With --tls-key.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of TLS, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Clients must prove who they are before they publish or ask (NIP-42).
    #[arg(long)]
    pub require_auth: bool,
    /// The bytes of a message.
    #[arg(long, value_name = "BYTES", default_value_t = 128 << 10)]
    pub max_message: usize,
    /// The tags of an event.
    #[arg(long, value_name = "COUNT", default_value_t = 2_000)]
    pub max_tags: usize,
    /// The seconds that an event may be ahead of the clock.
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    pub max_future: u64,
    /// The subscriptions of a connection.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub max_subscriptions: usize,
    /// The filters of a subscription.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub max_filters: usize,
    /// The stored events that a filter gets. A larger limit is lowered to this.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    pub max_limit: u64,
    /// The events that a filter may have looked at.
    #[arg(long, value_name = "COUNT", default_value_t = 500_000)]
    pub max_work: u64,
    /// The events of a reconciliation (NIP-77).
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    pub max_records: u64,
    /// The events that an address may publish a second. 0: as many as it can.
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub events_per_second: u32,
    /// The subscriptions, counts and steps of reconciliations that an address may ask for a second. 0: as many as it can.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub requests_per_second: u32,
    /// The connections of an address.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub max_connections: u32,
    /// The seconds after which a client that reads too slowly is disconnected.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub slow_reader: u64,
    /// The bytes of messages that wait for a client to read them.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20)]
    pub max_queue: usize,
    /// The keys that are kept in memory before they go into the index on disk.
    #[arg(long, value_name = "COUNT", default_value_t = 150_000)]
    pub index_keys: usize,
    /// The MiB of the database's cache.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub cache: usize,
}
