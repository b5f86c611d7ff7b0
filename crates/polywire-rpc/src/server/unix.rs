//! Unix sockets.

use std::fs::{self, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net;
use std::path::{Path, PathBuf};
use std::time::Duration;

use socket2::{Domain, SockAddr, SockRef, Socket, Type};
use tokio::net::{UnixListener, UnixStream};

use super::listener::Listener;
use crate::peer::{Credentials, Peer};

/// The path of a Unix socket to listen on, and the mode of its file.
///
/// A path converts to a socket with the default mode, to which only processes of the same user may connect.
#[derive(Clone, Debug)]
pub struct UnixSocket {
    path: PathBuf,
    mode: u32,
}

impl<P: Into<PathBuf>> From<P> for UnixSocket {
    fn from(path: P) -> Self {
        Self::new(path)
    }
}

impl UnixSocket {
    /// Creates the settings of a socket at a path, with mode `0o600`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            mode: 0o600,
        }
    }

    /// Sets the mode of the file. A process that connects needs the permission to write: `0o660` admits the group,
    /// `0o666` all users.
    #[must_use]
    pub const fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Listens. Replaces the socket file of a process that has ended.
    ///
    /// # Errors
    ///
    /// `AddrInUse` if another process listens there, `AlreadyExists` if the file is not a socket, and errors of the file
    /// system.
    pub async fn bind(self) -> io::Result<BoundUnixSocket> {
        let Self { path, mode } = self;
        let _lock = lock_folder(&path).await?;
        let address = SockAddr::unix(&path).map_err(|error| with_path(&path, &error))?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        if let Err(error) = socket.bind(&address) {
            if error.kind() != io::ErrorKind::AddrInUse {
                return Err(with_path(&path, &error));
            }
            remove_stale(&path)?;
            socket
                .bind(&address)
                .map_err(|error| with_path(&path, &error))?;
        }
        let file = SocketFile::new(path)?;
        // Before `listen`, so that no process can connect with another mode.
        fs::set_permissions(&file.path, Permissions::from_mode(mode))
            .map_err(|error| with_path(&file.path, &error))?;
        socket.listen(1024)?;
        let listener = net::UnixListener::from(std::os::fd::OwnedFd::from(socket));
        Ok(BoundUnixSocket {
            listener: UnixListener::from_std(listener)?,
            file: Some(file),
        })
    }
}

/// Locks the folder of a socket, from the check for a stale file until the new socket listens. Without
/// the lock, two processes could both find a stale file, and the second would remove the socket of the
/// first.
///
/// The lock is on the folder itself, so no lock file remains. Returns `None` if the folder cannot be
/// opened or locked.
async fn lock_folder(path: &Path) -> io::Result<Option<fs::File>> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(folder) = fs::File::open(folder) else {
        return Ok(None);
    };
    // Other servers hold it for less than a millisecond.
    for _ in 0..200 {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(Duration::from_millis(10)).await,
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    let text = "another process has locked the folder";
    Err(with_path(
        path,
        &io::Error::new(io::ErrorKind::ResourceBusy, text),
    ))
}

/// Removes the file of a socket on which no process listens.
fn remove_stale(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path).map_err(|error| with_path(path, &error))?;
    if !metadata.file_type().is_socket() {
        let text = "there is a file already, and it is no socket";
        return Err(with_path(
            path,
            &io::Error::new(io::ErrorKind::AlreadyExists, text),
        ));
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // Otherwise `connect` would block if the backlog of the server is full.
    probe.set_nonblocking(true)?;
    match probe.connect(&SockAddr::unix(path)?) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
        // Removed in the meantime.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        // Only a refused connection proves that no process listens.
        _ => {
            let text = "another process listens there";
            return Err(with_path(
                path,
                &io::Error::new(io::ErrorKind::AddrInUse, text),
            ));
        }
    }
    fs::remove_file(path).map_err(|error| with_path(path, &error))
}

/// Adds the path to an error.
fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The file of a socket. Removed when this is dropped, unless another process has replaced it.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl SocketFile {
    fn new(path: PathBuf) -> io::Result<Self> {
        // An absolute path, because the working directory may change.
        let path = std::path::absolute(path)?;
        let identity = identity(&path)?;
        Ok(Self { path, identity })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|current| current == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// A Unix socket that listens. Returned by [`UnixSocket::bind`]. Its file is removed when the server stops, or when this
/// is dropped.
#[derive(Debug)]
pub struct BoundUnixSocket {
    listener: UnixListener,
    /// Removed by the first [`Listener::try_accept`], so that clients cannot connect any more.
    file: Option<SocketFile>,
}

impl Listener for BoundUnixSocket {
    type Io = UnixStream;
    type Addr = PathBuf;

    async fn accept(&mut self) -> io::Result<(UnixStream, Peer)> {
        Listener::accept(&mut self.listener).await
    }

    fn local_addr(&self) -> io::Result<PathBuf> {
        match &self.file {
            Some(file) => Ok(file.path.clone()),
            None => Listener::local_addr(&self.listener),
        }
    }

    fn try_accept(&mut self) -> Option<(UnixStream, Peer)> {
        self.file = None;
        self.listener.try_accept()
    }
}

/// The address is the path of the socket, or empty if it has none. The file stays when the server stops.
impl Listener for UnixListener {
    type Io = UnixStream;
    type Addr = PathBuf;

    async fn accept(&mut self) -> io::Result<(UnixStream, Peer)> {
        let (stream, _) = Self::accept(self).await?;
        let peer = peer(&stream);
        Ok((stream, peer))
    }

    fn local_addr(&self) -> io::Result<PathBuf> {
        let address = Self::local_addr(self)?;
        Ok(address
            .as_pathname()
            .map(Path::to_path_buf)
            .unwrap_or_default())
    }

    fn try_accept(&mut self) -> Option<(UnixStream, Peer)> {
        let (socket, _) = SockRef::from(&*self).accept().ok()?;
        socket.set_nonblocking(true).ok()?;
        let stream = UnixStream::from_std(socket.into()).ok()?;
        let peer = peer(&stream);
        Some((stream, peer))
    }
}

fn peer(stream: &UnixStream) -> Peer {
    Peer::unix(stream.peer_cred().ok().map(|credentials| Credentials {
        uid: credentials.uid(),
        gid: credentials.gid(),
        pid: credentials.pid(),
    }))
}
