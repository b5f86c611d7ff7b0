//! rosmaster: a name service that also calls its clients.

use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use polywire::rpc::Methods;
use polywire::rpc::xmlrpc::blocking::Client;
use polywire::schema::{Map, Value};
use polywire_interop::{Background, Case, Folder, Sample};

/// A rosmaster on a free port, which runs as long as the case.
struct Master {
    client: Client,
    _folder: Folder,
    _process: Background,
}

fn master(case: &Case) -> Option<Master> {
    let program = case.program("rosmaster", "--help")?;
    let folder = Folder::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut command = Command::new(program);
    command
        .args(["--core", "--port", &port.to_string()])
        .env("ROS_HOME", &folder.0)
        .env("ROS_LOG_DIR", &folder.0)
        .env("ROS_IP", "127.0.0.1")
        .env("ROS_HOSTNAME", "localhost")
        .env("ROS_MASTER_URI", format!("http://localhost:{port}"));
    let ready = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    let process = Background::start_until(&mut command, ready);
    let client = Client::new(&format!("http://127.0.0.1:{port}/")).unwrap();
    Some(Master {
        client,
        _folder: folder,
        _process: process,
    })
}

impl Master {
    /// Calls a method. Its answer is a code, a text and a value. Returns the value.
    fn call(&self, method: &str, parameters: &[Value]) -> Value {
        let answer = self.client.call_values(method, parameters).unwrap();
        let (code, text, value): (i32, String, Value) = match answer {
            Value::List(mut parts) if parts.len() == 3 => {
                let value = parts.pop().unwrap();
                let text = parts[1].as_str().unwrap().to_owned();
                (
                    i32::try_from(parts[0].as_i64().unwrap()).unwrap(),
                    text,
                    value,
                )
            }
            other => panic!("{method}: {other:?}"),
        };
        assert_eq!(code, 1, "{method}: {text}");
        value
    }
}

#[test]
fn rosmaster_parameters() {
    let case = Case::begin("rosmaster_parameters");
    let Some(master) = master(&case) else { return };
    let gains = Map::from_iter([
        ("p", Value::from(0.5)),
        ("i", 1e-7.into()),
        ("limits", Value::List(vec![(-1).into(), 1.into()])),
    ]);
    let arm = Map::from_iter([
        ("name", Value::from("<links> & rechts")),
        ("joints", Value::List(vec!["a".into(), "b".into()])),
        ("gains", gains.into()),
        ("enabled", true.into()),
    ]);
    let arm = Value::from(arm);
    let caller = Value::from("/polywire");
    master.call("setParam", &[caller.clone(), "/arm".into(), arm.clone()]);
    let back = master.call("getParam", &[caller.clone(), "/arm".into()]);
    assert_eq!(back, arm);
    let inner = master.call("getParam", &[caller.clone(), "/arm/gains/p".into()]);
    assert_eq!(inner, Value::from(0.5));
    let has = master.call("hasParam", &[caller.clone(), "/arm/gains/d".into()]);
    assert_eq!(has, Value::from(false));
    master.call(
        "setParam",
        &[caller.clone(), "/arm/gains/d".into(), 3.into()],
    );
    let names = master.call("getParamNames", std::slice::from_ref(&caller));
    assert!(format!("{names:?}").contains("/arm/gains/d"), "{names:?}");
    master.call("deleteParam", &[caller.clone(), "/arm".into()]);
    let has = master.call("hasParam", &[caller, "/arm".into()]);
    assert_eq!(has, Value::from(false));
    // A missing parameter is not a fault, but code -1 in the answer.
    let answer: (i32, String, i32) = master
        .client
        .call("getParam", ("/polywire", "/nothing"))
        .unwrap();
    assert_eq!(answer.0, -1, "{answer:?}");
}

#[test]
fn rosmaster_calls_our_server_back() {
    let case = Case::begin("rosmaster_calls_our_server_back");
    let Some(master) = master(&case) else { return };
    let (updates, heard) = mpsc::channel();
    let parameters = updates.clone();
    let methods = Methods::new()
        .method(
            "publisherUpdate",
            move |(caller, topic, publishers): (String, String, Vec<String>)| {
                let updates = updates.clone();
                async move {
                    updates.send((caller, topic, publishers)).unwrap();
                    (1, "thanks", 0)
                }
            },
        )
        .method(
            "paramUpdate",
            move |(caller, key, value): (String, String, Value)| {
                let parameters = parameters.clone();
                async move {
                    parameters
                        .send((caller, key, vec![format!("{value:?}")]))
                        .unwrap();
                    (1, "thanks", 0)
                }
            },
        )
        .path("/")
        .path("/RPC2");
    let server = Sample::over_http(methods);
    let own = server.url.replace("/RPC2", "/");
    let heard = || heard.recv_timeout(Duration::from_secs(30)).unwrap();

    let subscriber = [
        "/listener".into(),
        "/chatter".into(),
        "std_msgs/String".into(),
        own.as_str().into(),
    ];
    let publishers = master.call("registerSubscriber", &subscriber);
    assert_eq!(publishers, Value::List(Vec::new()));
    let talker = "http://127.0.0.1:1/";
    let publisher = [
        "/talker".into(),
        "/chatter".into(),
        "std_msgs/String".into(),
        talker.into(),
    ];
    let subscribers = master.call("registerPublisher", &publisher);
    assert_eq!(subscribers, Value::List(vec![own.as_str().into()]));
    let expected = (
        "/master".to_owned(),
        "/chatter".to_owned(),
        vec![talker.to_owned()],
    );
    assert_eq!(heard(), expected);

    let known = master.call("lookupNode", &["/polywire".into(), "/listener".into()]);
    assert_eq!(known, Value::from(own.as_str()));
    let topics = master.call("getTopicTypes", &["/polywire".into()]);
    assert!(
        format!("{topics:?}").contains("std_msgs/String"),
        "{topics:?}"
    );

    let key = ["/listener".into(), own.as_str().into(), "/speed".into()];
    master.call("subscribeParam", &key);
    let set = ["/polywire".into(), "/speed".into(), 0.25.into()];
    master.call("setParam", &set);
    let (_, key, value) = heard();
    assert_eq!(
        (key.trim_end_matches('/'), &*value),
        ("/speed", &["0.25".to_owned()][..])
    );

    let gone = ["/talker".into(), "/chatter".into(), talker.into()];
    master.call("unregisterPublisher", &gone);
    assert_eq!(heard().2, Vec::<String>::new());
}
