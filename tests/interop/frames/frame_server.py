"""A server of the framed protocol, over TCP or a Unix socket: frame_server.py HOST:PORT | unix:PATH

Left out: UDP, TLS, who may connect (the HELLO's metadata is not looked at), credit of codes 1 and 2, pings of its
own, a limit of idle time. A subscriber that does not keep up misses the newest messages. SIGTERM drains.
"""
from __future__ import annotations

import asyncio
import contextlib
import signal
import struct
import sys
import time
from typing import Awaitable, Callable

from frame import *

HANDSHAKE, DRAIN, CROSSES = 10.0, 5.0, 1.0  # seconds
SETTINGS = Settings(frame=1 << 24, calls=1024, bytes=1 << 25, window=1 << 18, items=1 << 20, names=1024, ping=100,
                    features=CAN_INFLATE)


class ServerCall(Call):
    """A call, subscription or message as a handler sees it: `payload`, `metadata`, items, send()."""

    def __init__(self, connection: Connection, frame: Frame) -> None:
        super().__init__(connection, frame.id)
        self.frame, self.payload, self.metadata = frame, frame.payload, frame.metadata
        self.came = time.monotonic()
        self.sending = bool(frame.flags & OPEN)  # the client's stream has not ended
        self.ended = asyncio.Event()  # it has, though items may wait
        self.topic: str | None = None
        self.left_out = 0
        self.task: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        if not self.sending:
            self.items.put_nowait(None)


Handler = Callable[[ServerCall], Awaitable[bytes]]


class Server:
    def __init__(self, handlers: dict[str, Handler], settings: Settings = SETTINGS) -> None:
        self.handlers, self.settings = handlers, settings
        self.topics: dict[str, set[ServerCall]] = {}
        self.sessions: set[Session] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = Session(self, reader, writer)
        self.sessions.add(session)
        try:
            await session.run()
        finally:
            self.sessions.discard(session)

    def publish(self, topic: str, message: bytes) -> int:
        reached = 0
        for call in self.topics.get(topic, ()):
            try:
                if not call.may_send:
                    raise Fault(0x30)
                call.put(message, call.left_out)
                call.left_out, reached = 0, reached + 1
            except Fault:  # slow, or takes only smaller frames
                call.left_out += 1
        return reached

    async def stop(self) -> None:
        await asyncio.gather(*(session.drain() for session in set(self.sessions)))


