//! Servers in processes of their own, whose memory is measured.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};

use polywire_gate::{Figure, Figures, Span};

use super::layout::Layout;
use super::peers::{Caller, Calls, Frames, Tarpc, Tonic};
use super::transport::{Tcp, Wire};
use super::trial;

/// Starts this program as a server. The name of the system follows.
const ARGUMENT: &str = "--rpc-server";

/// Serves if this process was started as a server.
pub(crate) fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != ARGUMENT {
        return None;
    }
    let served = match arguments.next().as_deref() {
        Some(Frames::NAME) => serve::<Frames>(),
        Some(Tarpc::NAME) => serve::<Tarpc<false>>(),
        Some(Tonic::NAME) => serve::<Tonic>(),
        _ => Err("no such server".to_owned()),
    };
    match served {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            // The parent notices the end of this process anyway.
            let _ = writeln!(io::stderr(), "{error}");
            Some(ExitCode::FAILURE)
        }
    }
}

/// A system that can run as a process.
pub(super) trait Named: Caller<Tcp> {
    const NAME: &'static str;

    /// Whether [`lean`] is a server of this system.
    const LEAN: bool = false;
}

impl Named for Frames {
    const NAME: &'static str = "frames";
    const LEAN: bool = true;
}

impl Named for Tarpc<false> {
    const NAME: &'static str = "tarpc";
}

impl Named for Tonic {
    const NAME: &'static str = "tonic";
}

/// The program `rpc_server`, our server alone, if it was built. This program contains all systems,
/// and the pages of a program count as memory of its process.
pub(super) fn lean() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name("rpc_server");
    path.exists().then_some(path)
}

/// Writes its URL to standard output, and serves until its standard input ends.
fn serve<N: Named>() -> Result<(), String> {
    let (socket, url) = Tcp::bind().map_err(trial::words)?;
    writeln!(io::stdout(), "{url}").map_err(trial::words)?;
    std::thread::spawn(|| {
        // The parent holds the other end.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let runtime = trial::runtime()?;
    runtime.block_on(async { N::serve(Tcp::listener(socket).map_err(trial::words)?).await })
}

/// A server in another process, which is killed on drop.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start<N: Named>() -> Result<Self, String> {
        let this = std::env::current_exe().map_err(trial::words)?;
        let lean = N::LEAN.then(lean).flatten();
        let mut child = Command::new(lean.as_ref().unwrap_or(&this))
            .args([ARGUMENT, N::NAME])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(trial::words)?;
        let mut url = String::new();
        let output = child.stdout.take().ok_or("the server has no output")?;
        let mut server = Self {
            child,
            url: String::new(),
        };
        BufReader::new(output)
            .read_line(&mut url)
            .map_err(trial::words)?;
        url.truncate(url.trim_end().len());
        if url.is_empty() {
            return Err("the server did not start".to_owned());
        }
        server.url = url;
        Ok(server)
    }

    /// A line of the process's `/proc/PID/status`, in bytes.
    fn memory(&self, line: &str) -> Result<f64, String> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let kibibytes = status
            .lines()
            .find_map(|own| own.strip_prefix(line)?.strip_prefix(':'))
            .and_then(|own| own.trim().trim_end_matches(" kB").parse::<u64>().ok());
        let kibibytes = kibibytes.ok_or_else(|| format!("{path} has no {line}"))?;
        Ok((kibibytes << 10) as f64)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The peak memory of a server under this load.
pub(super) fn under_load<N: Named>(
    layout: Layout,
) -> impl FnMut(Span) -> Result<Figures, String> + 'static {
    move |span| {
        let server = Server::start::<N>()?;
        let figures = trial::clients::<Tcp, Calls<N>>(&server.url, layout, span);
        Ok(figures?.with(Figure::Memory, server.memory("VmHWM")?))
    }
}

/// The memory of an idle connection. Each has made one call.
pub(super) fn idle<N: Named>(
    connections: u32,
) -> impl FnMut(Span) -> Result<Figures, String> + 'static {
    move |_| {
        more_files(u64::from(connections))?;
        let server = Server::start::<N>()?;
        trial::runtime()?.block_on(async {
            let first = connect::<N>(&server.url).await?;
            let before = server.memory("VmRSS")?;
            let mut clients = Vec::new();
            for _ in 0..connections {
                clients.push(connect::<N>(&server.url).await?);
            }
            let after = server.memory("VmRSS")?;
            let mut answered = 0;
            for client in clients.iter().chain([&first]) {
                answered += u32::from(N::add(client, 1, 2).await == Ok(3));
            }
            let all = f64::from(connections + 1);
            Ok(Figures::default()
                .with(
                    Figure::IdleConnection,
                    (after - before) / f64::from(connections),
                )
                .with(Figure::Memory, after)
                .with(Figure::Answered, f64::from(answered) / all)
                .with(Figure::Failed, all - f64::from(answered)))
        })
    }
}

async fn connect<N: Named>(url: &str) -> Result<N::Client, String> {
    let client = N::connect(url).await?;
    match N::add(&client, 1, 2).await? {
        3 => Ok(client),
        other => Err(format!("a wrong answer: 1 + 2 = {other}")),
    }
}

/// Raises the limit of open files for this process and its children to that of the connections.
fn more_files(connections: u64) -> Result<(), String> {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let wanted = connections + 500;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    limit.current = Some(wanted);
    setrlimit(Resource::Nofile, limit)
        .map_err(|error| format!("{wanted} files may not be open at once: {error}"))
}
