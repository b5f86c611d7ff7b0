//! The connection task of a relay. It owns the connection and the pending requests.

mod answers;
mod auth;
mod command;
mod events;
mod feed;
mod requests;

use std::sync::Arc;
use std::time::Duration;

use polywire_rpc::random::Random;
use polywire_rpc::websocket::{ConnectError, WebSocket};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

pub(crate) use command::{Command, SyncMessage};
pub(crate) use feed::{Delivery, Feed, Sink, SourceDelivery};
use requests::Requests;

use crate::ConnectionState;
use crate::error::SHUTDOWN;
use crate::state::Shared;
use crate::verifier::Verifier;

pub(crate) struct Driver {
    shared: Arc<Shared>,
    commands: mpsc::UnboundedReceiver<Command>,
    requests: Requests,
}

/// All handles of the relay were dropped, or [`Command::Shutdown`] was received.
struct Shutdown;

impl Driver {
    pub(crate) fn new(
        shared: Arc<Shared>,
        verifier: Arc<Verifier>,
        commands: mpsc::UnboundedReceiver<Command>,
    ) -> Self {
        Self {
            requests: Requests::new(Arc::clone(&shared), verifier),
            shared,
            commands,
        }
    }

    /// Connects and reconnects until shutdown.
    pub(crate) async fn run(mut self) {
        let reason = match self.connections().await {
            Err(Shutdown) => Arc::from(SHUTDOWN),
            Ok(reason) => reason,
        };
        // Commands that are already queued must fail or end too.
        self.commands.close();
        while let Ok(command) = self.commands.try_recv() {
            self.requests.handle(command);
        }
        self.shared
            .state
            .send_replace(ConnectionState::Closed { reason });
        self.requests.finish().await;
    }

    /// Returns the reason if the URL is invalid, so that reconnecting is useless.
    async fn connections(&mut self) -> Result<Arc<str>, Shutdown> {
        let mut attempt = 0;
        loop {
            self.shared.state.send_replace(ConnectionState::Connecting);
            let builder = self.shared.options.websocket(self.shared.url.as_str());
            let reason: Arc<str> = match self.while_offline(builder.connect()).await? {
                Ok(socket) => {
                    let since = Instant::now();
                    let reason = self.session(socket).await?;
                    if since.elapsed() >= self.shared.options.backoff.most() {
                        attempt = 0;
                    }
                    reason
                }
                Err(error @ ConnectError::Url(_)) => return Ok(error.to_string().into()),
                Err(error) => error.to_string().into(),
            };
            attempt += 1;
            let wait = self
                .shared
                .options
                .backoff
                .wait(attempt, Random::new(None).fraction());
            tracing::debug!(relay = %self.shared.url, attempt, ?wait, %reason, "no connection");
            self.wait(attempt, wait, reason).await?;
        }
    }

    async fn wait(
        &mut self,
        attempt: u32,
        wait: Duration,
        reason: Arc<str>,
    ) -> Result<(), Shutdown> {
        self.shared.state.send_replace(ConnectionState::Waiting {
            attempt,
            wait,
            reason,
        });
        self.while_offline(sleep(wait)).await
    }

    /// Handles commands until a future is ready.
    async fn while_offline<F: Future>(&mut self, future: F) -> Result<F::Output, Shutdown> {
        let mut future = std::pin::pin!(future);
        loop {
            tokio::select! {
                output = &mut future => return Ok(output),
                command = self.commands.recv() => self.command(command)?,
            }
        }
    }

    fn command(&mut self, command: Option<Command>) -> Result<(), Shutdown> {
        match command {
            None | Some(Command::Shutdown) => Err(Shutdown),
            Some(command) => {
                self.requests.handle(command);
                Ok(())
            }
        }
    }

    /// Uses a connection until it ends. Returns the reason of its end.
    async fn session(&mut self, mut socket: WebSocket) -> Result<Arc<str>, Shutdown> {
        self.shared.counters.connections.add();
        self.requests.connected();
        self.shared.state.send_replace(ConnectionState::Connected);
        let sender = socket.sender();
        let ended = loop {
            let next = self.requests.outbox.front().cloned();
            let blocked = self
                .requests
                .blocked
                .front()
                .map(|blocked| blocked.sender.clone());
            tokio::select! {
                command = self.commands.recv() => if self.command(command).is_err() {
                    // The connection sends the messages in its queue before it closes.
                    let rest = self.requests.outbox.drain(..);
                    rest.for_each(|message| drop(sender.try_send(message)));
                    return Err(Shutdown);
                },
                sent = async { sender.send(next?).await.ok() }, if !self.requests.outbox.is_empty() => {
                    match sent {
                        Some(()) => drop(self.requests.outbox.pop_front()),
                        // Received messages and the close reason are still to be read.
                        None => self.requests.outbox.clear(),
                    }
                }
                permit = async { blocked?.reserve_owned().await.ok() }, if !self.requests.blocked.is_empty() => {
                    let blocked = self.requests.blocked.pop_front();
                    if let (Some(permit), Some(blocked)) = (permit, blocked) {
                        permit.send(blocked.item);
                    }
                }
                message = socket.recv(), if self.requests.blocked.is_empty() => match message {
                    Some(Ok(message)) => self.requests.receive(&message),
                    Some(Err(error)) => break error.to_string().into(),
                    None => {
                        let frame = socket.close_frame();
                        break match frame {
                            Some(frame) => format!("the relay closed the connection: {frame}").into(),
                            None => "the relay closed the connection".into(),
                        };
                    }
                },
            }
        };
        self.requests.disconnected();
        Ok(ended)
    }
}
