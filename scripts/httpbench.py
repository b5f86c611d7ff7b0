"""The common part of `bench-http` and `bench-xmlrpc`: servers, wrk, rounds, targets.

Each server is a process pinned to some processors; wrk (package wrk) has the others.
The rounds of the servers alternate, and medians are compared.
"""

import http.client
import os
import re
import shlex
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Headers that a server writes by itself, and Content-Type, which has its own option.
NOT_COPIED = {"date", "content-length", "content-type", "connection", "transfer-encoding"}

# wrk has no machine-readable output; this script writes the line that `Wrk.load` parses.
WRK_SCRIPT = """
wrk.method = os.getenv("BENCH_METHOD")
local content_type = os.getenv("BENCH_CONTENT_TYPE")
if content_type ~= "" then wrk.headers["Content-Type"] = content_type end
local path = os.getenv("BENCH_BODY_FILE")
if path ~= "" then
  local file = assert(io.open(path, "rb"))
  wrk.body = file:read("*a")
  file:close()
end
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("result %d %d %d %f %f\\n", summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
"""


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def add_profile(add):
    """The option that chooses which build is measured."""
    add("--profile", choices=("library", "dist"), default="dist",
        help="measure the programs of this profile: dist is how they are shipped (thin LTO, one "
             "codegen unit), library has Cargo's default settings; default: %(default)s")


def program(name, profile):
    """The path of a program. The command line program is in the workspace, the others in peers."""
    folder = os.environ.get("CARGO_TARGET_DIR")
    if not folder:
        workspace = ROOT if name == "polywire" else os.path.join(ROOT, "bench", "peers")
        folder = os.path.join(workspace, "target")
    return os.path.join(folder, profile, name)


def need(command, package):
    if not shutil.which(command):
        fail(f"{command} is not installed (package {package})")


@dataclass
class Request:
    method: str
    path: str
    content_type: str
    body: bytes | None
    body_file: str


@dataclass
class Round:
    """The result of one run of wrk against one server."""

    rate: float  # requests a second
    cpu: float  # microseconds of the server a request
    p50: float  # microseconds
    p99: float


