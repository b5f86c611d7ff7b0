//! The arguments, the subjects and the cases.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use polywire_aws::signature::Credentials;

use super::bare;
use super::client::{Action, Connection, load};
use super::memory;
use super::report::{Row, print};
use super::server::Server;
use super::signing::{Form, Payloads};

/// Measures the throughput of the store beside a bare hyper server.
#[derive(Debug, Parser)]
struct Arguments {
    /// The sizes of objects in KiB.
    #[arg(long, value_delimiter = ',', default_values_t = [4, 1024, 102_400])]
    sizes: Vec<usize>,
    /// The numbers of connections.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8])]
    connections: Vec<usize>,
    /// The rounds of each subject.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// The milliseconds of a round. It has at least one request on each connection.
    #[arg(long, default_value_t = 1000)]
    time: u64,
    /// Only `put` or `get`.
    #[arg(long)]
    only: Option<String>,
    /// Only the subjects whose names contain this, and the bare server.
    #[arg(long)]
    subject: Option<String>,
    /// Measure the memory of the store instead: one upload and download of 2 GB, and ten of 200 MB.
    #[arg(long)]
    memory: bool,
    /// Another server of S3 that runs on this machine: `ADDRESS:PORT ACCESS_KEY_ID SECRET_ACCESS_KEY PID`.
    #[arg(long, value_name = "SERVER")]
    other: Option<String>,
    /// Where the directories of the servers are created. Default: that of temporary files.
    #[arg(long)]
    directory: Option<PathBuf>,
    /// Serve a directory by the bare server. For this program itself.
    #[arg(long, hide = true)]
    serve: Option<PathBuf>,
    /// Passed by `cargo bench`. Without it each case is only tried.
    #[arg(long, hide = true)]
    bench: bool,
}

pub(crate) fn run() {
    let mut arguments = Arguments::parse();
    if let Some(directory) = &arguments.serve {
        return bare::serve(directory);
    }
    if !arguments.bench {
        // A test: do the servers and the client do what they should?
        arguments.sizes = vec![1, 300];
        arguments.rounds = 1;
        arguments.time = 1;
    }
    // The client on one thread, so that the servers have the other processors.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(measure(&arguments));
}

struct Subject<'s> {
    name: String,
    server: &'s Server,
    form: Form,
}

async fn measure(arguments: &Arguments) {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("throughput");
    let directory = match &arguments.directory {
        Some(directory) => builder.tempdir_in(directory).unwrap(),
        None => builder.tempdir().unwrap(),
    };
    if arguments.memory {
        return memory::run(directory.path()).await;
    }
    let bare = directory.path().join("bare");
    std::fs::create_dir(&bare).unwrap();
    let bare = Server::bare(&bare);
    let store = Server::store(&directory.path().join("store"), None);
    let keys = Credentials::new("AKIDEXAMPLE", "secret-of-a-benchmark");
    let signed = Server::store(&directory.path().join("signed"), Some(keys));
    let other = arguments.other.as_deref().map(Server::other);
    for (server, form) in [(&store, Form::Plain), (&signed, Form::Head)] {
        Connection::new(server).await.create(form).await;
    }
    if let Some(other) = &other {
        Connection::new(other).await.create(Form::Head).await;
    }
    let subject = |name: &str, server, form| Subject {
        name: name.to_owned(),
        server,
        form,
    };
    let mut subjects = vec![
        subject("bare", &bare, Form::Plain),
        subject("bare, MD5", &bare, Form::Md5),
        subject("store", &store, Form::Plain),
    ];
    for (name, server) in [("store", Some(&signed)), ("other", other.as_ref())] {
        let Some(server) = server else { continue };
        for (form, what) in [
            (Form::Head, "signed head"),
            (Form::Body, "signed body"),
            (Form::Trailer, "CRC32 trailer"),
        ] {
            subjects.push(subject(&format!("{name}, {what}"), server, form));
        }
    }
    if let Some(part) = &arguments.subject {
        subjects.retain(|own| own.name.starts_with("bare") || own.name.contains(part));
    }
    println!(
        "{} rounds of {} ms; load average {}",
        arguments.rounds,
        arguments.time,
        std::fs::read_to_string("/proc/loadavg")
            .unwrap_or_default()
            .trim()
    );
    for size in &arguments.sizes {
        let payloads = Payloads::new(size * 1024);
        for action in [Action::Put, Action::Get] {
            let is_wanted = |name: &String| format!("{action:?}").eq_ignore_ascii_case(name);
            if !arguments.only.as_ref().is_none_or(is_wanted) {
                continue;
            }
            for connections in &arguments.connections {
                case(
                    arguments,
                    &subjects,
                    (action, *connections),
                    (*size, &payloads),
                )
                .await;
            }
        }
    }
}

async fn case(
    arguments: &Arguments,
    subjects: &[Subject<'_>],
    (action, connections): (Action, usize),
    (size, payloads): (usize, &Payloads),
) {
    // The forms of bodies make no difference to downloads.
    let is_measured = |own: &&Subject<'_>| match action {
        Action::Put => true,
        Action::Get => matches!(own.form, Form::Plain | Form::Head),
    };
    let subjects: Vec<_> = subjects.iter().filter(is_measured).collect();
    let mut rows: Vec<Row> = subjects
        .iter()
        .map(|own| Row {
            name: own.name.clone(),
            rounds: Vec::new(),
        })
        .collect();
    let time = Duration::from_millis(arguments.time);
    for _ in 0..arguments.rounds {
        for (own, row) in subjects.iter().zip(&mut rows) {
            let work = (action, own.form);
            let round = load(own.server, work, payloads, connections, time).await;
            row.rounds.push(round);
        }
    }
    let peers: &[usize] = match action {
        Action::Put => &[0, 1],
        Action::Get => &[0],
    };
    let action = format!("{action:?}").to_uppercase();
    let title = format!("{action} {size} KiB, connections: {connections}");
    print(&title, &rows, peers, payloads.plain.len());
}
