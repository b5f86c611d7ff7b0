//! Prints what relays have and what they receive: `cargo run -p polywire-nostr-client --example feed -- wss://RELAY...`
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints")]

use polywire_nostr::{Filter, RelayUrl};
use polywire_nostr_client::{Pool, RelayOptions, SubscribeOptions, SubscriptionItem};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = Pool::new(RelayOptions::new());
    for url in std::env::args().skip(1) {
        pool.add(&RelayUrl::parse(&url)?);
    }
    let notes = Filter::new().with_kinds([1]).with_limit(20);
    let mut subscription = pool.subscribe([notes], SubscribeOptions::new());
    while let Some(item) = subscription.recv().await {
        match item {
            SubscriptionItem::Event(event) => println!("{}", event.as_ref().content()),
            SubscriptionItem::EndOfStored => println!("-- new ones follow --"),
            SubscriptionItem::Closed { relay, refusal } => eprintln!("{relay}: {refusal}"),
            _ => {}
        }
    }
    Ok(())
}
