"""What frame_client.py asks of a server that has the operations of frame_server.py."""
from __future__ import annotations

import asyncio
import os
import time
import traceback
from typing import Awaitable, Callable

from frame import CAN_INFLATE, CREDIT, MOST_CREDIT, NONE, Disconnected, Fault
from frame_client import Client, ClientCall


async def fault_of(work: Awaitable[object]) -> Fault:
    try:
        answer = await work
    except Fault as fault:
        return fault
    raise AssertionError(f"no fault, but {answer!r}")


async def calls(client: Client) -> None:
    for round in range(3):  # by name, then by number
        assert await client.call("Echo", b"hello", timeout=5, metadata=[("a.key-1", b"\0\xff"), ("a.key-1", b"")]) == b"hello"
        assert await client.call("Reverse", b"abc") == b"cba"
        assert await client.call("Echo") == b""
    big = os.urandom(200_000)  # beyond what may be sent before HELLO
    assert await client.call("Echo", big) == big


async def pipelined(client: Client) -> None:
    gate = asyncio.Semaphore(64)

    async def one(n: int) -> None:
        async with gate:
            assert await client.call("Reverse", b"%06d" % n, timeout=30) == (b"%06d" % n)[::-1]
    await asyncio.gather(*(one(n) for n in range(1000)))
    assert len(client.counts) <= 64, "slots are used again"
    await asyncio.gather(*(client.call("Sleep", b"5") for _ in range(300)))  # waits for room where need be


async def fault(client: Client) -> None:
    failed = await fault_of(client.call("Fail", b"x"))
    assert (failed.code, failed.payload) == (0x10, b"details"), failed
    busy = await fault_of(client.call("Overload"))
    assert (busy.code, busy.unstarted, busy.value) == (0x30, True, 20), busy


async def unknown(client: Client) -> None:
    for _ in range(2):  # by name, by number
        assert (await fault_of(client.call("Ghost"))).code == 0x03
    client.numbers["Nameless"] = 60
    assert (await fault_of(client.call("Nameless"))).code == 0x03
    assert await client.call("Echo", b"on") == b"on"


async def deadline(client: Client) -> None:
    began = time.monotonic()
    assert (await fault_of(client.call("Sleep", b"9000", timeout=0.1))).code == 0x32
    slow = await client.stream("Sleep", b"9000", timeout=0.1, open=False)
    slow.timer.cancel()  # now only the server's clock counts
    assert (await fault_of(slow.result())).code == 0x32
    assert 0.2 < time.monotonic() - began < 2
    assert await client.call("Sleep", b"10", timeout=5) is not None and not client.open


async def cancel(client: Client) -> None:
    slow = await client.stream("Sleep", b"9000", open=False)
    slow.cancel()
    assert (await fault_of(slow.result())).code == 0x33
    task = asyncio.create_task(client.call("Sleep", b"9000"))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await client.call("Echo", b"on") == b"on" and not client.open


async def one_way(client: Client) -> None:
    mark = os.urandom(4).hex().encode()
    client.one_way("Note", mark)
    client.one_way("Ghost", b"nobody hears of it")
    client.one_way("Note", mark + b"2", timeout=5)
    until = time.monotonic() + 3
    while not {mark, mark + b"2"} <= set((await client.call("Notes")).split(b"\n")):
        assert time.monotonic() < until, "the notes did not arrive"
        await asyncio.sleep(0.02)


async def streams(client: Client) -> None:
    for parts in ([], [b"a", b"", b"c"], [b"%04d" % n * 250 for n in range(600)]):  # the last beyond any window here
        collect = await client.stream("Collect", timeout=60)
        for part in parts:
            assert await collect.send(part)
        collect.end()
        assert await collect.result() == b"".join(parts)
    for n in (0, 5, 20000):
        count = await client.stream("Count", b"%d" % n, open=False)
        assert [item.payload async for item in count] == [b"%d" % i for i in range(n)]
        assert await count.result() == b"done"
    chat = await client.stream("Chat")
    for word in (b"one", b"two", b"three"):
        await chat.send(word)
        assert (await anext(chat)).payload == word.upper()
    chat.end()
    await chat.result()
    slow = await client.stream("Count", b"1000000", open=False)  # nobody reads: it stops at the window
    await asyncio.sleep(0.1)
    slow.cancel()
    assert (await fault_of(slow.result())).code == 0x33
    assert await client.call("Count", b"20000") == b"done"  # items that nobody asked for


async def topics(client: Client) -> None:
    name = "news." + os.urandom(4).hex()
    assert await client.publish(name, b"nobody") == 0
    first, second = await client.subscribe(name), await client.subscribe(name)
    for message in (b"1", b"", b"3"):
        assert await client.publish(name, message, timeout=5) == 2
        for reader in (first, second):
            item = await anext(reader)
            assert (item.payload, item.value) == (message, 0)
    first.unsubscribe()
    await first.result()
    assert await client.publish(name, b"x" * 40000) == 1
    assert len((await anext(second)).payload) == 40000
    second.cancel()
    try:
        await second.result()
    except Fault as ended:
        assert ended.code == 0x33
    assert await client.publish(name, b"nobody") == 0 and not client.open


