"""A client of the framed protocol over TCP or a Unix socket: frame_client.py HOST:PORT | unix:PATH SCENARIO [one-byte]

Left out: UDP, TLS, connecting anew, repeating of UNSTARTED calls, pings on its own. An item of a call made by call()
is dropped. Where the server offers a feature that the client was given, all that can be is compressed.
"""
from __future__ import annotations

import asyncio
import itertools
import math
import sys
import time
from typing import Iterable

from frame import *

Metadata = Iterable[tuple[str, bytes]]


class ClientCall(Call):
    """A call or subscription under way: send(), end(), items by iteration, result(), cancel()."""

    def __init__(self, client: Client, id: int, size: int) -> None:
        super().__init__(client.connection, id)
        self.client, self.size = client, size
        loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Frame] = loop.create_future()
        self.accepted: asyncio.Future[None] = loop.create_future()
        self.timer: asyncio.TimerHandle | None = None
        for future in (self.answer, self.accepted):  # whoever does not ask for it, need not hear of it
            future.add_done_callback(lambda done: done.cancelled() or done.exception())

    def tell(self, kind: int) -> None:
        if not self.over:
            self.connection.send(kind, id=self.id)

    def end(self) -> None:
        self.tell(END)

    def cancel(self) -> None:
        """Also for who will not read items that came before the call ended."""
        self.tell(CANCEL)
        self.discard()

    def unsubscribe(self) -> None:
        self.tell(UNSUBSCRIBE)

    def expire(self) -> None:
        self.cancel()
        self.settle(Fault(0x32))

    def settle(self, outcome: Frame | Exception) -> None:
        for future in (self.answer, self.accepted):
            if not future.done():
                future.set_exception(outcome) if isinstance(outcome, Exception) else future.set_result(outcome)

    async def result(self) -> bytes:
        try:
            return (await asyncio.shield(self.answer)).payload
        except asyncio.CancelledError:
            self.cancel()
            raise


