//! supervisord in its usual setup: behind a Unix socket and a password, with control characters in
//! logs that XML forbids, and with results of `system.multicall` without the arrays around them.

use std::path::Path;
use std::process::Command;

use polywire::rpc::xmlrpc::Leniency;
use polywire::rpc::xmlrpc::blocking::Client;
use polywire::schema::Value;
use polywire_interop::{Background, Case, Finished, Folder, Python, run, run_with_input};
use serde::Deserialize;

/// A supervisord that runs in its own folder.
struct Supervisord {
    // The process ends before its folder is removed.
    _process: Background,
    folder: Folder,
    port: u16,
}

const CONFIGURATION: &str = "\
[unix_http_server]
file=FOLDER/supervisor.sock
username=user
password=secret
[inet_http_server]
port=127.0.0.1:PORT
username=user
password=secret
[supervisord]
logfile=FOLDER/log
pidfile=FOLDER/pid
childlogdir=FOLDER
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
[program:web]
command=/bin/sh -c \"printf '\\033[31mred\\033[0m'; exec sleep 1000\"
[program:idle]
command=/bin/sleep 1000
autostart=false
";

impl Supervisord {
    fn start(python: &Python) -> Self {
        let folder = Folder::new();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let configuration = CONFIGURATION
            .replace("FOLDER", folder.0.to_str().unwrap())
            .replace("PORT", &port.to_string());
        let file = folder.file("supervisord.conf");
        std::fs::write(&file, configuration).unwrap();
        let mut command = Command::new(python.program());
        command
            .args(["-m", "supervisor.supervisord", "--nodaemon"])
            .arg("--configuration")
            .arg(&file);
        // supervisord creates the socket when it is ready. Its program has written when its log is
        // not empty.
        let socket = folder.file("supervisor.sock");
        let ready = || socket.exists() && has_written(&folder);
        let process = Background::start_until(&mut command, ready);
        Self {
            _process: process,
            folder,
            port,
        }
    }

    fn url(&self) -> String {
        format!(
            "http+unix://{}",
            self.folder.file("supervisor.sock").display()
        )
    }

    fn call(&self, arguments: &[&str]) -> Finished {
        let url = self.url();
        run(&[&["xmlrpc", &url, "--user", "user:secret"], arguments].concat())
    }
}

fn has_written(folder: &Folder) -> bool {
    let log = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("web-stdout") && std::fs::metadata(path).is_ok_and(|it| it.len() > 0)
    };
    let entries = std::fs::read_dir(&folder.0).unwrap();
    entries.flatten().any(|entry| log(&entry.path()))
}