async def unread_here(client: Client) -> tuple[list[ClientCall], ClientCall]:
    """Streams that we do not read, and that have all credit of the connection; and one that waits for some."""
    own = client.connection.own
    unread = [await client.stream("Count", b"4000", open=False) for _ in range(own.items // own.window)]
    while client.connection.credit.room > 0:
        client.changed.clear()
        await client.changed.wait()
    late = await client.stream("Count", b"5", open=False)
    for _ in range(2):  # calls are not held up; behind their answers there is nothing that could have come
        assert await client.call("Echo", b"on") == b"on"
    assert late.items.empty()
    return unread, late


async def credit(client: Client) -> None:
    async def goes_on(late: ClientCall) -> None:
        assert [item.payload async for item in late] == [b"%d" % i for i in range(5)]

    some, late = await unread_here(client)
    assert len([item async for item in some[0]]) == 4000  # one that is read makes room
    await goes_on(late)
    more, late = await unread_here(client)
    for call in some[1:] + more:
        call.cancel()
    await goes_on(late)
    unread = [await client.stream("Count", b"4000", open=False) for _ in range(len(some) + 1)]
    for call in unread:
        call.discard()
    while any(call.credit.room > 0 for call in unread):
        client.changed.clear()
        await client.changed.wait()
    for call in unread:
        call.cancel()
    for call in some[1:] + more + unread:
        assert (await fault_of(call.result())).code == 0x33


async def unread_there(client: Client) -> list[ClientCall]:
    """Streams that the server does not read, and that have all credit of the connection."""
    await client.greeted.wait()
    peer = client.connection.peer
    unread = [await client.stream("Hold") for _ in range(peer.items // peer.window + 1)]
    for call in unread:
        while call.may_send:
            await call.send(b"x" * 30000)
    assert client.connection.credit.left <= 0
    return unread


async def credit_there(client: Client) -> None:
    async def goes_on(sending: Awaitable[bool]) -> None:
        assert await sending
        late.end()
        assert await late.result() == b"late"

    for release, outcome in ((ClientCall.cancel, Fault), (ClientCall.end, bytes)):
        unread = await unread_there(client)
        late = await client.stream("Collect")
        sending = asyncio.create_task(late.send(b"late"))
        assert await client.call("Echo", b"on") == b"on" and not sending.done()
        for call in unread:
            release(call)
        await goes_on(sending)
        results = await asyncio.gather(*(call.result() for call in unread), return_exceptions=True)
        assert all(isinstance(result, outcome) for result in results), results
    peer = client.connection.peer
    for _ in range(peer.items // peer.window + 1):
        cancelled = await client.stream("Hold")
        cancelled.cancel()
        while cancelled.may_send:  # all that comes is for a call that has been answered
            cancelled.put(b"x" * 30000)
        assert (await fault_of(cancelled.result())).code == 0x33
    late = await client.stream("Collect")
    await goes_on(late.send(b"late"))
    assert not client.open


async def sent_away(work: Awaitable[object], code: int) -> None:
    try:
        await work
    except Disconnected as end:
        assert f"sent away, {code:#04x}" in str(end), end
    else:
        raise AssertionError("not sent away")


async def items_beyond(client: Client) -> None:
    await unread_there(client)
    late = await client.stream("Collect")
    late.put(b"without credit of the connection")
    await sent_away(late.result(), 0x15)


async def credit_beyond(client: Client) -> None:
    client.connection.send(CREDIT, code=3, id=NONE, value=MOST_CREDIT)
    await sent_away(client.ping(), 0x10)


async def ping(client: Client) -> None:
    slow = asyncio.create_task(client.call("Sleep", b"300"))
    assert await client.ping() < 0.25
    await slow
    await client.greeted.wait()
    if client.connection.peer.ping <= 500:
        await asyncio.sleep(client.connection.peer.ping / 1000)
        await client.ping()


async def everything(client: Client) -> None:
    await client.greeted.wait()
    for scenario in (calls, pipelined, fault, streams, topics, one_way):
        await scenario(client)


async def deflate(client: Client) -> None:
    await everything(client)
    assert await client.call("Echo", b"ab" * 100_000) == b"ab" * 100_000
    offered = bool(client.connection.peer.features & CAN_INFLATE)
    assert not offered or client.connection.deflated_frames
    print("deflate offered" if offered else "no deflate offered", f"- {client.connection.deflated_frames} came")


async def goaway(client: Client) -> None:
    slow = asyncio.create_task(client.call("Sleep", b"200"))
    await asyncio.sleep(0.05)
    await asyncio.wait_for(client.go_away(), 5)  # returns when the server has closed
    assert slow.done() and await slow is not None
    try:
        await client.call("Echo")
    except Disconnected as refused:
        assert not refused.sent
    else:
        raise AssertionError("a call after GOAWAY")


async def half_close(client: Client) -> None:
    slow = asyncio.create_task(client.call("Sleep", b"200"))
    items = await client.stream("Count", b"100", open=False)
    unended = await client.stream("Collect", timeout=60)
    topic = await client.subscribe("news")
    await asyncio.sleep(0.05)
    client.connection.writer.write_eof()
    for ended in (unended, topic):
        assert (await fault_of(ended.result())).code == 0x33
    assert [item.payload async for item in items] == [b"%d" % i for i in range(100)]
    assert await items.result() == b"done" and await slow is not None
    await asyncio.wait_for(asyncio.shield(client.task), 5)  # the server closes then


FEATURES = {deflate: CAN_INFLATE}
ALL: dict[str, Callable[[Client], Awaitable[None]]] = {work.__name__.replace("_", "-"): work for work in (
    calls, pipelined, fault, unknown, deadline, cancel, one_way, streams, credit, credit_there,
    items_beyond, credit_beyond, topics, ping, deflate, goaway, half_close)}


async def run(address: str, name: str, one_byte: bool) -> None:
    client = await Client.connect(address, [("user-agent", b"frame.py")], FEATURES.get(ALL[name], 0), one_byte)
    async with asyncio.timeout(60):
        await ALL[name](client)
    await client.close()
    print("ok", name)


def main(arguments: list[str]) -> None:
    try:
        asyncio.run(run(arguments[0], arguments[1], "one-byte" in arguments[2:]))
    except Exception:
        traceback.print_exc()
        raise SystemExit(1)