class Client:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.counts: list[int] = []  # the last count of each slot
        self.free: list[int] = []
        self.open: dict[int, ClientCall] = {}
        self.open_bytes = 0
        self.most_calls = self.most_bytes = NONE  # by CREDIT
        self.numbers: dict[str, int] = {}
        self.changed, self.greeted = asyncio.Event(), asyncio.Event()
        self.pongs: dict[int, asyncio.Future[None]] = {}
        self.ping_ids = itertools.count(1)
        self.end: Disconnected | None = None  # no more calls, and why
        self.task = asyncio.ensure_future(self.run())

    @classmethod
    async def connect(cls, address: str, metadata: Metadata = (), features: int = 0, one_byte: bool = False) -> Client:
        if address.startswith("unix:"):
            reader, writer = await asyncio.open_unix_connection(address[5:])
        else:
            host, _, port = address.rpartition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
        own = Settings(frame=1 << 24, features=features)
        connection = Connection(reader, writer, own, is_server=False, one_byte=one_byte)
        connection.send(HELLO, payload=own.encode(), fields=metadata_fields(metadata))
        return cls(connection)

    async def run(self) -> None:
        why, goodbye = "the server closed", ()
        try:
            preface = await self.connection.reader.readexactly(4)
            if preface[:3] != PREFACE[:3]:
                raise Disconnected(f"not this protocol: {preface}")
            self.connection.position = 4
            async for frame in self.connection.frames():
                self.take(frame)
        except Broken as error:
            why, goodbye = str(error), (error.code, str(error))
        except (Disconnected, asyncio.IncompleteReadError, OSError) as error:
            why = str(error)
        finally:
            self.end = Disconnected(why, sent=False)
            for call in list(self.open.values()):
                self.finish(call, Disconnected(why))
            for pong in self.pongs.values():
                pong.done() or pong.set_exception(Disconnected(why))
            self.changed.set()
            self.greeted.set()
            self.connection.leave(*goodbye)
            await self.connection.read_rest()

    def take(self, frame: Frame) -> None:
        call = self.open.get(frame.id)
        match frame.kind:
            case Kind.HELLO:
                for call in self.open.values():  # they began with the least window
                    call.credit.add(self.connection.peer.window - Settings.window)
                self.greeted.set()
            case Kind.PING:
                self.connection.send(PONG, id=frame.id, value=frame.value)
            case Kind.PONG:
                if frame.id in self.pongs:
                    self.pongs.pop(frame.id).set_result(None)
            case Kind.GOAWAY:
                if frame.code >= 0x10:
                    raise Disconnected(f"sent away, {frame.code:#04x}: {frame.payload.decode()}")
                self.end = Disconnected(f"the server goes, {frame.code:#04x}: {frame.payload.decode()}", sent=False)
            case Kind.CREDIT if frame.code == 1:
                self.most_calls = frame.value
            case Kind.CREDIT if frame.code == 2:
                self.most_bytes = frame.value
            case Kind.CREDIT:
                if call and frame.code == 0:
                    call.credit.add(frame.value, frame.at)
            case _ if call is None:
                raise Broken(frame.at + 8, "the id of an open call", f"{frame.id:#x}")
            case Kind.ITEM:
                call.take(frame)
            case Kind.ACCEPT:
                call.accepted.done() or call.accepted.set_result(None)
            case Kind.REPLY:
                self.finish(call, frame)
            case Kind.FAULT:
                code = frame.code if frame.code in FAULTS else 0x20
                self.finish(call, Fault(code, frame.payload, frame.value, bool(frame.flags & UNSTARTED)))
        self.changed.set()

    def finish(self, call: ClientCall, outcome: Frame | Exception) -> None:
        del self.open[call.id]
        self.free.append(call.id & 0xFFFF)
        self.open_bytes -= call.size - HEADER.size
        call.timer and call.timer.cancel()
        call.settle(outcome)
        call.finish()

    def has_room(self) -> bool:
        peer = self.connection.peer
        return (len(self.open) < min(peer.calls, self.most_calls)
                and self.open_bytes < min(peer.bytes, self.most_bytes))

    async def start(self, kind: int, name: str = "", payload: bytes = b"", timeout: float | None = None,
                    metadata: Metadata = (), flags: int = 0, topic: str | None = None) -> ClientCall:
        """Sends the first frame of a call, once there is room for it; `timeout` (seconds) counts from now."""
        until = None if timeout is None else time.monotonic() + timeout
        try:
            async with asyncio.timeout(timeout):
                if len(payload) > Settings.frame // 2:
                    await self.greeted.wait()  # whether the server takes so much is not known before
                while not self.end and not self.has_room():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            raise Fault(0x32, unstarted=True) from None
        if self.end:
            raise self.end
        left = 0 if until is None else max(1, math.ceil((until - time.monotonic()) * 1000))
        slot = self.free[-1] if self.free else len(self.counts)
        count = self.counts[slot] + 1 & 0xFFFF if self.free else 0
        size = self.send(kind, name, count << 16 | slot, left, payload, metadata, flags, topic)
        if self.free:
            self.counts[self.free.pop()] = count
        else:
            self.counts.append(count)
        call = self.open[count << 16 | slot] = ClientCall(self, count << 16 | slot, size)
        self.open_bytes += size - HEADER.size
        if until is not None:
            call.timer = asyncio.get_running_loop().call_later(until - time.monotonic(), call.expire)
        await self.connection.writer.drain()
        return call

    def send(self, kind: int, name: str, id: int, left: int, payload: bytes, metadata: Metadata, flags: int,
             topic: str | None) -> int:
        fields, number = metadata_fields(metadata), self.numbers.get(name, 0)
        if topic is not None:
            fields.append((TOPIC, topic.encode()))
        if name and not number:
            fields.append((NAME, name.encode()))
            number = len(self.numbers) + 1 if len(self.numbers) < self.connection.peer.names else 0
        size = self.connection.send(kind, code=number, id=id, value=left, payload=payload, fields=fields, flags=flags)
        if name and number:
            self.numbers[name] = number
        return size

    async def call(self, name: str, payload: bytes = b"", timeout: float | None = None,
                   metadata: Metadata = ()) -> bytes:
        call = await self.start(CALL, name, payload, timeout, metadata)
        dropping = asyncio.ensure_future(self.drop(call))
        try:
            return await call.result()
        finally:
            dropping.cancel()
            call.discard()

    async def drop(self, call: ClientCall) -> None:
        async for _ in call:
            pass

    async def stream(self, name: str, payload: bytes = b"", timeout: float | None = None, metadata: Metadata = (),
                     open: bool = True) -> ClientCall:
        """A call with streams; without `open` only the server's."""
        return await self.start(CALL, name, payload, timeout, metadata, OPEN if open else 0)

    def one_way(self, name: str, payload: bytes = b"", timeout: float = 0, metadata: Metadata = ()) -> None:
        if self.end:
            raise self.end
        self.send(ONEWAY, name, 0, math.ceil(timeout * 1000), payload, metadata, 0, None)

    async def subscribe(self, topic: str) -> ClientCall:
        call = await self.start(SUBSCRIBE, payload=topic.encode())
        await call.accepted
        return call

    async def publish(self, topic: str, message: bytes, timeout: float | None = None) -> int:
        call = await self.start(PUBLISH, payload=message, timeout=timeout, topic=topic)
        return int.from_bytes(await call.result(), "little")

    async def ping(self) -> float:
        if self.task.done():
            raise Disconnected("closed", sent=False)
        began, id = time.monotonic(), next(self.ping_ids)
        pong = self.pongs[id] = asyncio.get_running_loop().create_future()
        self.connection.send(PING, id=id, value=7)
        await pong
        return time.monotonic() - began

    async def go_away(self) -> None:
        """No more calls of ours; returns when the server, having answered all, has closed."""
        self.end = Disconnected("the client said GOAWAY", sent=False)
        self.connection.send(GOAWAY, payload=b"no more calls")
        await asyncio.shield(self.task)

    async def close(self) -> None:
        self.connection.leave()
        await self.task


if __name__ == "__main__":
    import scenarios
    scenarios.main(sys.argv[1:])
