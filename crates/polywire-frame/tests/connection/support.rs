//! A client and a server, connected by buffers.

use std::time::Duration;

use polywire_frame::client::{self, Operation, Request};
use polywire_frame::server::{self, Fault};
use polywire_frame::{CallId, Output, ProtocolError, Settings, Time};

/// Resolves the name of an operation to its length. `Nothing` is unknown.
pub(crate) fn resolve(name: &str) -> Option<usize> {
    (name != "Nothing").then_some(name.len())
}

pub(crate) const ADD: Operation<'static> = Operation {
    number: 1,
    name: "Add",
};

/// The time this many milliseconds after zero.
pub(crate) fn at(millis: u64) -> Time {
    Time::ZERO.after(Duration::from_millis(millis))
}

pub(crate) struct Link {
    pub(crate) client: client::Connection<u32>,
    pub(crate) server: server::Connection<usize, &'static str>,
    /// Bytes in flight.
    pub(crate) to_server: Vec<u8>,
    pub(crate) to_client: Vec<u8>,
    pub(crate) now: Time,
    /// The cost of the last item that the server received.
    pub(crate) cost: u32,
}

/// Events as text.
pub(crate) type Events = Vec<String>;

impl Link {
    pub(crate) fn new() -> Self {
        Self::with(Settings::DEFAULT, Settings::DEFAULT)
    }

    pub(crate) fn with(client: Settings, server: Settings) -> Self {
        Self {
            client: client::Connection::new(client),
            server: server::Connection::new(server),
            to_server: Vec::new(),
            to_client: Vec::new(),
            now: Time::ZERO,
            cost: 0,
        }
    }

    /// Sends a call with this payload and context.
    pub(crate) fn call(&mut self, payload: &[u8], context: u32) -> CallId {
        let request = Request::new(ADD);
        let mut call = self.client.call(self.now, &request).unwrap();
        call.payload().extend_from_slice(payload);
        call.send(context).unwrap()
    }

    pub(crate) fn reply(&mut self, id: CallId, payload: &[u8]) {
        let mut answer = self.server.reply(self.now, id).unwrap();
        answer.payload().extend_from_slice(payload);
        answer.send().unwrap();
    }

    pub(crate) fn fault(&mut self, id: CallId, fault: Fault, details: &[u8]) {
        self.server.fault(self.now, id, fault, details);
    }

    /// Passes the client's output to the server. Returns the server's events.
    pub(crate) fn serve(&mut self) -> Events {
        self.try_serve().unwrap()
    }

    pub(crate) fn try_serve(&mut self) -> Result<Events, ProtocolError> {
        self.to_server.extend(drain(self.client.output()));
        self.client.wrote();
        let mut room = Vec::new();
        let mut events = Events::new();
        while let server::Step::Consumed(bytes, event) =
            self.server
                .receive(self.now, &self.to_server, &mut room, resolve)?
        {
            if let Some(server::Event::Item { cost, .. }) = &event {
                self.cost = *cost;
            }
            events.extend(event.map(|event| server_event(&event)));
            self.to_server.drain(..bytes);
        }
        Ok(events)
    }

    /// Passes the server's output to the client. Returns the client's events.
    pub(crate) fn receive(&mut self) -> Events {
        self.try_receive().unwrap()
    }

    pub(crate) fn try_receive(&mut self) -> Result<Events, ProtocolError> {
        self.to_client.extend(drain(self.server.output()));
        self.server.wrote();
        let mut room = Vec::new();
        let mut events = Events::new();
        while let client::Step::Consumed(bytes, event) =
            self.client.receive(&self.to_client, &mut room)?
        {
            events.extend(event.map(|event| client_event(&event)));
            self.to_client.drain(..bytes);
        }
        Ok(events)
    }

    /// Exchanges `HELLO`.
    pub(crate) fn connected(mut self) -> Self {
        assert_eq!(self.serve(), ["hello"]);
        assert_eq!(self.receive(), ["hello"]);
        self
    }
}

pub(crate) fn drain(output: &Output) -> Vec<u8> {
    output.parts().flatten().copied().collect()
}

pub(crate) fn server_event(event: &server::Event<'_, usize, &'static str>) -> String {
    use server::Event;

    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let pairs = |extension: &polywire_frame::Extension<'_>| {
        let pairs = extension.metadata();
        pairs
            .map(|(key, value)| format!(" {key}={}", text(value)))
            .collect::<String>()
    };
    match event {
        Event::Call {
            id,
            operation,
            deadline,
            open,
            extension,
            payload,
        } => {
            let within = match *deadline {
                Time::NEVER => String::new(),
                deadline => format!(" by {} ms", deadline.as_nanos() / 1_000_000),
            };
            let open = if *open { " open" } else { "" };
            let pairs = pairs(extension);
            format!(
                "{id} op {operation}{within}{open}{pairs}: {}",
                text(payload)
            )
        }
        Event::Cancelled(id, context) => format!("{id} cancelled {context:?}"),
        Event::End(id) => format!("{id} end"),
        Event::GoAway {
            reason, message, ..
        } => format!("goaway {reason}: {message}"),
        Event::Hello(extension) => format!("hello{}", pairs(extension)),
        Event::Item { id, payload, .. } => format!("{id} item: {}", text(payload)),
        Event::OneWay {
            operation, payload, ..
        } => format!("one-way op {operation}: {}", text(payload)),
        Event::Pong { id, value } => format!("pong {id} {value}"),
        Event::Publish {
            id, topic, payload, ..
        } => format!("{id} publish {topic}: {}", text(payload)),
        Event::Subscribe { id, topic, .. } => format!("{id} subscribe {topic}"),
        Event::Unknown { id, name } => format!("{id} unknown {name:?}"),
        Event::Unsubscribe(id) => format!("{id} unsubscribe"),
        Event::Writable(Some(id)) => format!("{id} writable"),
        Event::Writable(None) => "all writable".to_owned(),
        _ => "?".to_owned(),
    }
}

pub(crate) fn client_event(event: &client::Event<'_, u32>) -> String {
    use client::Event;

    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match event {
        Event::Accepted(id) => format!("{id} accepted"),
        Event::Fault {
            id,
            context,
            code,
            retry_after,
            unstarted,
            payload,
        } => {
            let unstarted = if *unstarted { " unstarted" } else { "" };
            let retry = match retry_after {
                0 => String::new(),
                ms => format!(" after {ms} ms"),
            };
            format!(
                "{id} ({context}) {code}{unstarted}{retry}: {}",
                text(payload)
            )
        }
        Event::Freed(id) => format!("{id} freed"),
        Event::GoAway {
            reason,
            within,
            message,
        } => format!("goaway {reason} in {within} ms: {message}"),
        Event::Hello(_) => "hello".to_owned(),
        Event::Item {
            id,
            missed,
            payload,
            ..
        } => format!("{id} item after {missed}: {}", text(payload)),
        Event::Limits => "limits".to_owned(),
        Event::Pong { id, value } => format!("pong {id} {value}"),
        Event::Reply {
            id,
            context,
            took,
            payload,
        } => format!("{id} ({context}) in {took} us: {}", text(payload)),
        Event::Writable(Some(id)) => format!("{id} writable"),
        Event::Writable(None) => "all writable".to_owned(),
        _ => "?".to_owned(),
    }
}
