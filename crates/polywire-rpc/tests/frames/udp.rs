//! Calls over UDP, and their results.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use polywire_frame::client::{Event, Operation, Request};
use polywire_frame::{FaultCode, Settings, Time};
use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::layers::Firewall;
use polywire_rpc::server::{FrameLimits, UdpAddress, UdpSocket};
use polywire_rpc::{Context, Methods, RunningServer, Server};

use crate::lossy_network::{Network, NetworkConditions};
use crate::overload::{on_each_poll, wait_for_stat};
use crate::support::methods;

async fn server() -> RunningServer<UdpAddress> {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    server.listen_udp(any_port()).await.unwrap()
}

fn any_port() -> UdpSocket {
    UdpSocket::new("127.0.0.1:0".parse().unwrap())
}

async fn client(running: &RunningServer<UdpAddress>) -> Client {
    let url = format!("udp://{}", running.address());
    Client::connect(&url).await.unwrap()
}

#[tokio::test]
async fn a_call_too_long_for_a_datagram_is_an_error() {
    let running = server().await;
    let client = client(&running).await;
    let text = "x".repeat(1_300);
    assert_eq!(
        client.call::<usize>("Length", (&text,)).await.unwrap(),
        1_300
    );
    let error = client.call::<usize>("Length", ("x".repeat(1_400),)).await;
    let words = error.unwrap_err().to_string();
    assert!(
        words.ends_with(" bytes, where at most 1400 are sent"),
        "{words}"
    );
    let error = client
        .call::<String>("Repeat", ("x", 1_400))
        .await
        .unwrap_err();
    let fault = error.fault().unwrap();
    assert_eq!(error.frame_code(), Some(FaultCode::TOO_LARGE));
    assert!(
        fault.message().contains("at most 1400 are sent"),
        "{fault:?}"
    );
}

#[tokio::test]
async fn longer_datagrams_if_configured() {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    let running = server
        .listen_udp(any_port().datagram(65_000))
        .await
        .unwrap();
    let url = format!("udp://{}", running.address());
    let client = Client::builder().endpoint(&url).datagram(65_000);
    let client = client.connect().await.unwrap();
    let text: String = client.call("Repeat", ("x", 64_900)).await.unwrap();
    assert_eq!(text.len(), 64_900);
    assert_eq!(
        client.call::<usize>("Length", (text,)).await.unwrap(),
        64_900
    );
    let error = client.call::<usize>("Length", ("x".repeat(65_000),)).await;
    let words = error.unwrap_err().to_string();
    assert!(words.ends_with("at most 65000 are sent"), "{words}");
}

