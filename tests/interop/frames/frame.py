"""What a client and a server of the framed protocol share: frames, settings, and the streams of a call.

Left out: datagrams, TLS, the trace field (it is passed over), checks of names for control characters, a second
version. Ids, codes and values that should be 0 are not looked at. All is for asyncio, one task reading.
"""
from __future__ import annotations

import asyncio
import contextlib
import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, AsyncIterator, Iterable

PREFACE = b"\xf7PW\x01"
HEADER = struct.Struct("<IBBHII")
NONE, MOST_CREDIT, MOST_EXTENSION, LINGER = 0xFFFFFFFF, 0x7FFFFFFF, 16384, 3
Kind = IntEnum("Kind", "HELLO CALL ONEWAY REPLY FAULT CANCEL ITEM END CREDIT SUBSCRIBE ACCEPT PUBLISH UNSUBSCRIBE "
               "PING PONG GOAWAY")
HELLO, CALL, ONEWAY, REPLY, FAULT, CANCEL, ITEM, END = list(Kind)[:8]
CREDIT, SUBSCRIBE, ACCEPT, PUBLISH, UNSUBSCRIBE, PING, PONG, GOAWAY = list(Kind)[8:]
EXTENSION, DEFLATE, OPEN, UNSTARTED = 1, 2, 8, 16  # flags; 4 is reserved
CAN_INFLATE = 2  # features; 1 is reserved
NAME, METADATA, TRACE, TOPIC = 1, 2, 3, 4  # fields of an extension
COMPRESSIBLE = {CALL, ONEWAY, REPLY, FAULT, ITEM, PUBLISH}
FLAGS = {kind: (EXTENSION if kind in COMPRESSIBLE - {ITEM} | {HELLO, SUBSCRIBE} else 0)
         | (DEFLATE if kind in COMPRESSIBLE else 0) | (OPEN if kind == CALL else 0)
         | (UNSTARTED if kind == FAULT else 0) for kind in Kind}
NOT_OF_CLIENTS = {REPLY, FAULT, ACCEPT}
NOT_OF_SERVERS = {CALL, ONEWAY, CANCEL, END, SUBSCRIBE, PUBLISH, UNSUBSCRIBE}
FAULTS = {*range(0x01, 0x08), 0x10, 0x11, 0x20, *range(0x30, 0x34)}
BODYLESS = {CANCEL, END, CREDIT, ACCEPT, UNSUBSCRIBE, PING, PONG}


class Broken(Exception):
    """The other side broke a rule; the words are those of our GOAWAY."""
    def __init__(self, at: int, expected: str, got: Any, code: int = 0x10) -> None:
        super().__init__(f"at byte {at}: expected {expected}, got {got}")
        self.code = code


class Disconnected(Exception):
    """The connection is at its end. Only where `sent` is false is it known that the call was not carried out."""
    def __init__(self, why: str, sent: bool = True) -> None:
        super().__init__(why)
        self.sent = sent


class Fault(Exception):
    """A call's answer that is not its output."""
    def __init__(self, code: int, payload: bytes = b"", value: int = 0, unstarted: bool = False) -> None:
        super().__init__(f"fault {code:#04x}{' (unstarted)' if unstarted else ''}: {payload!r}")
        self.code, self.payload, self.value, self.unstarted = code, payload, value, unstarted


@dataclass
class Settings:
    """What a side takes; until its HELLO is there, these."""
    frame: int = 65536
    calls: int = 64
    bytes: int = 1 << 20
    window: int = 65536
    names: int = 64
    ping: int = 10000
    features: int = 0
    items: int = 1 << 20

    MOST = {1: ("frame", 1 << 30), 2: ("calls", 65535), 3: ("bytes", NONE), 4: ("window", MOST_CREDIT),
            5: ("names", 65535), 6: ("ping", NONE), 7: ("features", NONE),
            8: ("items", MOST_CREDIT)}  # no annotation: not a member

    def encode(self) -> bytes:
        return b"".join(struct.pack("<HI", key, getattr(self, name)) for key, (name, _) in self.MOST.items())

    @classmethod
    def decode(cls, body: bytes, at: int, of_server: bool) -> Settings:
        if len(body) % 6:
            raise Broken(at, "settings of 6 bytes", f"{len(body)} bytes")
        pairs, found = [pair for pair in struct.iter_unpack("<HI", body) if pair[0] in cls.MOST], cls()
        if len(dict(pairs)) < len(pairs):
            raise Broken(at, "each setting once", pairs)
        for key, value in pairs:
            name, most = cls.MOST[key]
            least = 0 if name == "ping" else getattr(cls, name)
            if not least <= value <= most:
                raise Broken(at, f"{name} from {least} to {most}", value)
            if of_server or key in (1, 4, 7, 8):
                setattr(found, name, value)
        return found


