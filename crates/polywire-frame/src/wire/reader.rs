//! Splits received bytes into frames and checks what holds for every frame.

use super::header::Sender;
use super::{Extension, Flags, HEADER, Header, Kind, ProtocolError, Reason, Settings};

/// The first bytes of each side: `f7`, with which no other protocol begins, "PW", and the version.
pub const PREFACE: [u8; 4] = [0xf7, 0x50, 0x57, VERSION];

const VERSION: u8 = 1;

/// Reads frames from the front of what one side of a connection has sent.
///
/// It stores no bytes: the caller passes all bytes that were received and not consumed.
///
/// ```
/// use polywire_frame::{FrameReader, Kind, Next, Settings};
///
/// let mut frames = FrameReader::of_client(&Settings::DEFAULT);
/// let stream = [
///     &[0xf7, 0x50, 0x57, 1][..],
///     &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
///     &[3, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x82, 2, 3],
/// ]
/// .concat();
///
/// assert_eq!(frames.next(&stream)?, Next::Skipped(4));
/// // Cut in the middle of the first frame.
/// assert_eq!(frames.next(&stream[4..10])?, Next::NeedMore(16));
/// let Next::Frame(hello, consumed) = frames.next(&stream[4..])? else { panic!() };
/// assert_eq!((hello.header.kind, consumed), (Kind::HELLO, 16));
/// let Next::Frame(call, _) = frames.next(&stream[20..])? else { panic!() };
/// assert_eq!(call.payload, [0x82, 2, 3]);
/// # Ok::<(), polywire_frame::ProtocolError>(())
/// ```
#[derive(Debug)]
pub struct FrameReader {
    sender: Sender,
    /// The receiver's limit of a body, in bytes.
    most: u32,
    /// The flags that the receiver can read.
    flags: Flags,
    /// Bytes consumed.
    offset: u64,
    progress: Progress,
}

/// What has been read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Progress {
    Nothing,
    Preface,
    Hello,
}

/// What is at the front of the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next<'a> {
    /// A frame, and its length in bytes.
    Frame(Frame<'a>, usize),
    /// This many bytes to consume without effect: the preface, or a frame of a kind that may be ignored.
    Skipped(usize),
    /// No complete frame. The input must have at least this many bytes.
    NeedMore(usize),
}

/// A frame of a known kind, with flags and parts that the kind may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    /// The extension with its length in front; empty if there is none.
    pub extension: &'a [u8],
    /// The payload, compressed if the flag says so.
    pub payload: &'a [u8],
    /// The position of the frame in the stream.
    pub offset: u64,
}

impl FrameReader {
    /// Reads what a client sends to a server with these settings.
    #[must_use]
    pub fn of_client(server: &Settings) -> Self {
        Self::new(Sender::Client, server)
    }

    /// Reads what a server sends to a client with these settings.
    #[must_use]
    pub fn of_server(client: &Settings) -> Self {
        Self::new(Sender::Server, client)
    }

    fn new(sender: Sender, receiver: &Settings) -> Self {
        Self {
            sender,
            most: receiver.frame(),
            flags: receiver.features().flags(),
            offset: 0,
            progress: Progress::Nothing,
        }
    }

    /// Reads datagrams instead, each without its token: there is no preface, and any frame may have
    /// [`Flags::AGAIN`].
    #[must_use]
    pub fn for_datagrams(mut self) -> Self {
        self.flags = self.flags.union(Flags::AGAIN);
        self
    }

