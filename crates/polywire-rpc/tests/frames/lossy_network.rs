//! A UDP proxy that drops, duplicates and delays datagrams.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// How many of 1,000 datagrams are lost, duplicated or delayed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NetworkConditions {
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    /// Datagrams that are delayed by 3 ms and so arrive after later ones.
    pub(crate) delayed: u64,
}

/// A proxy between clients and a server. Dropping it stops it.
pub(crate) struct Network {
    pub(crate) address: SocketAddr,
    pub(crate) lost: Arc<AtomicU64>,
    _tasks: JoinSet<()>,
}

/// A generator of random decisions. The decisions for a seed are the same in each run.
struct Rng(u64);

impl Rng {
    const fn chance(&mut self, of_thousand: u64) -> bool {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % 1_000 < of_thousand
    }
}

impl Network {
    pub(crate) async fn new(server: SocketAddr, conditions: NetworkConditions) -> Self {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let address = socket.local_addr().unwrap();
        let lost = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        let count = Arc::clone(&lost);
        tasks.spawn(async move {
            let mut rng = Rng(7);
            let mut backs: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
            let mut answers = JoinSet::new();
            let mut buffer = vec![0; 65_536];
            loop {
                let (len, from) = socket.recv_from(&mut buffer).await.unwrap();
                let back = match backs.get(&from) {
                    Some(back) => Arc::clone(back),
                    None => {
                        let back = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
                        back.connect(server).await.unwrap();
                        backs.insert(from, Arc::clone(&back));
                        let own = Arc::clone(&socket);
                        let count = Arc::clone(&count);
                        answers.spawn(answer(conditions, Arc::clone(&back), own, from, count));
                        back
                    }
                };
                let send = move |bytes: Vec<u8>| {
                    let back = Arc::clone(&back);
                    async move {
                        let _ = back.send(&bytes).await;
                    }
                };
                pass(conditions, &mut rng, &count, &buffer[..len], send);
            }
        });
        Self {
            address,
            lost,
            _tasks: tasks,
        }
    }
}

/// Forwards the datagrams of the server to a client.
async fn answer(
    conditions: NetworkConditions,
    back: Arc<UdpSocket>,
    own: Arc<UdpSocket>,
    client: SocketAddr,
    lost: Arc<AtomicU64>,
) {
    let mut rng = Rng(u64::from(client.port()));
    let mut buffer = vec![0; 65_536];
    loop {
        // `recv` fails while the server is not listening.
        let Ok(len) = back.recv(&mut buffer).await else {
            continue;
        };
        let own = Arc::clone(&own);
        let send = move |bytes: Vec<u8>| {
            let own = Arc::clone(&own);
            async move {
                let _ = own.send_to(&bytes, client).await;
            }
        };
        pass(conditions, &mut rng, &lost, &buffer[..len], send);
    }
}

/// Forwards a datagram, unless it is lost: once or twice, at once or after 3 ms.
fn pass<F>(
    conditions: NetworkConditions,
    rng: &mut Rng,
    lost: &AtomicU64,
    bytes: &[u8],
    send: impl Fn(Vec<u8>) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let copies = if rng.chance(conditions.duplicated) {
        2
    } else {
        1
    };
    for _ in 0..copies {
        if rng.chance(conditions.lost) {
            lost.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let sending = send(bytes.to_vec());
        let delayed = rng.chance(conditions.delayed);
        tokio::spawn(async move {
            if delayed {
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
            sending.await;
        });
    }
}
