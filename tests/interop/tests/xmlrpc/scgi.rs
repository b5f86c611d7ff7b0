//! SCGI: our client with a third-party server, and our server with a third-party client and behind
//! nginx.

use std::process::Command;

use polywire::rpc::xmlrpc::blocking::Client;
use polywire_interop::{Background, Case, Folder, Sample, run};

/// A short SCGI server in Python with the dispatcher of its library, on a port or on a Unix socket.
const SERVER: &str = r#"
import os, socketserver, sys, threading
from xmlrpc.server import SimpleXMLRPCDispatcher
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
dispatcher = SimpleXMLRPCDispatcher(allow_none=True, encoding='utf-8')
dispatcher.register_introspection_functions()
dispatcher.register_multicall_functions()
dispatcher.register_function(lambda a, b: a + b, 'add')
dispatcher.register_function(lambda value: value, 'echo')
seen = {}
dispatcher.register_function(lambda: seen, 'headers')

class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        length = b''
        while not length.endswith(b':'):
            length += self.rfile.read(1)
        head = self.rfile.read(int(length[:-1]))
        assert self.rfile.read(1) == b','
        parts = head.split(b'\0')[:-1]
        names = [part.decode() for part in parts[::2]]
        assert names[0] == 'CONTENT_LENGTH' and len(set(names)) == len(names)
        headers = dict(zip(names, [part.decode() for part in parts[1::2]]))
        assert headers['SCGI'] == '1'
        seen.clear()
        seen.update(headers)
        body = self.rfile.read(int(headers['CONTENT_LENGTH']))
        answer = dispatcher._marshaled_dispatch(body)
        self.wfile.write(b'Status: 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n' % len(answer))
        self.wfile.write(answer)

if len(sys.argv) > 1:
    server = socketserver.ThreadingUnixStreamServer(sys.argv[1], Handler)
    print('scgi+unix://' + sys.argv[1], flush=True)
else:
    server = socketserver.ThreadingTCPServer(('127.0.0.1', 0), Handler)
    print('scgi://127.0.0.1:%d/RPC2' % server.server_address[1], flush=True)
server.serve_forever()
"#;

/// A short client in Python: `call` sends one XML-RPC call to an address.
const CALLER: &str = "
def scgi(address, body, **more):
    headers = {'CONTENT_LENGTH': str(len(body)), 'SCGI': '1', 'REQUEST_METHOD': 'POST',
               'REQUEST_URI': '/RPC2', 'CONTENT_TYPE': 'text/xml', **more}
    head = ''.join(name + '\\0' + value + '\\0' for name, value in headers.items()).encode()
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family) as connection:
        connection.connect(address)
        connection.sendall(b'%d:%s,' % (len(head), head) + body)
        answer = b''
        while True:
            part = connection.recv(65536)
            if not part:
                return answer.partition(b'\\r\\n\\r\\n')[::2]
            answer += part

def call(address, method, *parameters):
    body = xmlrpc.client.dumps(parameters, method).encode()
    head, answer = scgi(address, body)
    assert head.startswith(b'Status: 200'), head
    try:
        return xmlrpc.client.loads(answer)[0][0]
    except xmlrpc.client.Fault as fault:
        return [fault.faultCode, fault.faultString]
";

const CALLS: &str = "
show([call(address, 'sample.add', 2, 3), call(address, 'sample.divide', 1, 0),
      call(address, 'echo', 'ö' * 100000) == 'ö' * 100000,
      scgi(address, b'hello', REQUEST_METHOD='GET')[0].split(b'\\r')[0].decode()])
";

const ANSWERS: &str = "[5, [7, \"division by zero\"], true, \"Status: 405 Method Not Allowed\"]\n";

