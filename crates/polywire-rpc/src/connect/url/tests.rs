//! The URLs that clients accept and reject.

use super::*;

fn unix(url: &str) -> (String, Option<String>) {
    let parsed = ServerUrl::for_http(url).unwrap();
    let Address::Unix(path) = parsed.address else {
        panic!("{url}: no socket");
    };
    let target = parsed.target.map(|target| target.to_string());
    (path.to_str().unwrap().to_owned(), target)
}

#[test]
fn socket_paths_are_separated_from_request_paths() {
    for (url, socket, target) in [
        ("http+unix://%2Frun%2Fa.sock/RPC2", "/run/a.sock", "/RPC2"),
        ("http+unix://%2frun%2fa", "/run/a", ""),
        ("http+unix:///run/a.sock/RPC2", "/run/a.sock", "/RPC2"),
        ("http+unix:///run/a.sock:/RPC2", "/run/a.sock", "/RPC2"),
        ("http+unix:///run/a/b:/RPC2?x=1", "/run/a/b", "/RPC2?x=1"),
        ("http+unix:///run/a.socket/", "/run/a.socket", "/"),
        ("http+unix:///run/my%20a.sock", "/run/my a.sock", ""),
        ("http+unix:///run/a", "/run/a", ""),
        ("http+unix:///run/a:", "/run/a", ""),
        ("http+unix:///run/a:b.sock", "/run/a:b.sock", ""),
        (
            "unix:///var/run/supervisor.sock",
            "/var/run/supervisor.sock",
            "",
        ),
        (
            "scgi+unix:///home/me/.rtorrent/rpc.socket",
            "/home/me/.rtorrent/rpc.socket",
            "",
        ),
        ("http+unix://me:secret@/run/a.sock/x", "/run/a.sock", "/x"),
    ] {
        let target = Some(target.to_owned()).filter(|target| !target.is_empty());
        assert_eq!(unix(url), (socket.to_owned(), target), "{url}");
    }
}

