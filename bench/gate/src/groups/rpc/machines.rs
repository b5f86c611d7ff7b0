//! The state machines of client and server, connected by a buffer.

use std::time::Duration;

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_frame::client::{self, Operation, Request};
use polywire_frame::server;
use polywire_frame::{Output, Settings, Time};
use polywire_schema::{Error, Limits};

const ADD: Operation<'static> = Operation {
    number: 1,
    name: "Add",
};

/// A connection whose calls are answered at once.
pub(super) struct Machines {
    client: client::Connection<()>,
    server: server::Connection<u32, ()>,
    /// The bytes between both sides.
    out: Output,
}

impl Machines {
    pub(super) fn new() -> Self {
        Self {
            client: client::Connection::new(Settings::DEFAULT),
            server: server::Connection::new(Settings::DEFAULT),
            out: Output::default(),
        }
    }

    /// Makes a call of bytes, which is answered with bytes.
    pub(super) fn bytes(&mut self, input: &[u8], output: &[u8]) -> Result<(), String> {
        let write = |out: &mut Vec<u8>| {
            out.extend_from_slice(input);
            Ok(())
        };
        let handle = |payload: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(output);
            expect(payload == input, "another input")
        };
        self.call(write, handle, |payload| {
            expect(payload == output, "another output")
        })
    }

    /// Makes a call of `Add` with types of serde, as clients and servers do.
    pub(super) fn add(&mut self, left: i32, right: i32) -> Result<i32, String> {
        let failed = |error: Error| error.to_string();
        let write = |out: &mut Vec<u8>| encode(out, &(left, right)).map_err(failed);
        let handle = |payload: &[u8], out: &mut Vec<u8>| {
            let mut decoder = decoder(payload).map_err(failed)?;
            let (left, right): (i32, i32) = decoder.deserialize_parameters().map_err(failed)?;
            decoder.finish().map_err(failed)?;
            encode(out, &(left + right)).map_err(failed)
        };
        let read = |payload: &[u8]| {
            let mut decoder = decoder(payload)?;
            let sum = decoder.deserialize()?;
            decoder.finish()?;
            Ok(sum)
        };
        self.call(write, handle, |payload| read(payload).map_err(failed))
    }

    fn call<R>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
        handle: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), String>,
        read: impl FnOnce(&[u8]) -> Result<R, String>,
    ) -> Result<R, String> {
        let now = Time::ZERO;
        let request = Request::new(ADD).with_deadline(now.after(Duration::from_secs(60)));
        let call = self.client.call(now, &request);
        let mut call = call.map_err(|refused| format!("{refused:?}"))?;
        write(call.payload())?;
        call.send(()).map_err(|refused| format!("{refused:?}"))?;
        self.out.clear();
        self.out = self.client.take_output(std::mem::take(&mut self.out));
        self.serve(now, handle)?;
        self.out.clear();
        self.out = self.server.take_output(std::mem::take(&mut self.out));
        self.answered(read)
    }

    fn serve(
        &mut self,
        now: Time,
        handle: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut handle = Some(handle);
        let mut room = Vec::new();
        // Small payloads are in one piece.
        let mut input = self.out.as_slice().unwrap_or_default();
        while !input.is_empty() {
            let step = self.server.receive(now, input, &mut room, |_| Some(1));
            match step.map_err(|broken| broken.to_string())? {
                server::Step::Consumed(bytes, event) => {
                    input = &input[bytes..];
                    let Some(server::Event::Call { id, payload, .. }) = event else {
                        continue;
                    };
                    let handle = handle.take().ok_or("a second call")?;
                    let mut answer = self.server.reply(now, id).ok_or("no such call")?;
                    handle(payload, answer.payload())?;
                    answer.send().map_err(|large| large.to_string())?;
                }
                server::Step::NeedMore(_) => return Err("half a frame".to_owned()),
            }
        }
        Ok(())
    }

    fn answered<R>(&mut self, read: impl FnOnce(&[u8]) -> Result<R, String>) -> Result<R, String> {
        let mut room = Vec::new();
        let mut input = self.out.as_slice().unwrap_or_default();
        while !input.is_empty() {
            let step = self.client.receive(input, &mut room);
            match step.map_err(|broken| broken.to_string())? {
                client::Step::Consumed(_, Some(client::Event::Reply { payload, .. })) => {
                    return read(payload);
                }
                client::Step::Consumed(bytes, _) => input = &input[bytes..],
                client::Step::NeedMore(_) => return Err("half a frame".to_owned()),
            }
        }
        Err("no reply".to_owned())
    }
}

fn encode(out: &mut Vec<u8>, value: &impl serde::Serialize) -> Result<(), Error> {
    let mut encoder = CborEncoder::new(std::mem::take(out));
    encoder.serialize(value)?;
    *out = encoder.finish()?;
    Ok(())
}

fn decoder(payload: &[u8]) -> Result<CborDecoder<'_>, Error> {
    CborDecoder::from_slice(payload, CborProfile::DEFAULT, &Limits::DEFAULT)
}

fn expect(right: bool, what: &str) -> Result<(), String> {
    match right {
        true => Ok(()),
        false => Err(what.to_owned()),
    }
}
