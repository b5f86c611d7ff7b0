//! The memory of the store for large objects.

use std::path::Path;

use super::client::{Connection, join_all};
use super::server::Server;
use super::signing::{Form, Payloads};

const MIB: usize = 1 << 20;

/// Uploads and downloads one object of 2 GB, and then ten of 200 MB at the same time, to a new store each, and prints by
/// how much its largest resident memory grew.
pub(crate) async fn run(directory: &Path) {
    for (name, objects, size, target) in [
        ("one object of 2000 MiB", 1, 2000 * MIB, 16),
        ("ten objects of 200 MiB", 10, 200 * MIB, 64),
    ] {
        let data = directory.join("memory");
        let server = Server::store(&data, None);
        let mut first = Connection::new(&server).await;
        first.create(Form::Plain).await;
        let small = Payloads::new(10_000);
        first.put("/bkt/small", Form::Plain, &small).await;
        first.get("/bkt/small", Form::Plain, &small).await;
        let payloads = Payloads::new(size);
        let before = server.peak();
        let transfers = (0..objects).map(|number| {
            let (server, payloads) = (&server, &payloads);
            let path = format!("/bkt/{number}");
            async move {
                let mut connection = Connection::new(server).await;
                connection.put(&path, Form::Plain, payloads).await;
                let uploaded = server.peak();
                connection.get(&path, Form::Plain, payloads).await;
                uploaded
            }
        });
        let uploaded = join_all(transfers).await.into_iter().max().unwrap();
        let after = server.peak();
        println!(
            "{name}: {before} KiB before, {} KiB more after the uploads, {} KiB more after the downloads (target \
             {} KiB)",
            uploaded - before,
            after - before,
            target * 1024
        );
        drop(server);
        std::fs::remove_dir_all(&data).unwrap();
    }
}
