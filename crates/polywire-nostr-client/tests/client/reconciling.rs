//! Reconciliation (NIP-77).

use std::collections::BTreeSet;

use polywire_nostr::message::{MachineReadablePrefix, relay};
use polywire_nostr::negentropy::{FrameSizeLimit, Record, Records, Responder};
use polywire_nostr::{ClientMessage, EventId, Filter, SubscriptionId};
use polywire_nostr_client::{Relay, SyncError, SyncOptions};

use crate::support::{Peer, SHORT, TestRelay, notes, options, within};

fn record(at: u64, side: u8) -> Record {
    let mut id = [side; 32];
    id[..8].copy_from_slice(&at.to_be_bytes());
    Record::new(at, EventId::from_bytes(id)).unwrap()
}

/// The records of both sides, most of which are common.
fn sets() -> (Records, Records) {
    let common = || (0..3000).map(|at| record(at, 0));
    let ours = common()
        .chain((0..700).map(|at| record(3 * at, 1)))
        .collect();
    let theirs = common()
        .chain((0..900).map(|at| record(2 * at, 2)))
        .collect();
    (ours, theirs)
}

fn filter() -> Filter {
    let [filter] = notes();
    filter
}

async fn open(peer: &mut Peer) -> (SubscriptionId<'static>, Filter, Vec<u8>) {
    let read = |message: ClientMessage<'_>| match message {
        ClientMessage::NegOpen {
            subscription,
            filter,
            message,
        } => Some((subscription.into_owned(), filter, message)),
        _ => None,
    };
    peer.expect(read).await
}

async fn expect_neg_close(peer: &mut Peer, id: &SubscriptionId<'_>) {
    let read = |message: ClientMessage<'_>| match message {
        ClientMessage::NegClose(subscription) => Some(subscription.into_owned()),
        _ => None,
    };
    assert_eq!(peer.expect(read).await, *id);
}

/// Answers until the client closes the reconciliation. Returns the number of answers.
async fn run_responder(peer: &mut Peer, records: &Records, limit: FrameSizeLimit) -> usize {
    let responder = Responder::new(records).with_frame_size_limit(limit);
    let (id, asked, mut message) = open(peer).await;
    assert_eq!(asked, filter());
    for answers in 1.. {
        peer.neg_msg(&id, &responder.respond(&message).unwrap())
            .await;
        let read = |message: ClientMessage<'_>| match message {
            ClientMessage::NegMsg { message, .. } => Some(Some(message)),
            ClientMessage::NegClose(_) => Some(None),
            _ => None,
        };
        match peer.expect(read).await {
            Some(next) => message = next,
            None => return answers,
        }
    }
    unreachable!()
}

#[tokio::test]
async fn finds_all_differences() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    let (ours, theirs) = sets();
    for limit in [
        FrameSizeLimit::default(),
        FrameSizeLimit::new(4096).unwrap(),
    ] {
        let options = SyncOptions::new().with_frame_size(limit);
        let syncing = client.sync(filter(), &ours, options);
        let relay = run_responder(&mut peer, &theirs, limit);
        let (difference, answers) = within(async { tokio::join!(syncing, relay) }).await;
        let difference = difference.unwrap();
        let ids = |records: &Records| -> BTreeSet<EventId> {
            records
                .as_slice()
                .iter()
                .map(|record| *record.id())
                .collect()
        };
        let (have, need) = (difference.have.len(), difference.need.len());
        assert_eq!((have, need), (700, 900), "each once, in {answers} answers");
        let have: BTreeSet<_> = difference.have.into_iter().collect();
        let need: BTreeSet<_> = difference.need.into_iter().collect();
        assert_eq!(have, &ids(&ours) - &ids(&theirs));
        assert_eq!(need, &ids(&theirs) - &ids(&ours));
    }
}

#[tokio::test]
async fn the_number_of_rounds_is_limited() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    let (ours, theirs) = sets();
    let limit = FrameSizeLimit::default();

    let few = SyncOptions::new().with_max_rounds(1);
    let relay = run_responder(&mut peer, &theirs, limit);
    let syncing = client.sync(filter(), &ours, few);
    let (result, _) = within(async {
        tokio::join!(syncing, async {
            relay.await;
        })
    })
    .await;
    assert!(
        matches!(result, Err(SyncError::TooManyRounds)),
        "{result:?}"
    );
}

#[tokio::test]
async fn the_number_of_differences_is_limited() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    let (ours, theirs) = sets();
    let few = SyncOptions::new().with_max_differences(100);
    let relay = run_responder(&mut peer, &theirs, FrameSizeLimit::default());
    let syncing = client.sync(filter(), &ours, few);
    let (result, _) = within(async { tokio::join!(syncing, relay) }).await;
    assert!(
        matches!(result, Err(SyncError::TooManyDifferences)),
        "{result:?}"
    );
}

#[tokio::test]
async fn rejected() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    let ours = Records::default();
    let relay = async {
        let (id, ..) = open(&mut peer).await;
        peer.send_with(|out| relay::push_neg_err(out, &id, "blocked: too many", Some(500)))
            .await;
    };
    let syncing = client.sync(filter(), &ours, SyncOptions::new());
    let (result, ()) = within(async { tokio::join!(syncing, relay) }).await;
    let Err(SyncError::Refused {
        refusal,
        max_records,
    }) = result
    else {
        panic!("{result:?}");
    };
    assert_eq!(
        (refusal.prefix, max_records),
        (Some(MachineReadablePrefix::Blocked), Some(500))
    );
}

#[tokio::test]
async fn malformed_disconnected_and_unanswered() {
    let mut server = TestRelay::start().await;
    let patient = server.client();
    let mut peer = server.accept().await;
    let ours = Records::default();

    let relay = async {
        let (id, ..) = open(&mut peer).await;
        peer.neg_msg(&id, b"\x61\xff").await;
        expect_neg_close(&mut peer, &id).await;
    };
    let syncing = patient.sync(filter(), &ours, SyncOptions::new());
    let (result, ()) = within(async { tokio::join!(syncing, relay) }).await;
    assert!(
        matches!(result, Err(SyncError::Negentropy(_))),
        "{result:?}"
    );

    let relay = async {
        open(&mut peer).await;
        drop(peer);
    };
    let syncing = patient.sync(filter(), &ours, SyncOptions::new());
    let (result, ()) = within(async { tokio::join!(syncing, relay) }).await;
    assert!(matches!(result, Err(SyncError::Disconnected)), "{result:?}");
    patient.shutdown();
    let result = within(patient.sync(filter(), &ours, SyncOptions::new())).await;
    let over = matches!(result, Err(SyncError::Shutdown | SyncError::Disconnected));
    assert!(over, "{result:?}");

    let mut server = TestRelay::start().await;
    let impatient = Relay::connect_with(&server.url(), options().request_timeout(SHORT));
    let mut peer = server.accept().await;
    let result = within(impatient.sync(filter(), &ours, SyncOptions::new())).await;
    assert!(
        matches!(result, Err(SyncError::Timeout { .. })),
        "{result:?}"
    );
    let (id, ..) = open(&mut peer).await;
    expect_neg_close(&mut peer, &id).await;
}