    /// The frame that a datagram consists of. `first`: whether it must be a `HELLO` or a `GOAWAY`, as before a
    /// connection is established. `None` if it is not exactly one frame that the sender may send.
    #[inline]
    #[must_use]
    pub fn datagram<'a>(&self, first: bool, bytes: &'a [u8]) -> Option<Frame<'a>> {
        let mut reader = Self {
            progress: match first {
                true => Progress::Preface,
                false => Progress::Hello,
            },
            ..*self
        };
        match reader.next(bytes) {
            Ok(Next::Frame(frame, consumed)) if consumed == bytes.len() => Some(frame),
            _ => None,
        }
    }

    /// Whether the sender has sent the preface. A sender that has not may not understand a `GOAWAY`.
    #[must_use]
    pub fn has_preface(&self) -> bool {
        self.progress != Progress::Nothing
    }

    /// The most bytes of a body.
    pub(crate) const fn most(&self) -> u32 {
        self.most
    }

    /// The number of bytes consumed.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next frame.
    ///
    /// # Errors
    ///
    /// The input is not a frame, or not one that the sender may send. Nothing more can be read.
    #[inline]
    pub fn next<'a>(&mut self, input: &'a [u8]) -> Result<Next<'a>, ProtocolError> {
        if self.progress == Progress::Hello
            && let Some((header, rest)) = input.split_first_chunk::<HEADER>()
        {
            let header = Header::read(header);
            // Most frames are complete and have no flags.
            if header.length <= self.most
                && header.flags == Flags::NONE
                && header.kind != Kind::HELLO
                && let Some(payload) = rest.get(..header.length as usize)
                && (payload.is_empty() || header.kind.has_body())
                && header.kind.comes_from(self.sender)
            {
                let frame = Frame {
                    header,
                    extension: &[],
                    payload,
                    offset: self.offset,
                };
                let consumed = HEADER + payload.len();
                self.offset += consumed as u64;
                return Ok(Next::Frame(frame, consumed));
            }
        }
        self.slow_next(input)
    }

    /// Like [`Self::next`], for any input.
    #[inline(never)]
    fn slow_next<'a>(&mut self, input: &'a [u8]) -> Result<Next<'a>, ProtocolError> {
        if self.progress == Progress::Nothing {
            check_preface(input)?;
            if input.len() < PREFACE.len() {
                return Ok(Next::NeedMore(PREFACE.len()));
            }
            self.progress = Progress::Preface;
            return Ok(self.skip(PREFACE.len()));
        }
        let Some((head, rest)) = input.split_first_chunk::<HEADER>() else {
            return Ok(Next::NeedMore(HEADER));
        };
        let header = Header::read(head);
        let offset = self.offset;
        self.check(&header, offset)?;
        let Some(body) = rest.get(..header.length as usize) else {
            return Ok(Next::NeedMore(HEADER + header.length as usize));
        };
        let consumed = HEADER + body.len();
        if !header.kind.is_known() {
            return Ok(self.skip(consumed));
        }
        let (extension, payload) = match header.flags.contains(Flags::EXTENSION) {
            true => Extension::split(body, offset + HEADER as u64)?,
            false => (&[][..], body),
        };
        let frame = Frame {
            header,
            extension,
            payload,
            offset,
        };
        self.progress = Progress::Hello;
        self.offset += consumed as u64;
        Ok(Next::Frame(frame, consumed))
    }

    fn skip<'a>(&mut self, consumed: usize) -> Next<'a> {
        self.offset += consumed as u64;
        Next::Skipped(consumed)
    }

    /// Checks a header before its body has arrived.
    fn check(&self, header: &Header, offset: u64) -> Result<(), ProtocolError> {
        let Header {
            kind,
            flags,
            length,
            ..
        } = *header;
        let error = |expected: &'static str| ProtocolError::new(offset, expected);
        if length > self.most {
            let expected = format!("a body of at most {} bytes", self.most);
            return Err(ProtocolError::new(offset, expected)
                .found(length.to_string())
                .because(Reason::LENGTH));
        }
        let greeted = self.progress == Progress::Hello;
        if greeted && kind.may_be_ignored() {
            return Ok(());
        }
        if greeted && kind == Kind::HELLO {
            return Err(error("HELLO once").found("another"));
        }
        // A side that rejects the connection sends GOAWAY instead of HELLO.
        if !greeted && kind != Kind::HELLO && kind != Kind::GOAWAY {
            return Err(error("HELLO").found(kind.to_string()));
        }
        if !kind.comes_from(self.sender) {
            let expected = match self.sender {
                Sender::Client => "a frame of a client",
                _ => "a frame of a server",
            };
            return Err(error(expected).found(kind.to_string()));
        }
        let unknown = flags.difference(kind.flags());
        if unknown != Flags::NONE {
            let expected = format!("flags of {kind}");
            let found = format!("0x{:02x}", unknown.0);
            return Err(ProtocolError::new(offset, expected).found(found));
        }
        let unread = flags.difference(self.flags);
        if unread != Flags::NONE {
            let found = format!("0x{:02x}", unread.0);
            return Err(error("flags whose feature was offered").found(found));
        }
        if length > 0 && !kind.has_body() {
            let expected = format!("{kind} without a body");
            return Err(ProtocolError::new(offset, expected).found(format!("{length} bytes")));
        }
        Ok(())
    }
}

/// Checks the part of the preface that is there.
fn check_preface(input: &[u8]) -> Result<(), ProtocolError> {
    let there = &input[..input.len().min(PREFACE.len())];
    // Reports up to the first wrong byte, so that the message does not depend on how much has arrived.
    let mut name = there.iter().zip(&PREFACE[..3]);
    if let Some(wrong) = name.position(|(byte, expected)| byte != expected) {
        let found: Vec<_> = there[..=wrong]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        return Err(ProtocolError::new(0, "the preface f7 50 57").found(found.join(" ")));
    }
    match there.get(3) {
        None | Some(&VERSION) => Ok(()),
        Some(version) => Err(ProtocolError::new(3, "version 1")
            .found(version.to_string())
            .because(Reason::VERSION)),
    }
}

impl<'a> Frame<'a> {
    /// The position of the payload in the stream.
    pub(crate) fn payload_offset(&self) -> u64 {
        self.offset + (HEADER + self.extension.len()) as u64
    }

    /// What an item takes off the credit of its stream, in bytes.
    pub(crate) const fn cost(&self) -> u32 {
        // No body has more than 2^30 bytes.
        self.header.length + HEADER as u32
    }

    /// The extension; empty if the frame has none.
    #[must_use]
    #[inline]
    pub fn fields(&self) -> Extension<'a> {
        Extension::checked(self.extension)
    }

    /// The payload of a `GOAWAY` as text.
    pub(crate) fn message(&self) -> Result<&'a str, ProtocolError> {
        std::str::from_utf8(self.payload)
            .map_err(|_| ProtocolError::new(self.payload_offset(), "words in UTF-8"))
    }
}
