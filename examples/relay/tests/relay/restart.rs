//! Restarts, kills and full disks.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use polywire_nostr::{Event, EventId, Filter, RelayMessage};
use polywire_rpc::websocket::CloseCode;
use tempfile::TempDir;

use crate::support::*;

#[tokio::test]
async fn events_survive_a_restart() {
    let mut relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let events: Vec<_> = (0..20)
        .map(|n| note(1, &n.to_string(), now() - n))
        .collect();
    for event in &events {
        client.accepted(event).await;
    }
    drop(client);
    for _ in 0..2 {
        relay.restart().await;
        let mut client = relay.client().await;
        assert_eq!(client.query(Filter::new()).await, events);
        assert!(
            client
                .publish(&events[3])
                .await
                .1
                .starts_with("duplicate: ")
        );
    }
}

#[tokio::test]
async fn shutdown_closes_subscriptions_and_connections() {
    let mut relay = TestRelay::start().await;
    let mut client = relay.client().await;
    client.subscribe("a", &[Filter::new()]).await;
    let event = note(1, "last", now());
    client.send(published(&event)).await;
    let (_, mut messages) = tokio::join!(relay.stop(), async {
        let mut messages = Vec::new();
        while let Some(Ok(message)) = client.socket.recv().await {
            messages.push(message.as_text().unwrap().to_owned());
        }
        messages
    });
    assert_eq!(
        client.socket.close_frame().unwrap().code,
        CloseCode::GOING_AWAY
    );
    let last = messages.pop().unwrap();
    assert_eq!(last, r#"["CLOSED","a","error: the relay is stopping"]"#);
}

#[tokio::test]
async fn two_relays_cannot_share_a_directory_or_a_port() {
    let relay = TestRelay::start().await;
    let start = |address: &str, directory: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_relay"))
            .args(["--listen", address, "--data"])
            .arg(directory)
            .output();
        let output = output.unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let text = start("127.0.0.1:0", relay.directory());
    assert!(text.contains("in use by another process"), "{text}");
    let directory = TempDir::new().unwrap();
    let text = start(&relay.address(), directory.path());
    assert!(text.contains("Address already in use"), "{text}");
}

/// A relay process.
struct RelayProcess {
    child: Child,
    url: String,
}

impl RelayProcess {
    /// Starts the relay after the commands `shell`, in the same process.
    fn start(directory: &Path, shell: &str) -> Self {
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("{shell} exec \"$@\""))
            .args(["sh", env!("CARGO_BIN_EXE_relay"), "--listen", "127.0.0.1:0"])
            .args([
                "--events-per-second",
                "0",
                "--requests-per-second",
                "0",
                "--data",
            ])
            .arg(directory)
            .env("NO_COLOR", "1")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = loop {
            let line = log.next().expect("the relay has exited").unwrap();
            if let Some((_, rest)) = line.split_once("url=\"") {
                break rest.split_once('"').unwrap().0.to_owned();
            }
        };
        // Read the rest of the log, so that the relay does not block.
        std::thread::spawn(move || log.for_each(drop));
        Self { child, url }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for RelayProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Publishes events without waiting for OK until the connection is closed. Returns the acknowledged events.
async fn publish(url: String, events: impl Iterator<Item = Event>) -> Vec<EventId> {
    let client = Client::connect(&url).await;
    let mut socket = client.socket;
    let sender = socket.sender();
    let sending = async move {
        for event in events {
            if sender.send(published(&event)).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let receiving = async {
        let mut acknowledged = Vec::new();
        while let Some(Ok(message)) = socket.recv().await {
            if let RelayMessage::Ok {
                id, accepted: true, ..
            } = read(message.as_text().unwrap())
            {
                acknowledged.push(id);
            }
        }
        acknowledged
    };
    tokio::join!(sending, receiving).1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_events_survive_kills() {
    const ROUNDS: u64 = 4;
    const CLIENTS: u64 = 4;
    let directory = TempDir::new().unwrap();
    let mut acknowledged = HashSet::new();
    for round in 0..ROUNDS {
        let process = RelayProcess::start(directory.path(), "");
        let clients = (0..CLIENTS).map(|client| {
            let events = (0..).map(move |n| {
                let content = format!("{round} {client} {n}");
                note(client as u8 + 1, &content, now() - n % 1000)
            });
            tokio::spawn(publish(process.url.clone(), events))
        });
        let clients: Vec<_> = clients.collect();
        tokio::time::sleep(Duration::from_millis(700 + 300 * round)).await;
        process.kill();
        for client in clients {
            acknowledged.extend(client.await.unwrap());
        }
    }
    assert!(!acknowledged.is_empty());
    println!("{} events were acknowledged", acknowledged.len());
    let process = RelayProcess::start(directory.path(), "");
    let mut client = Client::connect(&process.url).await;
    let ids: Vec<_> = acknowledged.iter().copied().collect();
    for ids in ids.chunks(500) {
        let filter = Filter::new().with_ids(ids.iter().copied());
        let found = client.query(filter).await;
        let found: HashSet<_> = found.iter().map(|event| *event.as_ref().id()).collect();
        let lost = ids.iter().filter(|id| !found.contains(id)).count();
        assert_eq!(lost, 0, "of {} acknowledged events", acknowledged.len());
    }
    // The other indexes have them too.
    let mut counted = 0;
    for author in 1..=CLIENTS {
        let author = keys(author as u8).public_key();
        client
            .send(format!(
                r#"["COUNT","c",{{"authors":["{author}"],"kinds":[1]}}]"#
            ))
            .await;
        let answer = client.next().await;
        let RelayMessage::Count { count, .. } = read(&answer) else {
            panic!("{answer}")
        };
        counted += count.count as usize;
    }
    assert!(
        counted >= acknowledged.len(),
        "{counted} of {}",
        acknowledged.len()
    );
}

#[tokio::test]
async fn events_are_not_acknowledged_when_the_disk_is_full() {
    let directory = TempDir::new().unwrap();
    // Limits files to 4 MiB, and ignores the signal for larger ones.
    let process = RelayProcess::start(directory.path(), "trap '' XFSZ; ulimit -f 8192;");
    let mut client = Client::connect(&process.url).await;
    let (content, start) = ("x".repeat(50_000), now());
    let mut stored = Vec::new();
    for number in 0..400 {
        let event = note(1, &format!("{number} {content}"), start - number);
        let (accepted, reason) = client.publish(&event).await;
        if !accepted {
            assert!(
                reason.starts_with("error: the database could not be "),
                "{reason}"
            );
            break;
        }
        stored.push(event);
    }
    assert!(!stored.is_empty() && stored.len() < 400, "{}", stored.len());
    let (accepted, reason) = client.publish(&note(1, "small", now())).await;
    assert!(!accepted && reason.starts_with("error: "), "{reason}");
    // Stored events are still served, also after a restart with more space.
    assert_eq!(client.query(Filter::new()).await, stored);
    process.kill();
    let process = RelayProcess::start(directory.path(), "");
    let mut client = Client::connect(&process.url).await;
    assert_eq!(client.query(Filter::new()).await, stored);
    client.accepted(&note(1, "small", now())).await;
}
