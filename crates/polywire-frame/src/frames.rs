//! Frames out of bytes: what both sides do alike before they look at a frame's meaning.

use crate::broken::Broken;
use crate::extension::Extension;
use crate::header::From;
use crate::{Flags, HEADER, Header, Kind, Reason, Settings};

/// The bytes that each side sends first: "PW" behind a byte with which nothing else begins, and
/// the version.
pub const PREFACE: [u8; 4] = [0xf7, 0x50, 0x57, VERSION];

const VERSION: u8 = 1;

/// Takes frames off the front of what one side of a connection has sent.
///
/// It keeps no bytes: whoever reads gives what has come and not been consumed, from its
/// beginning, as often as there is more.
///
/// ```
/// use polywire_frame::{Frames, Kind, Next, Settings};
///
/// let mut frames = Frames::of_client(&Settings::DEFAULT);
/// let stream = [
///     &[0xf7, 0x50, 0x57, 1][..],
///     &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
///     &[3, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x82, 2, 3],
/// ]
/// .concat();
///
/// assert_eq!(frames.next(&stream)?, Next::Passed(4));
/// // Cut in the middle of the first frame.
/// assert_eq!(frames.next(&stream[4..10])?, Next::Wants(16));
/// let Next::Frame(hello, consumed) = frames.next(&stream[4..])? else { panic!() };
/// assert_eq!((hello.header.kind, consumed), (Kind::HELLO, 16));
/// let Next::Frame(call, _) = frames.next(&stream[20..])? else { panic!() };
/// assert_eq!(call.payload, [0x82, 2, 3]);
/// # Ok::<(), polywire_frame::Broken>(())
/// ```
#[derive(Debug)]
pub struct Frames {
    /// Who sends them.
    side: From,
    /// The most bytes of a body.
    most: u32,
    /// The flags that the receiver can read.
    flags: Flags,
    /// Bytes consumed.
    offset: u64,
    began: Began,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Began {
    No,
    Preface,
    Hello,
}

/// What stands at the front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next<'a> {
    /// A frame, and how many bytes it is.
    Frame(Frame<'a>, usize),
    /// So many bytes without a meaning of their own: the preface, or a frame of a kind that may be
    /// passed over.
    Passed(usize),
    /// Nothing whole: this many bytes, from the same beginning, are wanted at least.
    Wants(usize),
}

/// A frame as it stands in the bytes, of a known kind, with the flags and the parts that it may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    /// The extension with its length in front; empty if there is none.
    pub extension: &'a [u8],
    /// The payload; compressed, if the flag says so.
    pub payload: &'a [u8],
    /// Where in the stream the frame begins.
    pub offset: u64,
}

impl Frames {
    /// Reads what a client sends to a server of these settings.
    #[must_use]
    pub fn of_client(server: &Settings) -> Self {
        Self::new(From::Client, server)
    }

    /// Reads what a server sends to a client of these settings.
    #[must_use]
    pub fn of_server(client: &Settings) -> Self {
        Self::new(From::Server, client)
    }

    fn new(side: From, receiver: &Settings) -> Self {
        Self {
            side,
            most: receiver.frame(),
            flags: receiver.features().flags(),
            offset: 0,
            began: Began::No,
        }
    }