fn calls_a_server(case: &Case, arguments: &[&str]) {
    let Some(python) = case.python(&["xmlrpc.server"]) else {
        return;
    };
    let mut command = Command::new(python.program());
    let server = Background::start(command.args(["-c", SERVER]).args(arguments));
    let client = Client::new(&server.first_line).unwrap();
    assert_eq!(client.call::<i32>("add", (2, 3)).unwrap(), 5);
    let long = "ö <&>".repeat(50_000);
    assert_eq!(client.call::<String>("echo", (&long,)).unwrap(), long);
    let headers: std::collections::BTreeMap<String, String> = client.call("headers", ()).unwrap();
    assert_eq!(headers["REQUEST_METHOD"], "POST", "{headers:?}");
    assert_eq!(headers["CONTENT_TYPE"], "text/xml", "{headers:?}");
    let mut batch = client.batch();
    let sum = batch.add::<i32>("add", (1, 1)).unwrap();
    let wrong = batch.add::<i32>("nowhere", ()).unwrap();
    let replies = batch.send().unwrap();
    assert_eq!(replies.get(sum).unwrap(), 2);
    assert!(replies.get(wrong).is_err());
    let ended = run(&["xmlrpc", &server.first_line, "--list"]);
    assert!(
        ended.stdout.contains("add\n"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn scgi_server_of_python_over_tcp() {
    calls_a_server(&Case::begin("scgi_server_of_python_over_tcp"), &[]);
}

#[test]
#[cfg(unix)]
fn scgi_server_of_python_over_a_unix_socket() {
    let folder = Folder::new();
    let socket = folder.file("rpc.sock");
    let case = Case::begin("scgi_server_of_python_over_a_unix_socket");
    calls_a_server(&case, &[socket.to_str().unwrap()]);
}

#[test]
fn scgi_client_of_python_over_tcp() {
    let case = Case::begin("scgi_client_of_python_over_tcp");
    let Some(python) = case.python(&["xmlrpc.client"]) else {
        return;
    };
    let server = Sample::over_scgi();
    let address = "host, _, port = url[7:].partition('/')[0].partition(':')
address = (host, int(port))";
    let script = format!("{CALLER}\n{address}\n{CALLS}");
    assert_eq!(python.print(&server.url, &script), ANSWERS);
}

#[test]
#[cfg(unix)]
fn scgi_client_of_python_over_a_unix_socket() {
    let case = Case::begin("scgi_client_of_python_over_a_unix_socket");
    let Some(python) = case.python(&["xmlrpc.client"]) else {
        return;
    };
    let folder = Folder::new();
    let server = Sample::over_scgi_unix(&folder.file("rpc.sock"));
    let script = format!("{CALLER}\naddress = url[12:]\n{CALLS}");
    assert_eq!(python.print(&server.url, &script), ANSWERS);
}

const NGINX: &str = "
daemon off;
pid FOLDER/pid;
error_log FOLDER/error.log;
events {}
http {
    access_log off;
    client_body_temp_path FOLDER/body;
    scgi_temp_path FOLDER/scgi;
    proxy_temp_path FOLDER/proxy;
    fastcgi_temp_path FOLDER/fastcgi;
    uwsgi_temp_path FOLDER/uwsgi;
    server {
        listen 127.0.0.1:PORT;
        client_max_body_size 10m;
        location /RPC2 {
            scgi_pass unix:FOLDER/rpc.sock;
            scgi_param SCGI 1;
            scgi_param REQUEST_METHOD $request_method;
            scgi_param REQUEST_URI $request_uri;
            scgi_param QUERY_STRING $query_string;
            scgi_param CONTENT_TYPE $content_type;
            scgi_param SERVER_PROTOCOL $server_protocol;
            scgi_param REMOTE_ADDR $remote_addr;
            scgi_param REMOTE_PORT $remote_port;
            scgi_param SERVER_PORT $server_port;
            scgi_param SERVER_NAME $server_name;
        }
    }
}
";

#[test]
#[cfg(unix)]
fn scgi_behind_nginx() {
    let case = Case::begin("scgi_behind_nginx");
    let Some(nginx) = case.program("nginx", "-v") else {
        return;
    };
    let Some(python) = case.python(&["xmlrpc.client"]) else {
        return;
    };
    let folder = Folder::new();
    let server = Sample::over_scgi_unix(&folder.file("rpc.sock"));
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let configuration = NGINX
        .replace("FOLDER", folder.0.to_str().unwrap())
        .replace("PORT", &port.to_string());
    let file = folder.file("nginx.conf");
    std::fs::write(&file, configuration).unwrap();
    let mut command = Command::new(nginx);
    command.arg("-c").arg(&file).arg("-p").arg(&folder.0);
    let ready = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    let _nginx = Background::start_until(&mut command, ready);
    let url = format!("http://127.0.0.1:{port}/RPC2");
    let script = "
server = xmlrpc.client.ServerProxy(url)
def code():
    try:
        server.sample.divide(1, 0)
    except xmlrpc.client.Fault as fault:
        return fault.faultCode
calls = xmlrpc.client.MultiCall(server)
calls.sample.add(1, 1)
calls.sample.bytes()
show([server.sample.add(2, 3), server.echo('ö' * 500000) == 'ö' * 500000, code(),
      len(list(calls())[1].data)])
";
    assert_eq!(python.print(&url, script), "[5, true, 7, 1000]\n");
    let client = Client::new(&url).unwrap();
    assert_eq!(client.call::<i64>("sample.add", (2, 3)).unwrap(), 5);
    drop(server);
    // The error of nginx when the upstream server is down.
    let error = client.call::<i64>("sample.add", (2, 3)).unwrap_err();
    assert!(error.to_string().contains("502"), "{error}");
}