class Session:
    """One connection: which slots were used, which calls are open, which numbers have names."""

    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server, self.reader, self.writer, self.own = server, reader, writer, server.settings
        self.counts: list[int] = []  # the last count of each slot
        self.open: dict[int, ServerCall] = {}
        self.open_bytes = 0
        self.names: dict[int, str] = {}
        self.client_going = self.going = False
        self.last_ping, self.early_pings = 0.0, 0
        self.background: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        goodbye: tuple = ()
        try:
            async with asyncio.timeout(HANDSHAKE) as handshake:
                preface = await self.reader.readexactly(4)
                if preface[:3] != PREFACE[:3]:
                    return self.writer.close()
                self.connection = Connection(self.reader, self.writer, self.own, is_server=True)
                if preface != PREFACE:
                    raise Broken(3, "version 1", preface[3], 0x11)
                self.connection.position = 4
                self.connection.send(HELLO, payload=self.own.encode())
                async for frame in self.connection.frames():
                    handshake.reschedule(None)
                    self.take(frame)
                self.half_closed()
                while self.open:
                    await asyncio.sleep(0.01)
        except Broken as error:
            goodbye = error.code, str(error)
        except TimeoutError:
            goodbye = 0x13, f"no HELLO within {HANDSHAKE} s"
        except (asyncio.IncompleteReadError, OSError):
            return self.writer.close()
        finally:
            for call in list(self.open.values()):
                self.forget(call)
                call.task and call.task.cancel()
        if hasattr(self, "connection"):
            self.connection.leave(*goodbye)
            await self.connection.read_rest()
        self.writer.close()

    def spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self.background.add(task)
        task.add_done_callback(self.background.discard)
        return task

    def half_closed(self) -> None:
        """The client sends no more: what needs more of it ends, all else is answered."""
        self.client_going = self.connection.ended = True
        for call in list(self.open.values()):
            if call.topic is not None or call.sending:
                self.stop(call, 0x33)
        self.connection.go.set()

    async def drain(self) -> None:
        """GOAWAY; ends subscriptions; waits for what is open, and a moment for what crosses it; closes."""
        self.going = True
        self.connection.send(GOAWAY, value=int(DRAIN * 1000), payload=b"the server stops")
        for call in list(self.open.values()):
            if call.topic is not None:
                self.answer(call, FAULT, code=0x31)
        end = time.monotonic() + DRAIN
        while self.open and time.monotonic() < end:
            await asyncio.sleep(0.01)
        end = min(end, time.monotonic() + CROSSES)
        while not self.client_going and time.monotonic() < end:
            await asyncio.sleep(0.01)
        self.connection.leave()

    def take(self, frame: Frame) -> None:
        call = self.open.get(frame.id)  # None where it has been answered: then what comes is passed over
        match frame.kind:
            case Kind.CALL | Kind.PUBLISH | Kind.SUBSCRIBE:
                self.start(frame)
            case Kind.ONEWAY:
                self.refuse_after_goaway(frame)
                if (name := self.name_of(frame)) in self.server.handlers and not self.going:
                    call = ServerCall(self.connection, frame)
                    call.finish()  # nobody hears of its items
                    self.limit(call, self.spawn(self.carry_out(call, self.server.handlers[name])))
            case Kind.CANCEL | Kind.UNSUBSCRIBE if call and call.topic is not None:
                self.answer(call, REPLY)
            case Kind.CANCEL if call:
                self.stop(call, 0x33)
            case Kind.ITEM if call:
                if not call.sending:
                    raise Broken(frame.at + 4, "ITEM of a call with OPEN, before END", "another")
                call.take(frame)
            case Kind.ITEM:
                self.connection.credit.consumed(frame)
            case Kind.END if call and call.sending:
                call.sending = False
                call.ended.set()
                call.items.put_nowait(None)
            case Kind.CREDIT if call and frame.code == 0:
                call.credit.add(frame.value, frame.at)
            case Kind.PING:
                early = time.monotonic() - self.last_ping < self.own.ping / 1000
                self.last_ping, self.early_pings = time.monotonic(), self.early_pings + 1 if early else 0
                if self.early_pings >= 3:
                    raise Broken(frame.at + 4, f"{self.own.ping} ms between two PINGs", "three sooner", 0x16)
                self.connection.send(PONG, id=frame.id, value=frame.value)
            case Kind.GOAWAY:
                if frame.code >= 0x10:
                    self.writer.close()
                self.client_going = True
                self.close_if_done()

    def refuse_after_goaway(self, frame: Frame) -> None:
        if self.client_going:
            raise Broken(frame.at + 4, "no call behind the client's GOAWAY", f"kind {frame.kind:#04x}")

    def name_of(self, frame: Frame) -> str | None:
        name, number = frame.text(NAME), frame.code
        if number > self.own.names:
            raise Broken(frame.at + 6, f"a number up to {self.own.names}", number)
        if number and name is not None and self.names.setdefault(number, name) != name:
            raise Broken(frame.at + 6, f"{self.names[number]} for number {number}", name)
        return self.names.get(number) if number else name

    def start(self, frame: Frame) -> None:
        slot, count = frame.id & 0xFFFF, frame.id >> 16
        self.refuse_after_goaway(frame)
        if slot >= self.own.calls or self.open_bytes >= self.own.bytes:
            raise Broken(frame.at + 8, f"a slot below {self.own.calls} and less than {self.own.bytes} bytes open",
                         f"slot {slot}, {self.open_bytes} bytes", 0x15)
        if slot > len(self.counts):
            raise Broken(frame.at + 8, f"a used slot or {len(self.counts)}", f"slot {slot}")
        if slot == len(self.counts):
            self.counts.append(0xFFFF)
        expected = self.counts[slot] + 1 & 0xFFFF
        if count != expected or self.counts[slot] << 16 | slot in self.open:
            raise Broken(frame.at + 8, f"a free slot and count {expected}", f"count {count} of slot {slot}")
        name = self.name_of(frame) if frame.kind == CALL else None
        topic = (frame.payload.decode() if frame.kind == SUBSCRIBE else frame.text(TOPIC)) or ""
        self.counts[slot] = count
        call = self.open[frame.id] = ServerCall(self.connection, frame)
        self.open_bytes += frame.size - HEADER.size
        if self.going:
            self.answer(call, FAULT, code=0x31, flags=UNSTARTED)
        elif name not in self.server.handlers if frame.kind == CALL else not 0 < len(topic.encode()) < 256:
            self.answer(call, FAULT, code=0x03, flags=UNSTARTED)
        elif frame.kind == PUBLISH:
            self.answer(call, REPLY, payload=struct.pack("<I", self.server.publish(topic, frame.payload)))
        elif frame.kind == SUBSCRIBE:
            call.topic = topic
            self.connection.send(ACCEPT, id=call.id)
            self.server.topics.setdefault(topic, set()).add(call)
        else:
            self.limit(call, self.spawn(self.carry_out(call, self.server.handlers[name])))

    def limit(self, call: ServerCall, task: asyncio.Task[None]) -> None:
        call.task = task
        if call.frame.value:
            call.timer = asyncio.get_running_loop().call_later(call.frame.value / 1000, self.stop, call, 0x32)

    async def carry_out(self, call: ServerCall, handler: Handler) -> None:
        try:
            output = await handler(call)
            self.answer(call, REPLY, payload=output, fields=metadata_fields(call.metadata))
        except Fault as fault:
            self.answer(call, FAULT, code=fault.code, value=fault.value, payload=fault.payload,
                        flags=UNSTARTED * fault.unstarted)
        except Exception:
            self.answer(call, FAULT, code=0x20)
        with contextlib.suppress(OSError):
            await self.writer.drain()

    def stop(self, call: ServerCall, code: int) -> None:
        self.answer(call, FAULT, code=code)
        call.task and call.task.cancel()

    def answer(self, call: ServerCall, kind: int, **what) -> None:
        """The one REPLY or FAULT of a call; nothing where there was one, and for a one-way call."""
        if self.open.get(call.id) is call:
            if kind == REPLY:
                what["value"] = min(int((time.monotonic() - call.came) * 1e6), NONE)
            self.connection.send(kind, id=call.id, **what)
            self.forget(call)
            self.close_if_done()

    def forget(self, call: ServerCall) -> None:
        del self.open[call.id]
        self.open_bytes -= call.frame.size - HEADER.size
        self.server.topics.get(call.topic, set()).discard(call)
        call.timer and call.timer.cancel()
        call.finish()
        call.discard()

    def close_if_done(self) -> None:
        if self.client_going and not self.open:
            self.connection.leave()


