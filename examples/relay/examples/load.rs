//! A load generator for a relay on this machine. It measures how many events per second the relay accepts, and the
//! latency of new events to many subscriptions. See the README of the relay.
#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use hdrhistogram::Histogram;
use polywire_nostr::message::client;
use polywire_nostr::{Event, EventBuilder, Filter, KeyPair, SecretKey, SubscriptionId};
use polywire_rpc::websocket::{Message, WebSocket, WebSocketLimits};
use tokio::sync::Semaphore;

#[derive(Parser)]
struct Arguments {
    /// The URL of the relay, which must run on this machine.
    #[arg(long, default_value = "ws://127.0.0.1:7447")]
    url: String,
    /// The process id of the relay, to show its CPU time.
    #[arg(long)]
    pid: Option<u32>,
    /// The number of authors.
    #[arg(long, default_value_t = 1_000)]
    authors: u32,
    #[command(subcommand)]
    mode: Mode,
}

#[derive(Subcommand)]
enum Mode {
    /// Publishes as fast as the relay accepts events.
    Publish {
        #[arg(long, default_value_t = 100_000)]
        events: usize,
        #[arg(long, default_value_t = 16)]
        connections: usize,
        /// The unanswered events per connection.
        #[arg(long, default_value_t = 500)]
        window: usize,
        /// The threads of the comparison, which only verifies signatures.
        #[arg(long, default_value_t = 2)]
        threads: usize,
    },
    /// Publishes at a constant rate to many subscriptions. The relay needs --requests-per-second 0.
    Subscriptions {
        #[arg(long, default_value_t = 10_000)]
        subscriptions: u32,
        #[arg(long, default_value_t = 100)]
        connections: u32,
        /// The events per second.
        #[arg(long, default_value_t = 100)]
        rate: u32,
        #[arg(long, default_value_t = 2_000)]
        events: usize,
    },
}

#[tokio::main]
async fn main() {
    let arguments = Arguments::parse();
    match arguments.mode {
        Mode::Publish {
            events,
            connections,
            window,
            threads,
        } => {
            println!("signing {events} events of {} authors", arguments.authors);
            let events: Arc<[Event]> = sign(events, arguments.authors, threads).into();
            let bytes: usize = events
                .iter()
                .map(|event| event.as_ref().as_json().len())
                .sum();
            println!("{} bytes per event", bytes / events.len());
            let before = verify(&events, threads);
            let publishers = Publishers {
                url: &arguments.url,
                connections,
                window,
            };
            let (rate, busy) = publishers.run(&events, arguments.pid).await;
            let after = verify(&events, threads);
            let alone = before.0.midpoint(after.0);
            println!(
                "verification alone, {threads} threads: {:.0} before, {:.0} after",
                before.0, after.0
            );
            println!(
                "accepted: {rate:.0} events per second, {:.2} of that",
                rate / alone
            );
            if let Some(busy) = busy {
                let micros = busy.as_secs_f64() * 1e6 / events.len() as f64;
                let alone = before.1.min(after.1);
                println!(
                    "CPU time: {micros:.1} µs per event; verification {alone:.1} µs, {:.2} of that",
                    alone / micros
                );
            }
        }
        Mode::Subscriptions {
            subscriptions,
            connections,
            rate,
            events,
        } => {
            let events = sign(events, arguments.authors, 2);
            let subscribers = Subscribers {
                url: &arguments.url,
                authors: arguments.authors,
                subscriptions,
                connections,
            };
            subscribers.run(&events, rate).await;
        }
    }
}

fn keys(author: u32) -> KeyPair {
    let mut secret = [1; 32];
    secret[..4].copy_from_slice(&author.to_be_bytes());
    SecretKey::from_bytes(secret).unwrap().into()
}