@dataclass
class Frame:
    kind: int
    flags: int
    code: int
    id: int
    value: int
    payload: bytes
    fields: list[tuple[int, bytes]]
    at: int  # the byte of the stream where it begins
    size: int  # header and body, uncompressed

    def text(self, tag: int) -> str | None:
        return next((content.decode() for found, content in self.fields if found == tag), None)

    @property
    def metadata(self) -> list[tuple[str, bytes]]:
        return [(c[1:1 + c[0]].decode("ascii"), c[1 + c[0]:]) for tag, c in self.fields if tag == METADATA]


def metadata_fields(metadata: Iterable[tuple[str, bytes]]) -> list[tuple[int, bytes]]:
    return [(METADATA, bytes([len(key)]) + key.encode("ascii") + value) for key, value in metadata]


def read_extension(body: bytes, at: int) -> tuple[list[tuple[int, bytes]], bytes]:
    """The fields at the body's beginning, and what is behind them."""
    length = int.from_bytes(body[:2], "little")
    if len(body) < 2 or length > min(len(body) - 2, MOST_EXTENSION):
        raise Broken(at, f"an extension that fits, of at most {MOST_EXTENSION} bytes", f"{length} of {len(body)}")
    rest, body, fields = body[2:2 + length], body[2 + length:], []
    while rest:
        size = int.from_bytes(rest[1:3], "little")
        tag, content = rest[0], rest[3:3 + size]
        if len(rest) < 3 or len(content) < size or (tag == METADATA and not 0 < (content + b"\0")[0] < size):
            raise Broken(at, "a field that fits", rest[:16])
        if tag != METADATA and any(tag == other for other, _ in fields):
            raise Broken(at, f"field {tag} once", "it twice")
        fields.append((tag, content))
        rest = rest[3 + size:]
    return fields, body


class Credit:
    """Bytes of items that may be sent and that may come: on a stream, or on all of the connection together."""

    def __init__(self, connection: Connection, code: int, id: int, left: int, room: int) -> None:
        self.connection, self.code, self.id = connection, code, id
        self.left, self.room = left, room  # to send, to get
        self.owed = 0  # consumed, but not yet given back

    def add(self, amount: int, at: int = 0) -> None:
        self.left += amount
        if self.left > MOST_CREDIT:
            raise Broken(at + 12, f"credit of at most {MOST_CREDIT}", self.left)
        self.connection.go.set()

    def came(self, item: Frame) -> None:
        if self.room <= 0:
            raise Broken(item.at + 4, "no ITEM without credit", f"{self.room} of code {self.code}", 0x15)
        self.room -= item.size

    def consumed(self, item: Frame) -> None:
        """Gives back as soon as what is owed is as much as the other side has left: on a stream that is half of the
        window, on the connection less, as far as it is held by streams that nobody reads."""
        self.owed += item.size
        if self.owed >= self.room:
            self.connection.send(CREDIT, code=self.code, id=self.id, value=self.owed)
            self.room, self.owed = self.room + self.owed, 0