    /// The frame that is the whole of these bytes, behind a greeting or as one, in a datagram; nothing if they are
    /// none that the sender may send.
    pub(crate) fn whole<'a>(
        side: From,
        receiver: &Settings,
        greeted: bool,
        bytes: &'a [u8],
    ) -> Option<Frame<'a>> {
        let new = Self::new(side, receiver);
        let mut frames = Self {
            flags: new.flags.with(Flags::AGAIN),
            began: if greeted {
                Began::Hello
            } else {
                Began::Preface
            },
            ..new
        };
        match frames.next(bytes) {
            Ok(Next::Frame(frame, consumed)) if consumed == bytes.len() => Some(frame),
            _ => None,
        }
    }

    /// Whether the sender speaks frames at all, as far as is known. Nobody else is to be told
    /// in frames what was wrong.
    #[must_use]
    pub fn speaks(&self) -> bool {
        self.began != Began::No
    }

    /// The most bytes of a body.
    pub(crate) const fn most(&self) -> u32 {
        self.most
    }

    /// How many bytes have been consumed.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next frame.
    ///
    /// # Errors
    ///
    /// What stands there is no frame, or one that the sender may not send. Nothing more can be
    /// read from it.
    #[inline]
    pub fn next<'a>(&mut self, input: &'a [u8]) -> Result<Next<'a>, Broken> {
        if self.began == Began::Hello
            && let Some((header, rest)) = input.split_first_chunk::<HEADER>()
        {
            let header = Header::read(header);
            // Most frames: whole, and without flags.
            if header.length <= self.most
                && header.flags == Flags::NONE
                && header.kind != Kind::HELLO
                && let Some(payload) = rest.get(..header.length as usize)
                && (payload.is_empty() || header.kind.has_body())
                && header.kind.comes_from(self.side)
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
        self.any_next(input)
    }

    /// As [`Self::next`], whatever stands there.
    #[inline(never)]
    fn any_next<'a>(&mut self, input: &'a [u8]) -> Result<Next<'a>, Broken> {
        if self.began == Began::No {
            self.check_preface(input)?;
            if input.len() < PREFACE.len() {
                return Ok(Next::Wants(PREFACE.len()));
            }
            self.began = Began::Preface;
            return Ok(self.passed(PREFACE.len()));
        }
        let Some((head, rest)) = input.split_first_chunk::<HEADER>() else {
            return Ok(Next::Wants(HEADER));
        };
        let header = Header::read(head);
        let offset = self.offset;
        self.check(&header, offset)?;
        let Some(body) = rest.get(..header.length as usize) else {
            return Ok(Next::Wants(HEADER + header.length as usize));
        };
        let consumed = HEADER + body.len();
        if !header.kind.is_known() {
            return Ok(self.passed(consumed));
        }
        let (extension, payload) = match header.flags.has(Flags::EXTENSION) {
            true => {
                let (_, payload) = Extension::split(body, offset + HEADER as u64)?;
                body.split_at(body.len() - payload.len())
            }
            false => (&[][..], body),
        };
        let frame = Frame {
            header,
            extension,
            payload,
            offset,
        };
        self.began = Began::Hello;
        self.offset += consumed as u64;
        Ok(Next::Frame(frame, consumed))
    }

    fn passed<'a>(&mut self, consumed: usize) -> Next<'a> {
        self.offset += consumed as u64;
        Next::Passed(consumed)
    }

    fn check_preface(&self, input: &[u8]) -> Result<(), Broken> {
        let there = &input[..input.len().min(PREFACE.len())];
        let hex = |bytes: &[u8]| {
            let bytes: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            bytes.join(" ")
        };
        // Up to the first that is wrong, so that the words are the same however the bytes are cut.
        let mut name = there.iter().zip(&PREFACE[..3]);
        if let Some(wrong) = name.position(|(byte, expected)| byte != expected) {
            let found = hex(&there[..=wrong]);
            return Err(Broken::new(0, "the preface f7 50 57").found(found));
        }
        match there.get(3) {
            None | Some(&VERSION) => Ok(()),
            Some(version) => Err(Broken::new(3, "version 1")
                .found(version.to_string())
                .because(Reason::VERSION)),
        }
    }

    /// What a header must be, whatever its body is.
    fn check(&self, header: &Header, offset: u64) -> Result<(), Broken> {
        let Header {
            kind,
            flags,
            length,
            ..
        } = *header;
        if length > self.most {
            let expected = format!("a body of at most {} bytes", self.most);
            return Err(Broken::new(offset, expected)
                .found(length.to_string())
                .because(Reason::LENGTH));
        }
        if kind.may_be_ignored() && self.began == Began::Hello {
            return Ok(());
        }
        // A side that wants no connection says so at once.
        let may_be_first = kind == Kind::HELLO || kind == Kind::GOAWAY;
        if self.began == Began::Hello && kind == Kind::HELLO
            || self.began != Began::Hello && !may_be_first
        {
            let expected = match self.began {
                Began::Hello => "HELLO once",
                _ => "HELLO",
            };
            let broken = Broken::new(offset, expected).found(kind.to_string());
            return Err(match self.began {
                Began::Hello => broken.found("another"),
                _ => broken,
            });
        }
        if !kind.comes_from(self.side) {
            let expected = match self.side {
                From::Client => "a frame of a client",
                _ => "a frame of a server",
            };
            return Err(Broken::new(offset, expected).found(kind.to_string()));
        }
        let unknown = flags.beyond(kind.flags());
        if unknown != Flags::NONE {
            let expected = format!("flags of {kind}");
            return Err(Broken::new(offset, expected).found(format!("0x{:02x}", unknown.0)));
        }
        let unread = flags.beyond(self.flags);
        if unread != Flags::NONE {
            let expected = "flags whose feature was offered";
            return Err(Broken::new(offset, expected).found(format!("0x{:02x}", unread.0)));
        }
        if length > 0 && !kind.has_body() {
            let expected = format!("{kind} without a body");
            return Err(Broken::new(offset, expected).found(format!("{length} bytes")));
        }
        Ok(())
    }
}

impl<'a> Frame<'a> {
    /// Where in the stream the payload begins.
    pub(crate) fn payload_offset(&self) -> u64 {
        self.offset + (HEADER + self.extension.len()) as u64
    }

    /// What an item takes off the credit of its stream.
    pub(crate) const fn cost(&self) -> u32 {
        // No body has more than 2^30 bytes.
        self.header.length + HEADER as u32
    }

    /// The fields of the extension; none if it has none.
    #[must_use]
    #[inline]
    pub fn fields(&self) -> Extension<'a> {
        match self.extension {
            [] => Extension::default(),
            // It was checked when the frame was read.
            bytes => Extension::split(bytes, 0).map_or(Extension::default(), |(read, _)| read),
        }
    }
}