/// Stops and starts a process and reads its log, with our client at a URL.
fn manage(url: &str) {
    let leniency = Leniency::STRICT
        .with_control_characters(true)
        .with_bare_multicall(true);
    let builder = Client::builder(url).unwrap().basic("user", "secret");
    let client = builder.leniency(leniency).build().unwrap();
    let state = || {
        let info: Info = client.call("supervisor.getProcessInfo", ("web",)).unwrap();
        assert_eq!(info.name, "web");
        (info.statename, info.pid)
    };
    let (running, pid) = state();
    assert!(matches!(&*running, "RUNNING" | "STARTING"), "{running}");
    // Both calls wait until the process has changed its state.
    assert!(
        client
            .call::<bool>("supervisor.stopProcess", ("web", true))
            .unwrap()
    );
    assert_eq!(state(), ("STOPPED".to_owned(), 0));
    match client.call::<bool>("supervisor.stopProcess", ("web", true)) {
        Err(error) => assert_eq!(error.xmlrpc_fault().unwrap().code(), 70, "{error:?}"),
        other => panic!("{other:?}"),
    }
    assert!(
        client
            .call::<bool>("supervisor.startProcess", ("web", true))
            .unwrap()
    );
    let (running, other) = state();
    assert_eq!(running, "RUNNING");
    assert_ne!(pid, other);
    let log: String = client
        .call("supervisor.readProcessStdoutLog", ("web", 0, 12))
        .unwrap();
    assert_eq!(log, "\u{1b}[31mred\u{1b}[0m");
    let mut batch = client.batch();
    let log = batch.add::<String>("supervisor.readProcessStdoutLog", ("web", 0, 3));
    let nobody = batch.add::<Info>("supervisor.getProcessInfo", ("nobody",));
    let all = batch.add::<Vec<Info>>("supervisor.getAllProcessInfo", ());
    let replies = batch.send().unwrap();
    assert_eq!(replies.get(log.unwrap()).unwrap(), "\u{1b}[3");
    // The list has two entries, because a list of one looks like a result in an array.
    assert_eq!(replies.get(all.unwrap()).unwrap().len(), 2);
    match replies.get(nobody.unwrap()) {
        Err(error) => assert_eq!(error.xmlrpc_fault().unwrap().code(), 10),
        other => panic!("{other:?}"),
    }
    let stranger = Client::builder(url).unwrap().basic("user", "wrong");
    let error = stranger
        .build()
        .unwrap()
        .call::<Value>("supervisor.getState", ());
    match error {
        Err(error) => assert!(error.to_string().contains("401"), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[derive(Debug, Deserialize)]
struct Info {
    name: String,
    statename: String,
    pid: i32,
}

#[test]
fn supervisord_is_managed_over_tcp() {
    let case = Case::begin("supervisord_is_managed_over_tcp");
    let Some(python) = case.python(&["supervisor.supervisord"]) else {
        return;
    };
    let server = Supervisord::start(&python);
    manage(&format!("http://127.0.0.1:{}/RPC2", server.port));
}

#[test]
fn supervisord_is_managed_over_its_unix_socket() {
    let case = Case::begin("supervisord_is_managed_over_its_unix_socket");
    let Some(python) = case.python(&["supervisor.supervisord"]) else {
        return;
    };
    let server = Supervisord::start(&python);
    manage(&server.url());
}

#[test]
fn supervisord_answers_polywire_xmlrpc() {
    let case = Case::begin("supervisord_answers_polywire_xmlrpc");
    let Some(python) = case.python(&["supervisor.supervisord"]) else {
        return;
    };
    let server = Supervisord::start(&python);
    let ended = server.call(&["supervisor.getState"]);
    let state = "{\"statecode\":1,\"statename\":\"RUNNING\"}\n";
    assert_eq!(
        (ended.code, &*ended.stdout),
        (Some(0), state),
        "{}",
        ended.stderr
    );

    let ended = server.call(&["supervisor.getProcessInfo", "web"]);
    assert!(
        ended
            .stdout
            .starts_with("{\"name\":\"web\",\"group\":\"web\","),
        "{}",
        ended.stdout
    );

    let ended = server.call(&["supervisor.getProcessInfo", "nothing"]);
    assert_eq!(
        (ended.code, &*ended.stderr),
        (Some(1), "fault 10: BAD_NAME: nothing\n")
    );

    let ended = server.call(&["--list"]);
    assert!(
        ended.stdout.contains("supervisor.getState\n"),
        "{}",
        ended.stdout
    );
    let ended = server.call(&["--describe", "supervisor.getProcessInfo"]);
    let signature = "supervisor.getProcessInfo(string) -> struct\n";
    assert!(ended.stdout.starts_with(signature), "{}", ended.stdout);

    // Python's own client fails on the control characters.
    let read = ["supervisor.readProcessStdoutLog", "web", "0", "100"];
    let ended = server.call(&read);
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
    let ended = server.call(&[&["--lenient=control_characters"], &read[..]].concat());
    assert_eq!(
        ended.stdout, "\"\\u001b[31mred\\u001b[0m\"\n",
        "{}",
        ended.stderr
    );

    let calls = "[\"supervisor.getState\"]\n[\"supervisor.getProcessInfo\", \"nothing\"]\n";
    let url = server.url();
    let batch = |leniency| {
        let user = ["--user", "user:secret"];
        let arguments = [
            &["xmlrpc", &url][..],
            &user,
            leniency,
            &["--multicall", "-"],
        ];
        run_with_input(&arguments.concat(), calls)
    };
    assert_eq!(batch(&[]).code, Some(3));
    let ended = batch(&["--lenient=bare_multicall"]);
    let expected = "[{\"result\":{\"statecode\":1,\"statename\":\"RUNNING\"}},\
        {\"fault\":{\"code\":10,\"message\":\"BAD_NAME: nothing\",\"kind\":\"fault\"}}]\n";
    assert_eq!(
        (ended.code, &*ended.stdout),
        (Some(1), expected),
        "{}",
        ended.stderr
    );

    let ended = run(&[
        "xmlrpc",
        &url,
        "--user",
        "user:wrong",
        "supervisor.getState",
    ]);
    assert_eq!(ended.code, Some(3));
    assert!(
        ended.stderr.contains("were not accepted"),
        "{}",
        ended.stderr
    );
}
