//! Our clients against a server in Python.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use polywire::rpc::frames::Client;
use polywire_frame::{CallId, FaultCode, Settings};
use polywire_interop::{Background, Case, workspace};

use crate::caller::{Caller, Told};

/// Starts the server. Returns it with its address.
fn server(case: &Case) -> Option<(Background, String)> {
    let python = case.python(&[])?;
    let program = workspace().join("tests/interop/frames/frame_server.py");
    let mut command = Command::new(python.program());
    let started = Background::start(command.arg("-B").arg(program).arg("127.0.0.1:0"));
    let address = started.first_line.replace("listening ", "");
    Some((started, address))
}

#[test]
fn frames_of_a_python_server_calls_and_faults() {
    let case = Case::begin("frames_of_a_python_server_calls_and_faults");
    let Some((_server, address)) = server(&case) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = Client::connect(&format!("tcp://{address}")).await.unwrap();
        assert_eq!(client.call_bytes("Reverse", b"abc").await.unwrap(), b"cba");
        let large = vec![b'x'; 3 << 20];
        assert_eq!(client.call_bytes("Echo", &large).await.unwrap(), large);
        for (operation, input, code) in [
            ("Fail", &b""[..], FaultCode::MODELLED),
            ("Overload", b"", FaultCode::OVERLOADED),
            ("Ghost", b"", FaultCode::UNKNOWN_OPERATION),
        ] {
            let error = client.call_bytes(operation, input).await.unwrap_err();
            assert_eq!(error.frame_code(), Some(code));
            assert_eq!(error.retry_after().is_some(), code == FaultCode::OVERLOADED);
        }
        // One call times out, and a thousand other calls are not affected.
        let slow = client.call_bytes("Sleep", b"60000");
        assert!(
            tokio::time::timeout(Duration::from_millis(20), slow)
                .await
                .is_err()
        );
        let calls: Vec<_> = (0..1_000)
            .map(|number| {
                let client = client.clone();
                tokio::spawn(async move {
                    let text = format!("{number:06}");
                    (
                        text.clone(),
                        client.call_bytes("Reverse", text.as_bytes()).await,
                    )
                })
            })
            .collect();
        for call in calls {
            let (text, answer) = call.await.unwrap();
            let reversed: Vec<_> = text.bytes().rev().collect();
            assert_eq!(answer.unwrap(), reversed);
        }
        assert_eq!(client.pending(), 0);
        drop(Arc::new(client));
    });
}

#[test]
fn frames_of_a_python_server_streams() {
    let case = Case::begin("frames_of_a_python_server_streams");
    let Some((_server, address)) = server(&case) else {
        return;
    };
    let mut caller = Caller::connect(&address);

    let collect = caller.call("Collect", b"", true);
    let mut whole = Vec::new();
    for part in 0..400 {
        let part = format!("{part:04}").repeat(250);
        // Waits for credit, which the server sends when it has consumed items.
        let mut item = loop {
            if let Some(item) = caller.machine.item(collect) {
                break item;
            }
            assert_eq!(caller.hear(), Told::Other);
        };
        item.payload().extend_from_slice(part.as_bytes());
        item.send().unwrap();
        whole.extend_from_slice(part.as_bytes());
    }
    caller.machine.end(collect);
    assert_eq!(caller.next(), Told::Ended(whole));

    let count = caller.call("Count", b"20000", false);
    for number in 0..20_000 {
        let item = number.to_string().into_bytes();
        assert_eq!(caller.next(), Told::Item(count, item));
    }
    assert_eq!(caller.next(), Told::Ended(b"done".to_vec()));

    let chat = caller.call("Chat", b"", true);
    for word in [&b"one"[..], b"two"] {
        let mut item = caller.machine.item(chat).unwrap();
        item.payload().extend_from_slice(word);
        item.send().unwrap();
        assert_eq!(caller.next(), Told::Item(chat, word.to_ascii_uppercase()));
    }
    caller.machine.end(chat);
    assert!(matches!(caller.next(), Told::Ended(_)));
}

/// After a half-close of the client, the server answers the calls that need no more frames of the
/// client, and cancels the others.
#[test]
fn frames_of_a_python_server_after_a_half_close() {
    let case = Case::begin("frames_of_a_python_server_after_a_half_close");
    let Some((_server, address)) = server(&case) else {
        return;
    };
    let mut caller = Caller::connect(&address);
    caller.reads = false;
    // The items exceed the credit of the stream.
    caller.call("Count", b"1000000", false);
    caller.call("Collect", b"", true);
    caller.call("Sleep", b"200", false);
    caller.end();
    let (mut ended, mut cancelled) = (0, 0);
    while ended + cancelled < 3 {
        match caller.next() {
            Told::Ended(_) => ended += 1,
            Told::Failed(FaultCode::CANCELLED) => cancelled += 1,
            Told::Item(..) => {}
            told => panic!("{told:?}"),
        }
    }
    assert_eq!((ended, cancelled), (1, 2));
}