class Server:
    """A server process. `stop` ends it."""

    def __init__(self, name, command, address, processors, tls=False):
        self.name = name
        self.command = command
        self.address = address
        self.processors = processors
        self.scheme = "https" if tls else "http"
        self.start()

    def start(self):
        self.output = tempfile.TemporaryFile()
        command, address, processors = self.command, self.address, self.processors
        host, port = address.rsplit(":", 1)
        if connects(host, port):
            fail(f"{address} is in use")
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self.output,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: pin(processors),
            )
        except OSError as error:
            fail(f"cannot start {shlex.join(command)}: {error}; build it first (see --help)")
        deadline = time.monotonic() + 20
        while not connects(host, port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                fail(f"{self.name} does not answer on {address}: "
                     f"{shlex.join(command)}\n{self.last_output()}")
            time.sleep(0.01)

    def last_output(self):
        self.output.seek(0)
        return self.output.read()[-2000:].decode(errors="replace")

    def answer(self, request):
        """Status, headers and body of one request."""
        if self.scheme == "https":
            # The certificate is self-signed.
            context = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection(self.address, timeout=10, context=context)
        else:
            connection = http.client.HTTPConnection(self.address, timeout=10)
        headers = {"Content-Type": request.content_type} if request.content_type else {}
        connection.request(request.method, request.path, body=request.body, headers=headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, response.getheaders(), body

    def cpu_seconds(self):
        """User and system time of all threads so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii", errors="replace") as file:
            # The second field is the name in parentheses and may hold spaces.
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def connects(host, port):
    try:
        socket.create_connection((host, int(port)), 1).close()
        return True
    except OSError:
        return False


def pin(processors):
    if processors:
        os.sched_setaffinity(0, processors)


def processors_for(workers, pinned):
    """The processors of the servers and those of the load. Empty sets are all processors."""
    available = sorted(os.sched_getaffinity(0))
    if not pinned or workers >= len(available):
        return set(), set()
    return set(available[:workers]), set(available[workers:])


def where(servers, load):
    """The processors in words."""
    if servers:
        return f"servers on processors {sorted(servers)}, load on {sorted(load)}"
    return "servers and load share all processors"


class Wrk:
    """Runs wrk."""

    def __init__(self, folder):
        need("wrk", "wrk")
        self.script = os.path.join(folder, "wrk.lua")
        with open(self.script, "w", encoding="ascii") as file:
            file.write(WRK_SCRIPT)

    def load(self, server, request, connections, seconds, processors):
        """One run against one server."""
        threads = min(connections, len(processors) or os.cpu_count() or 1)
        command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s"]
        command += ["-s", self.script, f"{server.scheme}://{server.address}{request.path}"]
        environment = os.environ | {
            "BENCH_METHOD": request.method,
            "BENCH_CONTENT_TYPE": request.content_type,
            "BENCH_BODY_FILE": request.body_file,
        }
        before = server.cpu_seconds()
        finished = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            preexec_fn=lambda: pin(processors),
            check=False,
        )
        used = server.cpu_seconds() - before
        lines = [line for line in finished.stdout.splitlines() if line.startswith("result ")]
        if finished.returncode != 0 or len(lines) != 1:
            fail(f"wrk against {server.name} failed:\n{finished.stdout}{finished.stderr}")
        requests, microseconds, errors, p50, p99 = map(float, lines[0].split()[1:])
        if errors or not requests:
            fail(f"{server.name}: {requests:.0f} requests, {errors:.0f} of them errors:\n"
                 f"{finished.stdout}")
        return Round(requests / microseconds * 1e6, used / requests * 1e6, p50, p99)


class Targets:
    """Judges and counts targets, as the tables of polywire-gate do."""

    def __init__(self):
        self.met = 0
        self.missed = []

    def judge(self, words, actual, reached):
        if reached:
            self.met += 1
        else:
            self.missed.append(words)
        print(f"    {'met    ' if reached else 'MISSED '} {words}: {actual:.2f}", flush=True)

    def at_least(self, words, actual, least):
        self.judge(f"{words} >= {least}", actual, actual >= least)

    def at_most(self, words, actual, most):
        self.judge(f"{words} <= {most}", actual, actual <= most)

    def end(self):
        print(f"\ntargets: {self.met} met, {len(self.missed)} missed")


def shape(data):
    """The bytes with each digit as 0: the time may differ between two answers."""
    return re.sub(rb"[0-9]", b"0", data)


def same_answer(ours, bare, request):
    """Fails if the answers of both servers differ in more than the time."""
    ours_status, ours_headers, ours_body = ours.answer(request)
    bare_status, bare_headers, bare_body = bare.answer(request)
    if shape(ours_body) != shape(bare_body):
        fail(f"the bodies differ: {ours_body[:200]!r} and {bare_body[:200]!r}")
    if ours_status != bare_status:
        fail(f"the statuses differ: {ours_status} and {bare_status}")

    def comparable(headers):
        return sorted(
            (name.lower(), shape(value.encode()))
            for name, value in headers
            if name.lower() != "date"
        )

    if comparable(ours_headers) != comparable(bare_headers):
        fail(f"the headers differ: {comparable(ours_headers)} and {comparable(bare_headers)}")
    # The bare server's answer is fixed.
    if shape(ours.answer(request)[2]) != shape(ours_body):
        fail("our body differs from call to call; choose an operation with a fixed answer")


def answer_options(ours, request, body_file):
    """The bare server's options for the same answer as ours."""
    status, headers, answer = ours.answer(request)
    if status != 200:
        fail(f"our server answers {status} to {request.method} {request.path}: {answer[:200]!r}")
    with open(body_file, "wb") as file:
        file.write(answer)
    options = ["--body", body_file]
    for name, value in headers:
        if name.lower() == "content-type":
            options += ["--content-type", value]
        elif name.lower() not in NOT_COPIED:
            options += ["--header", f"{name}: {value}"]
    return options, answer


def interleaved(subjects, rounds, load):
    """Runs the rounds of several servers alternately.

    `subjects` are pairs of a server and a request; `load` runs one round of a pair.
    """
    found = [[] for _ in subjects]
    for number in range(rounds):
        # Each subject is first equally often, so that a drift of the machine cancels out.
        turn = number % len(subjects)
        order = list(range(len(subjects)))
        for index in order[turn:] + order[:turn]:
            server, request = subjects[index]
            # A new process for each round: its memory layout affects the figures for as long as
            # it runs.
            server.stop()
            server.start()
            found[index].append(load(server, request))
    return found


def medians(rounds):
    """The median of each figure."""
    figures = ("rate", "cpu", "p50", "p99")
    return Round(*(statistics.median(getattr(one, name) for one in rounds) for name in figures))


def print_head():
    print(f"    {'':<16}{'requests/s':>12}{'CPU us':>10}{'p50 us':>10}{'p99 us':>10}")


def print_row(name, found):
    print(f"    {name:<16}{found.rate:>12,.0f}{found.cpu:>10.2f}{found.p50:>10,.0f}"
          f"{found.p99:>10,.0f}", flush=True)


def print_ratios(name, ratios):
    print(f"    {name:<16}{ratios.rate:>12.3f}{ratios.cpu:>10.3f}{ratios.p50:>10.3f}"
          f"{ratios.p99:>10.3f}", flush=True)


def ratios_of(ours, bare):
    """Each of our figures by that of the bare server."""
    return Round(ours.rate / bare.rate, ours.cpu / bare.cpu, ours.p50 / bare.p50,
                 ours.p99 / bare.p99)


def numbers(text):
    parsed = [int(part) for part in text.split(",")]
    if min(parsed) < 1:
        raise ValueError
    return parsed
