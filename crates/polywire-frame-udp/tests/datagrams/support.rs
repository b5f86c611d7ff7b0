//! A client and a server, and their datagrams.

use std::hash::{BuildHasherDefault, DefaultHasher};
use std::net::SocketAddr;
use std::time::Duration;

use polywire_frame::client::{Event, Operation, Request};
use polywire_frame::{CallId, Settings, Time};
use polywire_frame_udp::server::{self, Call, Limits};
use polywire_frame_udp::{Client, Server};

pub(crate) type Key = BuildHasherDefault<DefaultHasher>;

pub(crate) const ADD: Operation<'static> = Operation {
    number: 1,
    name: "Add",
};

/// The time this many milliseconds after zero.
pub(crate) fn at(millis: u64) -> Time {
    Time::ZERO.after(Duration::from_millis(millis))
}

pub(crate) fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

pub(crate) struct Link {
    pub(crate) client: Client<u32>,
    pub(crate) server: Server<usize, &'static str, Key>,
    pub(crate) now: Time,
    /// The client's address.
    pub(crate) host: u8,
    pub(crate) port: u16,
}

impl Link {
    /// A client and a server after the handshake.
    pub(crate) fn new() -> Self {
        Self::with(Limits::DEFAULT)
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let mut link = Self {
            client: Client::new(Settings::DEFAULT),
            server: Server::with_limits(Settings::DEFAULT, limits, Key::default()),
            now: Time::ZERO,
            host: 1,
            port: 4_000,
        };
        link.connect();
        link
    }

    pub(crate) fn connect(&mut self) {
        assert!(self.client.begin(self.now, 7).is_empty());
        for datagram in self.take_client_output() {
            assert!(self.serve(&datagram).is_none());
        }
        let answers = self.take_server_output();
        assert_eq!(answers.len(), 1);
        assert_eq!(self.receive(&answers[0]), ["hello"]);
    }

    /// The datagrams that the client has sent.
    pub(crate) fn take_client_output(&mut self) -> Vec<Vec<u8>> {
        let sent = self
            .client
            .output()
            .iter()
            .map(|(_, datagram)| datagram.to_vec());
        let sent = sent.collect();
        self.client.output_mut().clear();
        sent
    }

    /// The datagrams that the server has sent.
    pub(crate) fn take_server_output(&mut self) -> Vec<Vec<u8>> {
        let sent = self
            .server
            .output()
            .iter()
            .map(|(_, datagram)| datagram.to_vec());
        let sent = sent.collect();
        self.server.output_mut().clear();
        sent
    }

    /// Sends a call. Returns its id and its datagram.
    pub(crate) fn call(&mut self, payload: &[u8], context: u32) -> (CallId, Vec<u8>) {
        let mut call = self.client.call(self.now, &Request::new(ADD)).unwrap();
        call.payload().extend_from_slice(payload);
        let id = call.send(context).unwrap();
        (id, self.take_client_output().pop().unwrap())
    }

    /// Passes a datagram to the server. Returns the call that it starts, if any.
    pub(crate) fn serve(&mut self, datagram: &[u8]) -> Option<Call> {
        let resolve = |name: &str| (name != "Nothing").then_some(name.len());
        let from = SocketAddr::from(([127, 0, 0, self.host], self.port));
        match self.server.receive(self.now, from, datagram, resolve)? {
            server::Event::Call { id: call, .. } => Some(call),
            _ => None,
        }
    }

    /// Passes a call to the server twice, so that the server answers the duplicate with ACCEPT.
    pub(crate) fn accept(&mut self, datagram: &[u8]) -> Call {
        let call = self.serve(datagram).unwrap();
        assert_eq!(self.serve(datagram), None);
        let accepted = self.take_server_output().pop().unwrap();
        assert_eq!((accepted.len(), accepted[12]), (24, 0x0b));
        assert_eq!(self.receive(&accepted), [""; 0]);
        call
    }

    pub(crate) fn reply(&mut self, call: Call, payload: &[u8]) -> Vec<u8> {
        let mut answer = self.server.reply(self.now, call).unwrap();
        answer.payload().extend_from_slice(payload);
        answer.send().unwrap();
        self.take_server_output().pop().unwrap()
    }

    pub(crate) fn receive(&mut self, datagram: &[u8]) -> Vec<String> {
        let event = self.client.receive(self.now, datagram);
        let text = |payload: &[u8]| String::from_utf8_lossy(payload).into_owned();
        let events = event.map(|event| match event {
            Event::Hello(_) => "hello".to_owned(),
            Event::Reply {
                context, payload, ..
            } => format!("{context}: {}", text(payload)),
            Event::Fault {
                context,
                code,
                unstarted,
                ..
            } => {
                format!(
                    "{context}: {code}{}",
                    if unstarted { ", unstarted" } else { "" }
                )
            }
            Event::GoAway { reason, .. } => format!("goaway: {reason}"),
            event => format!("{event:?}"),
        });
        events.into_iter().collect()
    }
}