class Operations:
    """What this server does; each takes a call and says its output."""
    notes: list[bytes] = []

    async def echo(call: ServerCall) -> bytes:
        return call.payload

    async def reverse(call: ServerCall) -> bytes:
        return call.payload[::-1]

    async def sleep(call: ServerCall) -> bytes:
        await asyncio.sleep(int(call.payload) / 1000)
        return b""

    async def fail(call: ServerCall) -> bytes:
        raise Fault(0x10, b"details")

    async def overload(call: ServerCall) -> bytes:
        raise Fault(0x30, value=20, unstarted=True)

    async def collect(call: ServerCall) -> bytes:
        return b"".join([item.payload async for item in call])

    async def hold(call: ServerCall) -> bytes:
        """Reads nothing until the stream has ended."""
        await call.ended.wait()
        return await Operations.collect(call)

    async def count(call: ServerCall) -> bytes:
        for number in range(int(call.payload)):
            await call.send(b"%d" % number)
        return b"done"

    async def chat(call: ServerCall) -> bytes:
        async for item in call:
            await call.send(item.payload.upper())
        return b"bye"

    async def note(call: ServerCall) -> bytes:
        Operations.notes.append(call.payload)
        return b""

    async def notes_(call: ServerCall) -> bytes:
        return b"\n".join(Operations.notes)


HANDLERS: dict[str, Handler] = {
    name.strip("_").title(): work for name, work in vars(Operations).items() if asyncio.iscoroutinefunction(work)}


async def main(address: str) -> None:
    server = Server(HANDLERS)
    if address.startswith("unix:"):
        listener = await asyncio.start_unix_server(server.connected, address[5:])
    else:
        host, _, port = address.rpartition(":")
        listener = await asyncio.start_server(server.connected, host, int(port))
        address = "%s:%d" % listener.sockets[0].getsockname()[:2]  # port 0 has become a port
    print("listening", address, flush=True)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    listener.close()
    await server.stop()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