/// Signs typical notes: a reply in a thread to two users, with a topic.
fn sign(count: usize, authors: u32, threads: usize) -> Vec<Event> {
    let words = [
        "coffee",
        "relay",
        "good",
        "morning",
        "the",
        "network",
        "of",
        "ships",
        "bitcoin",
        "\u{1f30d}",
        "why",
        "it's",
    ];
    let pairs: Vec<_> = (0..authors).map(keys).collect();
    // Events differ between runs.
    let run = std::time::UNIX_EPOCH.elapsed().unwrap();
    let signed = |number: usize| {
        let mut random =
            (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(run.subsec_nanos());
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random as usize % below
        };
        let length = 5 + next(40);
        let text: Vec<_> = (0..length).map(|_| words[next(words.len())]).collect();
        let users =
            [next(pairs.len()), next(pairs.len())].map(|at| pairs[at].public_key().to_string());
        let root = format!("{:016x}", next(usize::MAX)).repeat(4);
        let age = next(100) as u64;
        let author = &pairs[number % pairs.len()];
        EventBuilder::new(1, text.join(" "), run.as_secs() - age)
            .tag(["e", &root, "wss://relay.example.com", "root"])
            .tag(["p", &users[0]])
            .tag(["p", &users[1]])
            .tag(["t", words[next(words.len())]])
            .tag(["n", &number.to_string()])
            .sign(author)
    };
    let share = count.div_ceil(threads);
    std::thread::scope(|scope| {
        let shares = (0..threads).map(|thread| {
            let range = thread * share..count.min((thread + 1) * share);
            scope.spawn(move || range.map(signed).collect::<Vec<_>>())
        });
        let shares: Vec<_> = shares.collect();
        shares
            .into_iter()
            .flat_map(|share| share.join().unwrap())
            .collect()
    })
}

/// Verifies signatures. Returns the number per second, and the CPU time of one in microseconds.
fn verify(events: &[Event], threads: usize) -> (f64, f64) {
    let events = &events[..events.len().min(50_000)];
    let busy = cpu_time(std::process::id());
    let start = Instant::now();
    std::thread::scope(|scope| {
        for share in events.chunks(events.len().div_ceil(threads)) {
            scope.spawn(move || {
                for event in share {
                    let event = event.as_ref();
                    event.pubkey().verify(event.id(), event.sig()).unwrap();
                }
            });
        }
    });
    let rate = events.len() as f64 / start.elapsed().as_secs_f64();
    let busy = cpu_time(std::process::id()) - busy;
    (rate, busy.as_secs_f64() * 1e6 / events.len() as f64)
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> Message {
    let mut out = Vec::new();
    write(&mut out);
    Message::from(String::from_utf8(out).unwrap())
}

fn published(event: &Event) -> Message {
    text(|out| client::push_event(out, event.as_ref().as_json()))
}

async fn connect(url: &str) -> WebSocket {
    let limits = WebSocketLimits::DEFAULT.with_max_queued(100_000, 64 << 20);
    let mut socket = WebSocket::builder(url)
        .limits(limits)
        .connect()
        .await
        .unwrap();
    // AUTH
    socket.recv().await.unwrap().unwrap();
    socket
}

struct Publishers<'a> {
    url: &'a str,
    connections: usize,
    window: usize,
}

