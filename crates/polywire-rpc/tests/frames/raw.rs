//! A raw client: the test defines each frame that it sends.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const FAULT: u8 = 0x05;
pub(crate) const CREDIT: u8 = 0x09;
pub(crate) const GOAWAY: u8 = 0x10;
pub(crate) const ITEM: u8 = 0x07;
pub(crate) const REPLY: u8 = 0x04;
pub(crate) const UNSTARTED: u8 = 0x10;

const HELLO: u8 = 0x01;
const CALL: u8 = 0x02;
const CANCEL: u8 = 0x06;
const PING: u8 = 0x0e;
const PONG: u8 = 0x0f;

/// A frame from the server.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) code: u16,
    pub(crate) id: u32,
    pub(crate) value: u32,
}

pub(crate) struct Raw {
    stream: TcpStream,
    unsent: Vec<u8>,
    slots: Vec<u16>,
}

impl Raw {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        stream.write_all(b"\xf7PW\x01").await.unwrap();
        let mut raw = Self {
            stream,
            unsent: Vec::new(),
            slots: Vec::new(),
        };
        raw.frame(HELLO, 0, 0, 0, 0, b"");
        raw.send().await;
        raw
    }

    fn frame(&mut self, kind: u8, flags: u8, code: u16, id: u32, value: u32, body: &[u8]) {
        let unsent = &mut self.unsent;
        unsent.extend((body.len() as u32).to_le_bytes());
        unsent.extend([kind, flags]);
        unsent.extend(code.to_le_bytes());
        unsent.extend(id.to_le_bytes());
        unsent.extend(value.to_le_bytes());
        unsent.extend(body);
    }

    /// Buffers a call of a method in a slot. `value` is the time left in milliseconds, 0 for no deadline.
    pub(crate) fn call(&mut self, slot: u16, name: &str, value: u32, payload: &[u8]) {
        self.call_by(slot, name, value, &[], payload);
    }

    /// Like [`Self::call`], with metadata.
    pub(crate) fn call_by(
        &mut self,
        slot: u16,
        name: &str,
        value: u32,
        metadata: &[(&str, &str)],
        payload: &[u8],
    ) {
        let index = usize::from(slot);
        if self.slots.len() <= index {
            self.slots.resize(index + 1, 0);
        }
        let id = u32::from(slot) | u32::from(self.slots[index]) << 16;
        self.slots[index] += 1;
        let mut fields = vec![1];
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend(name.bytes());
        for (key, value) in metadata {
            fields.push(2);
            fields.extend((1 + key.len() as u16 + value.len() as u16).to_le_bytes());
            fields.push(key.len() as u8);
            fields.extend(key.bytes().chain(value.bytes()));
        }
        let mut body = (fields.len() as u16).to_le_bytes().to_vec();
        body.extend(fields);
        body.extend(payload);
        self.frame(CALL, 0x01, 0, id, value, &body);
    }

    /// Buffers a `CANCEL` of the latest call in a slot.
    pub(crate) fn cancel(&mut self, slot: u16) {
        let count = self.slots[usize::from(slot)] - 1;
        let id = u32::from(slot) | u32::from(count) << 16;
        self.frame(CANCEL, 0, 0, id, 0, b"");
    }

    /// Sends the buffered frames and `rest`, which may be part of a frame, and shuts down the write side.
    pub(crate) async fn end(&mut self, rest: &[u8]) {
        self.send().await;
        self.stream.write_all(rest).await.unwrap();
        self.stream.shutdown().await.unwrap();
    }

    /// Sends the buffered frames at once.
    pub(crate) async fn send(&mut self) {
        let unsent = std::mem::take(&mut self.unsent);
        self.stream.write_all(&unsent).await.unwrap();
    }

    /// Reads and discards up to `bytes` bytes. Frames cannot be read afterwards.
    pub(crate) async fn discard(&mut self, bytes: usize) -> usize {
        let mut read = vec![0; bytes];
        self.stream.read(&mut read).await.unwrap_or_default()
    }

    /// The next frame except `HELLO`, `PING` and `PONG`. Answers `PING`. `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            let mut head = [0; 16];
            if self.stream.read_exact(&mut head[..4]).await.is_err() {
                return None;
            }
            if head[..4] == *b"\xf7PW\x01" {
                continue;
            }
            self.stream.read_exact(&mut head[4..]).await.unwrap();
            let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
            let mut body = vec![0; number(0) as usize];
            self.stream.read_exact(&mut body).await.unwrap();
            match head[4] {
                HELLO | PONG => {}
                PING => {
                    self.frame(PONG, 0, 0, number(8), number(12), b"");
                    self.send().await;
                }
                kind => {
                    return Some(Frame {
                        kind,
                        flags: head[5],
                        code: u16::from_le_bytes([head[6], head[7]]),
                        id: number(8),
                        value: number(12),
                    });
                }
            }
        }
    }

    /// The next `count` replies and faults, and the other frames that arrived before the last of them.
    pub(crate) async fn answers(&mut self, count: usize) -> (Vec<Frame>, Vec<Frame>) {
        let (mut answers, mut others) = (Vec::new(), Vec::new());
        while answers.len() < count {
            let frame = self.next().await.unwrap();
            match frame.kind {
                REPLY | FAULT => answers.push(frame),
                _ => others.push(frame),
            }
        }
        (answers, others)
    }

    /// Calls a method in slot 0 and waits for the reply or fault.
    pub(crate) async fn ask(&mut self, name: &str, payload: &[u8]) -> Frame {
        self.call(0, name, 0, payload);
        self.send().await;
        self.answers(1).await.0.remove(0)
    }
}