/// HTTP clients and frame clients connect to the same socket file.
#[test]
fn frames_and_http_parse_unix_urls_alike() {
    for (url, socket) in [
        ("unix:///run/my%20a.sock", "/run/my a.sock"),
        ("unix://%2Frun%2Fmy%20a.sock", "/run/my a.sock"),
        ("unix:///run/a", "/run/a"),
        ("unix:///run/a:", "/run/a"),
        ("UNIX:///run/a:b.sock", "/run/a:b.sock"),
        ("unix:///run/a@b", "/run/a@b"),
    ] {
        assert_eq!(unix(url).0, socket, "{url}");
        let parsed = ServerUrl::for_frames(url).unwrap();
        assert_eq!(parsed.address, Address::Unix(socket.into()), "{url}");
        assert_eq!(parsed.wire, Wire::Frames { tls: false });
    }
    for (url, part) in [
        ("unix:///run/a.sock/RPC2", "nothing behind it"),
        ("unix://run/a.sock", "as in unix:///run/name.sock"),
        ("unix://", "path of a socket"),
        ("tcp://h:1/x", "nothing behind it"),
        ("tcp://h", "expected tcp://HOST:PORT"),
        #[cfg(feature = "udp")]
        ("udp://h:0", "port"),
        ("http://h", "inproc://NAME"),
        ("tcp://me:hunter2@h:1", "has no user"),
    ] {
        let text = ServerUrl::for_frames(url).unwrap_err().to_string();
        assert!(text.contains(part), "{url}: {text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    let address = |url: &str| ServerUrl::for_frames(url).unwrap().address;
    let (host, port) = ("[::1]".to_owned(), 7);
    let expected = Address::Host { host, port };
    assert_eq!(address("tcp://[::1]:7"), expected);
    #[cfg(feature = "udp")]
    assert_eq!(address("udp://[::1]:7"), expected);
}

#[test]
fn hosts_and_ports() {
    for (url, host, port, authority) in [
        ("http://h", "h", 80, "h"),
        ("http://H:80/RPC2", "h", 80, "h"),
        ("https://h/", "h", 443, "h"),
        ("https://h:80", "h", 80, "h:80"),
        ("http://@h", "h", 80, "h"),
        ("scgi://127.0.0.1:5000", "127.0.0.1", 5000, "127.0.0.1:5000"),
        ("HTTP://[::1]:9001", "[::1]", 9001, "[::1]:9001"),
    ] {
        let parsed = ServerUrl::for_http(url).unwrap();
        let host = host.to_owned();
        assert_eq!(parsed.address, Address::Host { host, port }, "{url}");
        assert_eq!(parsed.authority, authority, "{url}");
    }
    let target = |url| {
        ServerUrl::for_http(url)
            .unwrap()
            .target
            .map(|it| it.to_string())
    };
    assert_eq!(target("http://h"), None);
    assert_eq!(target("http://h/").as_deref(), Some("/"));
    assert_eq!(target("http://h?a=1").as_deref(), Some("/?a=1"));
    assert_eq!(target("http://h/a#b").as_deref(), Some("/a"));
}

#[test]
fn invalid_urls_name_the_cause_without_secrets() {
    for (url, part) in [
        ("localhost:9001/RPC2", "no scheme"),
        ("ftp://h", "unknown scheme"),
        ("http://", "no host"),
        ("http://:80", "no host"),
        ("http://h:0", "port"),
        ("http://h:99999", "port"),
        ("http://h:http", "port"),
        ("http://h\u{f6}st", "punycode"),
        ("http://a b", "white space"),
        ("scgi://h", "scgi://HOST:PORT"),
        ("http+unix://run/a.sock", "path of a socket"),
        ("http+unix://", "path of a socket"),
        ("http+unix://%2", "hex digits"),
        ("http+unix:///a%00b", "NUL"),
    ] {
        let text = ServerUrl::for_http(url).unwrap_err().to_string();
        assert!(text.contains(part), "{url}: {text}");
    }
    for url in [
        "http://me:hunter2@",
        "http://me:hunter2@h:x/?token=hunter2",
        "me:hunter2@h",
        "http://me:hunter2/@h:1/a b",
        "http://me:%zzhunter2@h",
    ] {
        let error = ServerUrl::for_http(url).unwrap_err();
        assert!(
            !format!("{error} {error:?}").contains("hunter2"),
            "{url}: {error}"
        );
    }
    let parsed = ServerUrl::for_http("http://me:p%40ss@h:1/RPC2?key=hunter2").unwrap();
    assert_eq!(parsed.shown(), "http://***@h:1/RPC2?...");
    assert_eq!(format!("{parsed:?}"), parsed.shown());
    let credentials = parsed.credentials.unwrap();
    assert_eq!((&*credentials.user, &*credentials.password), ("me", "p@ss"));
    assert_eq!(credentials.basic(), "Basic bWU6cEBzcw==");
}

#[cfg(feature = "websocket")]
#[test]
fn urls_of_websocket() {
    let parse = |url| ServerUrl::for_websocket(url).unwrap();
    for (url, authority, target, tls) in [
        ("ws://a", "a", "/", false),
        ("ws://a:80/b?c", "a", "/b?c", false),
        ("WSS://a:443/", "a", "/", true),
        ("wss://[::1]:9000/b", "[::1]:9000", "/b", true),
    ] {
        let parsed = parse(url);
        assert_eq!(parsed.wire, Wire::WebSocket { tls }, "{url}");
        assert_eq!(parsed.authority, authority, "{url}");
        assert_eq!(parsed.target_or("/"), target, "{url}");
        assert_eq!(ServerUrl::for_frames(url).unwrap().wire, parsed.wire);
    }
    let parsed = parse("ws+unix:///run/a.sock:/b");
    assert_eq!(parsed.address, Address::Unix("/run/a.sock".into()));
    assert_eq!(parsed.target_or("/"), "/b");
    for url in ["http://a", "tcp://a:1", "ws://", "ws:///b"] {
        assert!(ServerUrl::for_websocket(url).is_err(), "{url}");
    }
    assert!(ServerUrl::for_http("ws://a").is_err());
}

#[test]
fn names_of_inproc_servers() {
    let address = |url: &str| ServerUrl::for_frames(url).unwrap().address;
    for name in ["a", "weather", "a.b:c-1", "\u{2603}", "a?b#c@d"] {
        let parsed = address(&format!("inproc://{name}"));
        assert_eq!(parsed, Address::InProcess(name.to_owned()));
    }
    let long = "x".repeat(256);
    for name in ["", "a b", "a/b", "\n", &long] {
        assert!(!is_process_name(name), "{name}");
        assert!(ServerUrl::for_frames(&format!("inproc://{name}")).is_err());
    }
}