/// Makes `calls` calls with each of `clients` clients, through a network that loses datagrams. Each call is answered,
/// and executed exactly once.
async fn lossy(conditions: NetworkConditions, clients: u32, calls: u32) {
    let done = Arc::new(Mutex::new(vec![0_u8; (clients * calls) as usize]));
    let seen = Arc::clone(&done);
    let methods = Methods::new().method("Do", move |(number, slow): (u32, bool)| {
        let seen = Arc::clone(&seen);
        async move {
            seen.lock().unwrap()[number as usize] += 1;
            if slow {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            u64::from(number) * 3
        }
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen_udp(any_port()).await.unwrap();
    let network = Network::new(running.address(), conditions).await;
    let url = format!("udp://{}", network.address);
    let mut tasks = Vec::new();
    for client in 0..clients {
        let own = Client::connect(&url).await.unwrap();
        for lane in 0..20 {
            let own = own.clone();
            tasks.push(tokio::spawn(async move {
                for number in (lane..calls).step_by(20) {
                    let number = client * calls + number;
                    let answer: u64 = own
                        .call("Do", (number, number.is_multiple_of(7)))
                        .await
                        .unwrap();
                    assert_eq!(answer, u64::from(number) * 3);
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    let lost = network.lost.load(Ordering::Relaxed);
    assert_eq!(lost > 0, conditions.lost > 0);
    let done = done.lock().unwrap();
    assert!(
        done.iter().all(|times| *times == 1),
        "{lost} datagrams were lost"
    );
}

#[tokio::test]
async fn with_one_percent_loss_all_calls_are_answered() {
    let conditions = NetworkConditions {
        lost: 10,
        ..NetworkConditions::default()
    };
    lossy(conditions, 2, 4_000).await;
}

#[tokio::test]
async fn with_twenty_percent_loss_all_calls_are_answered() {
    let conditions = NetworkConditions {
        lost: 200,
        ..NetworkConditions::default()
    };
    lossy(conditions, 2, 500).await;
}

#[tokio::test]
async fn duplicated_and_reordered_calls_are_executed_once() {
    let conditions = NetworkConditions {
        lost: 50,
        duplicated: 300,
        delayed: 300,
    };
    lossy(conditions, 2, 1_000).await;
}

/// After a crash and a restart of the server, an open call fails, and new calls are answered. The server has its own
/// runtime, which ends without a message to clients.
#[tokio::test]
async fn a_restarted_server_ends_open_calls_and_accepts_new_ones() {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    let first = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let own = server.clone();
    let listening = first.spawn(async move { own.listen_udp(any_port()).await });
    let running = listening.await.unwrap().unwrap();
    let address = running.address();
    let client = client(&running).await;
    let other = client.clone();
    let open = tokio::spawn(async move { other.call::<u64>("Sleep", (60_000,)).await });
    while client.pending() == 0 {
        tokio::task::yield_now().await;
    }
    // The reply shows that the server knows the client.
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    first.shutdown_background();
    running.ended().await;
    let again = loop {
        // The runtime closes the socket in the background.
        match server.listen_udp(UdpSocket::new(address)).await {
            Ok(again) => break again,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let error = open.await.unwrap().unwrap_err();
    let lost = error.kind() == CallErrorKind::Disconnected;
    assert!(lost, "{error:?}");
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    again.shutdown().await;
}

#[tokio::test]
async fn a_client_above_the_limit_is_rejected() {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    let running = server.listen_udp(any_port().clients(1)).await.unwrap();
    let client = client(&running).await;
    client.call::<i32>("Add", (2, 3)).await.unwrap();
    let error = Client::connect(&format!("udp://{}", running.address())).await;
    let words = error.unwrap_err().to_string();
    assert!(
        words.ends_with(": the limit of connections is reached"),
        "{words}"
    );
}

#[tokio::test]
async fn servers_without_frames_have_no_udp() {
    let server = Server::methods(methods()).build().unwrap();
    let error = server.listen_udp(any_port()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

/// Without a server, connecting fails: at once on Linux, after the connect timeout on other systems.
#[tokio::test]
async fn connecting_without_a_server_fails() {
    let closed = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let url = format!("udp://{}", closed.local_addr().unwrap());
    drop(closed);
    let error = Client::connect(&url).await.unwrap_err();
    let words = error.to_string();
    assert!(
        words.starts_with(&format!("cannot connect to {url}: ")),
        "{words}"
    );
}

#[tokio::test]
async fn garbage_does_not_affect_other_clients() {
    let running = server().await;
    let client = client(&running).await;
    client.call::<i32>("Add", (2, 3)).await.unwrap();
    let stranger = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    for len in [0, 1, 8, 23, 24, 200, 1_400, 60_000] {
        for byte in [0, 1, 2, 0xff] {
            let bytes = vec![byte; len];
            stranger.send_to(&bytes, running.address()).await.unwrap();
        }
    }
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
}

#[tokio::test]
async fn streams_and_topics_are_rejected() {
    let running = server().await;
    let client = client(&running).await;
    let stream = client.stream("Add", (2, 3)).await.err();
    let subscription = client.subscribe("news").await.err();
    let publication = client.publish("news", "none").await.err();
    for error in [stream, subscription, publication] {
        let error = error.unwrap();
        assert!(error.kind() == CallErrorKind::Encode, "{error:?}");
    }
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
}

/// `Context::peer` is the address of the client, although the server receives all calls on one socket.
#[tokio::test]
async fn handlers_see_the_address_of_the_client() {
    let methods = Methods::new().method("Who", |(), context: Context| async move {
        context.peer().unwrap().port()
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen_udp(any_port()).await.unwrap();
    let mut ports = Vec::new();
    for _ in 0..3 {
        let client = client(&running).await;
        let port: u16 = client.call("Who", ()).await.unwrap();
        assert_eq!(client.call::<u16>("Who", ()).await.unwrap(), port);
        assert!(!ports.contains(&port));
        ports.push(port);
    }
}

#[tokio::test]
async fn clients_that_may_not_connect_are_not_answered() {
    let server = Server::methods(methods())
        .frames(true)
        .firewall(Firewall::new().connections(0))
        .build()
        .unwrap();
    let running = server.listen_udp(any_port()).await.unwrap();
    let url = format!("udp://{}", running.address());
    let client = Client::builder().endpoint(&url);
    let client = client.connect_timeout(Duration::from_millis(200));
    let words = client.connect().await.unwrap_err().to_string();
    let expected = format!(
        "cannot connect to {url}: connecting to {}: not done within 0.2 s",
        running.address()
    );
    assert_eq!(words, expected);
}

/// Replies have the called address as their source. Otherwise the client would ignore them.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_wildcard_socket_replies_from_the_called_address() {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    let all = UdpSocket::new("0.0.0.0:0".parse().unwrap());
    let running = server.listen_udp(all).await.unwrap();
    for address in ["127.0.0.1", "127.0.0.2", "127.9.9.9"] {
        let url = format!("udp://{address}:{}", running.address().port());
        let client = Client::connect(&url).await.unwrap();
        assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5, "{url}");
    }
}

/// `localhost` often has an IPv6 address too, where no server listens.
#[tokio::test]
async fn all_addresses_of_a_host_name_are_tried() {
    let running = server().await;
    let url = format!("udp://localhost:{}", running.address().port());
    let client = Client::connect(&url).await.unwrap();
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
}

/// The server sends its limit of open calls to a client, which queues further calls. The server also enforces the
/// limit, for clients that do not know it.
#[tokio::test]
async fn the_limit_on_open_calls_of_a_client_is_enforced() {
    let (at_work, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (now, seen) = (Arc::clone(&at_work), Arc::clone(&most));
    let methods = Methods::new().method("Wait", move |()| {
        let (now, seen) = (Arc::clone(&now), Arc::clone(&seen));
        async move {
            seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(5)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        }
    });
    let limits = FrameLimits::new().calls(3);
    let server = Server::methods(methods).frames(true).frame_limits(limits);
    let running = server
        .build()
        .unwrap()
        .listen_udp(any_port())
        .await
        .unwrap();
    let client = client(&running).await;
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call::<()>("Wait", ()).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(most.load(Ordering::SeqCst), 3);

    // This client has received the hello, but not the limits.
    let (socket, mut machine) = connected_client(&running, 7).await;
    for number in 0..8 {
        call(&mut machine, "Wait", number);
    }
    send(&socket, &mut machine).await;
    let mut room = [0; 2_000];
    let (mut replies, mut refused, mut limits_received) = (0, 0, false);
    while replies + refused < 8 {
        let len = socket.recv(&mut room).await.unwrap();
        match machine.receive(Time::ZERO, &room[..len]) {
            Some(Event::Reply { .. }) => replies += 1,
            Some(Event::Fault {
                code,
                unstarted,
                retry_after,
                payload,
                ..
            }) => {
                assert_eq!((code, unstarted), (FaultCode::OVERLOADED, true));
                let words = String::from_utf8_lossy(payload);
                assert!(
                    retry_after > 0 && words.contains("as many calls"),
                    "{words}"
                );
                refused += 1;
            }
            Some(Event::Limits) => limits_received = true,
            _ => {}
        }
    }
    assert_eq!((replies, refused, limits_received), (3, 5, true));
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

/// A client that the test drives. It has received the hello of the server.
async fn connected_client(
    running: &RunningServer<UdpAddress>,
    nonce: u64,
) -> (tokio::net::UdpSocket, polywire_frame_udp::Client<u32>) {
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(running.address()).await.unwrap();
    let mut machine = polywire_frame_udp::Client::new(Settings::DEFAULT);
    machine.begin(Time::ZERO, nonce);
    send(&socket, &mut machine).await;
    let mut room = [0; 2_000];
    let len = socket.recv(&mut room).await.unwrap();
    let event = machine.receive(Time::ZERO, &room[..len]);
    assert!(matches!(event, Some(Event::Hello(_))), "{event:?}");
    (socket, machine)
}

fn call(machine: &mut polywire_frame_udp::Client<u32>, name: &str, number: u32) {
    let request = Request::new(Operation { number: 1, name });
    let request = request.with_deadline(Time::ZERO.after(Duration::from_secs(60)));
    let call = machine.call(Time::ZERO, &request).unwrap();
    call.send(number).unwrap();
}

/// The task of the socket yields after its time slice, even if it has read fewer than sixteen batches of datagrams.
#[tokio::test(start_paused = true)]
async fn many_datagrams_do_not_starve_other_tasks() {
    // Short enough to run in the task of the socket, without the run queue.
    let methods = Methods::new().method("Step", |()| async {
        tokio::time::advance(Duration::from_micros(90)).await;
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen_udp(any_port()).await.unwrap();
    let mut clients = Vec::new();
    for nonce in 0..32 {
        clients.push(connected_client(&running, nonce).await);
    }
    for (socket, machine) in &mut clients {
        for number in 0..8 {
            call(machine, "Step", number);
        }
        for (_, datagram) in machine.output().iter() {
            socket.try_send(datagram).unwrap();
        }
    }
    let longest = Arc::new(AtomicU32::new(0));
    let own = Arc::clone(&longest);
    let other = tokio::spawn(async move {
        let mut last = tokio::time::Instant::now();
        on_each_poll(|_| {
            let waited = last.elapsed().as_micros() as u32;
            own.fetch_max(waited, Ordering::Relaxed);
            last = tokio::time::Instant::now();
        })
        .await;
    });
    wait_for_stat(&server, |server| server.frame_stats().replies, 256).await;
    other.abort();
    // A batch of 32 datagrams is not split.
    let longest = longest.load(Ordering::Relaxed);
    assert!((90..6_000).contains(&longest), "{longest} us");
}

#[tokio::test]
async fn calls_over_udp_are_counted() {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    let running = server.listen_udp(any_port()).await.unwrap();
    let client = client(&running).await;
    for number in 0..3 {
        client.call::<i32>("Add", (number, 1)).await.unwrap();
    }
    client.call::<()>("Fail", ()).await.unwrap_err();
    client.call::<()>("NoSuch", ()).await.unwrap_err();
    client.notify("Nothing", ()).await.unwrap();
    let slow = client.with_deadline(Duration::from_millis(20));
    slow.call::<u64>("Sleep", (60_000,)).await.unwrap_err();
    let ended = |server: &Server| {
        let stats = server.frame_stats();
        stats.deadlines + stats.cancelled
    };
    wait_for_stat(&server, ended, 1).await;
    wait_for_stat(&server, |server| server.frame_stats().one_ways, 1).await;
    let stats = server.frame_stats();
    assert_eq!((stats.calls, stats.replies, stats.faults), (6, 3, 2));
    assert_eq!((stats.connections, stats.accepted), (1, 1));
    assert_eq!((stats.open, stats.shed, stats.late), (0, 0, 0));
    assert!(stats.bytes_in > 0 && stats.bytes_out > 0, "{stats:?}");
    drop((client, slow));
    running.shutdown().await;
    let stats = server.frame_stats();
    assert_eq!((stats.connections, stats.open, stats.replies), (0, 0, 3));
}

async fn send(socket: &tokio::net::UdpSocket, machine: &mut polywire_frame_udp::Client<u32>) {
    for (_, datagram) in machine.output().iter() {
        socket.send(datagram).await.unwrap();
    }
    machine.output_mut().clear();
}
