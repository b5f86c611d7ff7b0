//! The client process. It makes calls and then keeps its connections open.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::child::{argument, print_line, questions};

/// A connection, plain or over TLS.
trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// Sends a call and reads its reply.
fn call(stream: &mut dyn Stream) {
    let body = "<?xml version=\"1.0\"?><methodCall><methodName>echo</methodName>\
        <params><param><value><string>Ada</string></value></param></params></methodCall>";
    let head = format!(
        "POST /RPC2 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: idle/1.0\r\nAccept: */*\r\n\
         Content-Type: text/xml\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut reply = [0; 4096];
    let mut len = 0;
    while !reply[..len].ends_with(b"</methodResponse>") {
        let count = stream.read(&mut reply[len..]).unwrap();
        assert!(count > 0, "{}", reply[..len].escape_ascii());
        len += count;
    }
}

/// Whether the server closes the connection cleanly, without sending more bytes.
fn ends_cleanly(stream: &mut dyn Stream) -> bool {
    matches!(stream.read(&mut [0]), Ok(0))
}

#[test]
#[ignore = "the clients of other tests"]
fn call_and_wait() {
    let Some(argument) = argument() else { return };
    let (place, root) = argument.split_once(' ').unwrap();
    let open = opener(place, root);
    let mut streams: Vec<Box<dyn Stream>> = Vec::new();
    for question in questions() {
        let (what, count) = question.split_once(' ').unwrap_or((&question, "0"));
        let count: usize = count.parse().unwrap();
        match what {
            "open" => {
                for _ in 0..count {
                    let mut stream = open();
                    call(&mut *stream);
                    streams.push(stream);
                }
                print_line("open");
            }
            "call" => {
                for _ in 0..count {
                    streams.iter_mut().for_each(|stream| call(&mut **stream));
                }
                print_line("called");
            }
            "end" => {
                let ended = streams
                    .iter_mut()
                    .filter_map(|stream| ends_cleanly(&mut **stream).then_some(()));
                print_line(format!("{} ended cleanly", ended.count()));
            }
            other => panic!("{other}"),
        }
    }
}

/// A function that opens connections, over TLS if a root certificate is given.
fn opener(place: &str, root: &str) -> Box<dyn Fn() -> Box<dyn Stream>> {
    let place = place.to_owned();
    let plain = move || TcpStream::connect(&place).unwrap();
    if root.is_empty() {
        return Box::new(move || Box::new(plain()));
    }
    secured(plain, root)
}

#[cfg(feature = "tls")]
fn secured(
    plain: impl Fn() -> TcpStream + 'static,
    root: &str,
) -> Box<dyn Fn() -> Box<dyn Stream>> {
    use std::sync::Arc;

    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName};
    use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(root.as_bytes()).unwrap();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    Box::new(move || {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::clone(&config), name).unwrap();
        Box::new(StreamOwned::new(connection, plain()))
    })
}

#[cfg(not(feature = "tls"))]
fn secured(_: impl Fn() -> TcpStream + 'static, _: &str) -> Box<dyn Fn() -> Box<dyn Stream>> {
    panic!("there is no TLS here")
}