class Connection:
    """One side of a connection: writes frames, and reads and checks those of the other side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, own: Settings, is_server: bool,
                 one_byte: bool = False) -> None:
        self.reader, self.writer, self.own, self.is_server, self.one_byte = reader, writer, own, is_server, one_byte
        self.peer = Settings()
        self.credit = Credit(self, 3, NONE, self.peer.items, own.items)  # of all streams together
        self.go = asyncio.Event()  # there is credit, or a call has ended
        self.position = 0
        self.left = self.ended = False  # nothing more is written; nothing more will come
        self.deflated_frames = 0  # that came
        self.write(PREFACE)

    def write(self, data: bytes) -> None:
        if not (self.left or self.writer.is_closing()):
            for part in ([data[i:i + 1] for i in range(len(data))] if self.one_byte else [data]):
                self.writer.write(part)

    def send(self, kind: int, *, code: int = 0, id: int = 0, value: int = 0, payload: bytes = b"",
             fields: Iterable[tuple[int, bytes]] = (), flags: int = 0) -> int:
        """Writes a frame; says its size, uncompressed. What both sides have the feature for is compressed."""
        body, features = payload, self.peer.features & self.own.features
        extension = b"".join(struct.pack("<BH", tag, len(content)) + content for tag, content in fields)
        before = struct.pack("<H", len(extension)) + extension if extension else b""
        flags |= EXTENSION if extension else 0
        size = HEADER.size + len(before) + len(payload)
        if size - HEADER.size > self.peer.frame or len(extension) > MOST_EXTENSION:
            raise Fault(0x04, b"longer than the other side takes", unstarted=True)
        if kind in COMPRESSIBLE and features & CAN_INFLATE:
            packer = zlib.compressobj(wbits=-15)
            packed = struct.pack("<I", len(payload)) + packer.compress(payload) + packer.flush()
            if len(packed) < len(payload):
                body, flags = packed, flags | DEFLATE
        body = before + body
        self.write(HEADER.pack(len(body), kind, flags, code, id, value) + body)
        return size

    async def frames(self) -> AsyncIterator[Frame]:
        """All frames that come, HELLO first; ends with the stream, if that ends behind a frame. The preface has been
        read."""
        greeted = False
        while True:
            at = self.position
            try:
                head = await self.reader.readexactly(HEADER.size)
            except asyncio.IncompleteReadError as error:
                if error.partial:
                    raise Broken(at + len(error.partial), "the rest of a frame", "the end") from None
                return
            except OSError:
                return
            length, kind, flags, code, id, value = HEADER.unpack(head)
            if length > self.own.frame:
                raise Broken(at, f"a body of at most {self.own.frame} bytes", length, 0x12)
            if (kind == HELLO) == greeted and kind != GOAWAY:
                raise Broken(at + 4, "HELLO first, and once", f"kind {kind:#04x}")
            if kind < 0x80 and (kind not in FLAGS or kind in (NOT_OF_CLIENTS if self.is_server else NOT_OF_SERVERS)):
                raise Broken(at + 4, "a kind that this side may send", f"{kind:#04x}")
            offered = ~DEFLATE | DEFLATE * bool(self.own.features & CAN_INFLATE)
            if kind < 0x80 and flags & ~(FLAGS[kind] & offered):
                raise Broken(at + 5, f"flags that {Kind(kind).name} has here", f"{flags:#04x}")
            try:
                body = await self.reader.readexactly(length)
            except asyncio.IncompleteReadError as error:
                raise Broken(at + HEADER.size + len(error.partial), "the rest of a frame", "the end") from None
            except OSError:
                return
            self.position += HEADER.size + length
            if kind < 0x80:
                frame = self.decode(body, Frame(kind, flags, code, id, value, b"", [], at, HEADER.size + length))
                if kind == HELLO:
                    greeted, self.peer = True, Settings.decode(frame.payload, at + 16, not self.is_server)
                    self.credit.add(self.peer.items - Settings.items)
                elif kind == ITEM:
                    self.credit.came(frame)
                elif kind == CREDIT:
                    if code > 3 or code and id != NONE or code in (1, 2) and self.is_server:
                        raise Broken(at + 6, "CREDIT of a code and id that this side may send", f"{code}, {id:#x}")
                    if code == 3:
                        self.credit.add(value, at)
                yield frame

    def decode(self, body: bytes, frame: Frame) -> Frame:
        inside = frame.at + HEADER.size
        if frame.flags & EXTENSION:
            frame.fields, body = read_extension(body, inside)
        if frame.flags & DEFLATE:
            self.deflated_frames += 1
            told, unpack = int.from_bytes(body[:4], "little"), zlib.decompressobj(-15)
            frame.size += told - len(body)
            if len(body) < 4:
                raise Broken(inside, "a length of 4 bytes", body)
            if frame.size - HEADER.size > self.own.frame:
                raise Broken(inside, f"an uncompressed length of at most {self.own.frame}", told, 0x12)
            try:
                whole = unpack.decompress(body[4:], told + 1)
            except zlib.error as error:
                raise Broken(inside, "a stream of DEFLATE", error) from None
            if len(whole) != told or not unpack.eof or unpack.unused_data:
                raise Broken(inside, f"{told} bytes compressed", f"{len(whole)} or more")
            body = whole
        if body and frame.kind in BODYLESS:
            raise Broken(inside, f"{Kind(frame.kind).name} without body", f"{len(body)} bytes")
        try:
            [c.decode() for tag, c in frame.fields if tag in (NAME, TOPIC)]
            body.decode() if frame.kind in (SUBSCRIBE, GOAWAY) else None
        except UnicodeDecodeError as error:
            raise Broken(inside, "UTF-8", error) from None
        frame.payload = body
        return frame

    def leave(self, code: int | None = None, words: str = "") -> None:
        """The last that is written, with a GOAWAY or without. The rest is read, since else a reset of the system
        may overtake what was written; `read_rest` does so where frames() has ended, and then closes."""
        if self.left or self.writer.is_closing():
            return
        if code is not None:
            self.send(GOAWAY, code=code, payload=words.encode()[:60000])
        self.left = True
        with contextlib.suppress(OSError):
            self.writer.write_eof()
        asyncio.get_running_loop().call_later(LINGER, self.writer.transport.abort)

    async def read_rest(self) -> None:
        with contextlib.suppress(OSError):
            while await self.reader.read(65536):
                pass
        self.writer.close()


class Call:
    """The streams of one call, the same on both sides. Iterate it for the items of the other side."""

    def __init__(self, connection: Connection, id: int) -> None:
        self.connection, self.id = connection, id
        self.credit = Credit(connection, 0, id, connection.peer.window, connection.own.window)
        self.over = self.unread = False  # `unread`: nobody reads items any more
        self.items: asyncio.Queue[Frame | None] = asyncio.Queue()

    @property
    def may_send(self) -> bool:
        return self.credit.left > 0 and self.connection.credit.left > 0

    def put(self, item: bytes, value: int = 0) -> None:
        size = self.connection.send(ITEM, id=self.id, payload=item, value=value)
        self.credit.left -= size
        self.connection.credit.left -= size

    async def send(self, item: bytes) -> bool:
        """Sends an item as soon as there is credit; False where the call has ended."""
        while not (self.may_send or self.over):
            if self.connection.ended:
                raise Fault(0x33, b"nobody can give credit any more")
            self.connection.go.clear()
            await self.connection.go.wait()
        if not self.over:
            self.put(item)
            await self.connection.writer.drain()
        return not self.over

    def take(self, item: Frame) -> None:
        self.credit.came(item)
        if self.unread:
            self.connection.credit.consumed(item)
        else:
            self.items.put_nowait(item)

    def __aiter__(self) -> Call:
        return self

    async def __anext__(self) -> Frame:
        item = await self.items.get()
        if item is None:
            self.items.put_nowait(None)
            raise StopAsyncIteration
        if not self.over:
            self.credit.consumed(item)
        self.connection.credit.consumed(item)
        return item

    def discard(self) -> None:
        """Nobody reads items any more: those that wait, and all that come, count as consumed for the connection."""
        self.unread = True
        while not self.items.empty():
            if item := self.items.get_nowait():
                self.connection.credit.consumed(item)
        self.items.put_nowait(None)

    def finish(self) -> None:
        self.over = True
        self.connection.go.set()
        self.items.put_nowait(None)