/// Streams that the client does not read use up the credit of the connection. The server sends no
/// item on another stream until they are cancelled and their items are consumed.
#[test]
fn frames_of_a_python_server_keep_to_the_credit_of_the_connection() {
    let case = Case::begin("frames_of_a_python_server_keep_to_the_credit_of_the_connection");
    let Some((_server, address)) = server(&case) else {
        return;
    };
    let mut caller = Caller::connect(&address);
    let settings = Settings::DEFAULT;
    caller.reads = false;
    let unread: Vec<_> = (0..settings.items() / settings.window())
        .map(|_| caller.call("Count", b"1000000", false))
        .collect();
    let mut held = Vec::new();
    let mut bytes = 0;
    while bytes < settings.items() as usize {
        let Told::Item(id, item) = caller.next() else {
            panic!("only items are due");
        };
        // The frame header and the item.
        bytes += 16 + item.len();
        held.push((id, caller.cost));
    }

    let late = caller.call("Count", b"3", false);
    for _ in 0..2 {
        caller.call("Echo", b"on", false);
        assert_eq!(caller.next(), Told::Ended(b"on".to_vec()));
    }
    for id in unread {
        caller.machine.cancel(id);
    }
    for (id, cost) in held {
        caller.consumed(id, cost);
    }
    for number in [b"0", b"1", b"2"] {
        assert_eq!(caller.next(), Told::Item(late, number.to_vec()));
    }
    assert_eq!(caller.next(), Told::Ended(b"done".to_vec()));
}

/// Streams that the server does not read use up the credit of the connection. The server returns
/// the credit when they are cancelled, when it reads them, and for items that arrive after the
/// reply.
#[test]
fn frames_of_a_python_server_give_credit_of_the_connection_back() {
    let case = Case::begin("frames_of_a_python_server_give_credit_of_the_connection_back");
    let Some((_server, address)) = server(&case) else {
        return;
    };
    let mut caller = Caller::connect(&address);
    let large = [b'x'; 30_000];
    let cancel = |caller: &mut Caller, id| {
        caller.machine.cancel(id);
    };
    let end = |caller: &mut Caller, id| caller.machine.end(id);
    let releases: [fn(&mut Caller, CallId); 2] = [cancel, end];
    for release in releases {
        let mut unread = Vec::new();
        loop {
            let hold = caller.call("Hold", b"", true);
            unread.push(hold);
            if caller.items(hold, &large) == 0 {
                break;
            }
        }
        assert!(unread.len() > 2, "a stream has less than the connection");
        for id in unread {
            release(&mut caller, id);
        }
        collect_late(&mut caller);
    }

    for _ in 0..10 {
        let answered = caller.call("Echo", b"", true);
        caller.await_bytes();
        caller.items(answered, &large);
        while caller.machine.open() > 0 {
            caller.hear();
        }
    }
    collect_late(&mut caller);
}

/// Asserts that an item can be sent once there is credit, and that all calls end.
fn collect_late(caller: &mut Caller) {
    let collect = caller.call("Collect", b"", true);
    let mut item = loop {
        if let Some(item) = caller.machine.item(collect) {
            break item;
        }
        caller.hear();
    };
    item.payload().extend_from_slice(b"late");
    item.send().unwrap();
    caller.machine.end(collect);
    while caller.machine.open() > 0 {
        caller.hear();
    }
}

#[test]
fn frames_of_a_python_server_topics() {
    let case = Case::begin("frames_of_a_python_server_topics");
    let Some((_server, address)) = server(&case) else {
        return;
    };
    let mut caller = Caller::connect(&address);
    let news = caller.machine.subscribe("news", &[], ()).unwrap();
    assert_eq!(caller.next(), Told::Accepted(news));
    let now = caller.now();
    let mut message = caller
        .machine
        .publish(now, "news", &[], polywire_frame::Time::NEVER)
        .unwrap();
    message.payload().extend_from_slice(b"rain");
    message.send(()).unwrap();
    let mut told = [caller.next(), caller.next()];
    told.sort_by_key(|told| matches!(told, Told::Ended(_)));
    assert_eq!(
        told,
        [
            Told::Item(news, b"rain".to_vec()),
            Told::Ended(vec![1, 0, 0, 0])
        ]
    );
    caller.machine.unsubscribe(news);
    assert_eq!(caller.next(), Told::Ended(Vec::new()));
    caller.machine.go_away();
}