impl Publishers<'_> {
    /// Returns the accepted events per second, and the CPU time of the relay.
    async fn run(&self, events: &Arc<[Event]>, pid: Option<u32>) -> (f64, Option<Duration>) {
        let mut sockets = Vec::new();
        for _ in 0..self.connections {
            sockets.push(connect(self.url).await);
        }
        let busy = pid.map(cpu_time);
        let start = Instant::now();
        let share = events.len().div_ceil(self.connections);
        let tasks = sockets.into_iter().enumerate().map(|(number, mut socket)| {
            let range = number * share..events.len().min((number + 1) * share);
            let (events, count) = (Arc::clone(events), range.len());
            let window = Arc::new(Semaphore::new(self.window));
            let (sender, room) = (socket.sender(), Arc::clone(&window));
            tokio::spawn(async move {
                for event in &events[range] {
                    room.acquire().await.unwrap().forget();
                    sender.send(published(event)).await.unwrap();
                }
            });
            tokio::spawn(async move {
                for _ in 0..count {
                    let answer = socket.recv().await.unwrap().unwrap();
                    assert!(
                        answer.as_text().unwrap().ends_with(",true,\"\"]"),
                        "{answer:?}"
                    );
                    window.add_permits(1);
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let rate = events.len() as f64 / start.elapsed().as_secs_f64();
        (rate, busy.map(|before| cpu_time(pid.unwrap()) - before))
    }
}

/// Returns the CPU time of a process, with a resolution of 10 ms.
fn cpu_time(pid: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<_> = text.rsplit(')').next().unwrap().split(' ').collect();
    let ticks: u64 = fields[12].parse::<u64>().unwrap() + fields[13].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

struct Subscribers<'a> {
    url: &'a str,
    authors: u32,
    subscriptions: u32,
    connections: u32,
}

impl Subscribers<'_> {
    /// Opens the subscriptions, each to the notes of one author. Then publishes and prints the latencies.
    async fn run(&self, events: &[Event], rate: u32) {
        let start = Instant::now();
        let sent: Arc<[AtomicU64]> = events.iter().map(|_| AtomicU64::new(0)).collect();
        let each = self.subscriptions / self.connections;
        let expected: u32 = events.len() as u32 * (self.subscriptions / self.authors);
        let (deliveries, mut delivered) = tokio::sync::mpsc::unbounded_channel();
        let ready = Arc::new(Semaphore::new(0));
        for connection in 0..self.connections {
            let mut socket = connect(self.url).await;
            for number in 0..each {
                let author = (connection * each + number) % self.authors;
                let id = SubscriptionId::new(format!("feed-{number}")).unwrap();
                let filter = Filter::new()
                    .with_authors([keys(author).public_key()])
                    .with_kinds([1])
                    .with_limit(0);
                socket
                    .send(text(|out| client::push_req(out, &id, [&filter])))
                    .await
                    .unwrap();
            }
            let (sent, ready) = (Arc::clone(&sent), Arc::clone(&ready));
            let deliveries = deliveries.clone();
            tokio::spawn(async move {
                let mut open = 0;
                while let Some(Ok(message)) = socket.recv().await {
                    let text = message.as_text().unwrap();
                    if text.starts_with("[\"EOSE\"") {
                        open += 1;
                        if open == each {
                            ready.add_permits(1);
                        }
                    } else if let Some((_, number)) = text.split_once("[\"n\",\"") {
                        let number: usize = number.split_once('"').unwrap().0.parse().unwrap();
                        let now = start.elapsed().as_nanos() as u64;
                        let time = now - sent[number].load(Ordering::Relaxed);
                        deliveries.send(time).unwrap();
                    } else {
                        assert!(text.starts_with("[\"CLOSED\""), "{text}");
                        println!("{text}");
                    }
                }
            });
        }
        ready.acquire_many(self.connections).await.unwrap().forget();
        println!(
            "{} subscriptions on {} connections after {:?}",
            self.subscriptions,
            self.connections,
            start.elapsed()
        );
        let mut publisher = connect(self.url).await;
        let sender = publisher.sender();
        tokio::spawn(async move { while let Some(Ok(_)) = publisher.recv().await {} });
        let mut pace = tokio::time::interval(Duration::from_secs(1) / rate);
        for (number, event) in events.iter().enumerate() {
            pace.tick().await;
            sent[number].store(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
            sender.send(published(event)).await.unwrap();
        }
        let mut times = Histogram::<u64>::new(3).unwrap();
        let timeout = Duration::from_secs(5);
        while times.len() < expected.into()
            && let Ok(Some(time)) = tokio::time::timeout(timeout, delivered.recv()).await
        {
            times.record(time).unwrap();
        }
        let millis = |nanos: u64| nanos as f64 / 1e6;
        println!(
            "{} of {expected} deliveries: p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, maximum {:.2} ms",
            times.len(),
            millis(times.value_at_quantile(0.5)),
            millis(times.value_at_quantile(0.99)),
            millis(times.value_at_quantile(0.999)),
            millis(times.max()),
        );
    }
}
