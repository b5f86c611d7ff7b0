//! The bare hyper server: `PUT`, `GET` and `DELETE` of files in a directory.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, ETAG};
use http::{Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use md5::{Digest, Md5};
use tokio::task::{JoinHandle, spawn_blocking};

/// A request with this header gets the MD5 sum of its body as `ETag`.
pub(crate) const MD5: &str = "x-md5";
/// The bytes that are written or read by one task of a thread that may wait for the disk.
const PIECE: usize = 128 * 1024;

struct Directory {
    path: PathBuf,
    next: AtomicU64,
}

/// Serves a directory until the process is killed. Prints the address first.
pub(crate) fn serve(path: &Path) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let path = path.to_owned();
    let next = AtomicU64::new(0);
    let directory = Arc::new(Directory { path, next });
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("bare: http://{}", listener.local_addr().unwrap());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let directory = Arc::clone(&directory);
            let service = service_fn(move |request| answer(Arc::clone(&directory), request));
            tokio::spawn(
                http1::Builder::new()
                    .timer(TokioTimer::new())
                    .serve_connection(TokioIo::new(stream), service),
            );
        }
    });
}

async fn answer(
    directory: Arc<Directory>,
    request: Request<Incoming>,
) -> Result<Response<FileBody>, Infallible> {
    let name = request.uri().path().trim_matches('/').replace('/', "-");
    let path = directory.path.join(name);
    let result = match *request.method() {
        Method::PUT => put(&directory, path, request).await,
        Method::GET => get(path).await,
        _ => blocking(move || fs::remove_file(path))
            .await
            .map(|()| empty(StatusCode::NO_CONTENT)),
    };
    Ok(result.unwrap_or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => empty(StatusCode::NOT_FOUND),
        _ => empty(StatusCode::INTERNAL_SERVER_ERROR),
    }))
}

fn empty(status: StatusCode) -> Response<FileBody> {
    let mut response = Response::new(FileBody::default());
    *response.status_mut() = status;
    response
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

/// A file that is being written.
struct Upload {
    temporary: PathBuf,
    file: Option<File>,
    md5: Option<Md5>,
}

impl Upload {
    fn write(&mut self, pieces: &[Bytes]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(File::create_new(&self.temporary)?),
        };
        for piece in pieces {
            file.write_all(piece)?;
            if let Some(md5) = &mut self.md5 {
                md5.update(piece);
            }
        }
        Ok(())
    }
}

/// Writes one batch while the next arrives.
async fn put(
    directory: &Directory,
    path: PathBuf,
    request: Request<Incoming>,
) -> io::Result<Response<FileBody>> {
    let number = directory.next.fetch_add(1, Ordering::Relaxed);
    let mut upload = Upload {
        temporary: directory.path.join(format!("{number}.temporary")),
        file: None,
        md5: request.headers().contains_key(MD5).then(Md5::new),
    };
    let mut body = request.into_body();
    let mut writing: Option<JoinHandle<io::Result<Upload>>> = None;
    let (mut pieces, mut len) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(io::Error::other)?.into_data() else {
            continue;
        };
        len += piece.len();
        pieces.push(piece);
        if len >= PIECE {
            if let Some(writing) = writing.take() {
                upload = writing.await.map_err(io::Error::other)??;
            }
            let pieces = std::mem::take(&mut pieces);
            len = 0;
            writing = Some(spawn_blocking(move || {
                upload.write(&pieces)?;
                Ok(upload)
            }));
            // Moved out; a later turn of the loop takes it back.
            upload = Upload {
                temporary: PathBuf::new(),
                file: None,
                md5: None,
            };
        }
    }
    if let Some(writing) = writing {
        upload = writing.await.map_err(io::Error::other)??;
    }
    let etag = blocking(move || {
        upload.write(&pieces)?;
        drop(upload.file);
        fs::rename(&upload.temporary, path)?;
        Ok(upload.md5.map(Md5::finalize))
    })
    .await?;
    let mut response = empty(StatusCode::OK);
    if let Some(etag) = etag {
        let etag: String = etag.iter().map(|byte| format!("{byte:02x}")).collect();
        let etag = format!("\"{etag}\"").try_into().unwrap();
        response.headers_mut().insert(ETAG, etag);
    }
    Ok(response)
}

/// Opens the file and reads its first piece in one task.
async fn get(path: PathBuf) -> io::Result<Response<FileBody>> {
    let (file, len, first) = blocking(move || {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        let first = read(&mut file, len)?;
        Ok((file, len, first))
    })
    .await?;
    let body = FileBody {
        left: len,
        reading: None,
        ready: Some((file, first)),
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_LENGTH, len.into());
    Ok(response)
}

fn read(file: &mut File, left: u64) -> io::Result<Bytes> {
    let len = left.min(PIECE as u64);
    // One system call, where `read_to_end` makes five: it begins with 8 KiB.
    let mut piece = vec![0; usize::try_from(len).unwrap()];
    file.read_exact(&mut piece)?;
    Ok(piece.into())
}

/// The bytes of a file. The next piece is read while one is sent.
#[derive(Default)]
struct FileBody {
    left: u64,
    ready: Option<(File, Bytes)>,
    reading: Option<JoinHandle<io::Result<(File, Bytes)>>>,
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let own = &mut *self;
        if own.left == 0 {
            return Poll::Ready(None);
        }
        let (mut file, piece) = match (own.ready.take(), &mut own.reading) {
            (Some(ready), _) => ready,
            (None, Some(reading)) => {
                ready!(Pin::new(reading).poll(context)).map_err(io::Error::other)??
            }
            (None, None) => return Poll::Ready(None),
        };
        if piece.is_empty() {
            return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())));
        }
        own.left -= piece.len() as u64;
        let left = own.left;
        own.reading = (left > 0).then(|| {
            spawn_blocking(move || {
                let piece = read(&mut file, left)?;
                Ok((file, piece))
            })
        });
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
