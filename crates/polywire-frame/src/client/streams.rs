//! Items of a client's streams, subscriptions and messages.

use super::{Connection, Draught, Ends, Message, Refused};
use crate::draft::{Draft, bare};
use crate::extension::name;
use crate::header::header;
use crate::{CallId, Header, Kind, Time};

impl<T> Connection<T> {
    /// Subscribes to a topic: as open as a call until it ends.
    ///
    /// # Errors
    ///
    /// It cannot be made, now or at all.
    pub fn subscribe(&mut self, topic: &str, context: T) -> Result<CallId, Refused> {
        self.may_open()?;
        if name(topic.as_bytes()).is_none() {
            return Err(Refused::Invalid("the name of a topic"));
        }
        let draft = Draft::new(&mut self.output, header(Kind::SUBSCRIBE, 0));
        self.output.bytes.extend_from_slice(topic.as_bytes());
        self.draught(draft, Time::NEVER, Some(false)).send(context)
    }

    /// Begins a message for a topic; its answer says how many subscribers it was handed to.
    ///
    /// # Errors
    ///
    /// It cannot be made, now or at all.
    pub fn publish(
        &mut self,
        now: Time,
        topic: &str,
        deadline: Time,
    ) -> Result<Draught<'_, T>, Refused> {
        self.may_open()?;
        if name(topic.as_bytes()).is_none() {
            return Err(Refused::Invalid("the name of a topic"));
        }
        let header = Header {
            value: now.millis_until(deadline),
            ..header(Kind::PUBLISH, 0)
        };
        let mut draft = Draft::new(&mut self.output, header);
        // One name is never too long.
        let _ = draft.extend(&mut self.output, |writer| writer.topic(topic));
        Ok(self.draught(draft, deadline, None))
    }

    /// Begins an item of a call's stream. Nothing, if the call has ended, its stream is closed, or
    /// there is no credit, of the stream or of the connection: then [`Event::Writable`](super::Event::Writable) will come,
    /// or [`Event::Hello`](super::Event::Hello).
    pub fn item(&mut self, id: CallId) -> Option<Message<'_, T>> {
        let stream = self.slots.get_mut(id)?.stream.as_ref()?;
        let may = stream.open && stream.credit.may_send() && self.items.may_send();
        if !may || self.ends == Ends::Broken {
            return None;
        }
        let draft = Draft::new(&mut self.output, header(Kind::ITEM, id.into()));
        Some(Message {
            connection: self,
            draft,
            stream: Some(id),
            sent: false,
        })
    }

    /// Ends the stream of a call.
    pub fn end(&mut self, id: CallId) {
        let stream = self.slots.get_mut(id).and_then(|call| call.stream.as_mut());
        if stream.is_some_and(|stream| std::mem::take(&mut stream.open)) {
            bare(&mut self.output, &header(Kind::END, id.into()));
        }
    }

    /// Ends a subscription in order: the server answers it.
    pub fn unsubscribe(&mut self, id: CallId) {
        if self.slots.get_mut(id).is_some() {
            bare(&mut self.output, &header(Kind::UNSUBSCRIBE, id.into()));
        }
    }

    /// Items of that cost have been consumed. To be told of each that came as an [`Event::Item`](super::Event::Item), even
    /// when its call has ended.
    pub fn consumed(&mut self, id: CallId, cost: u32) {
        let stream = self.slots.get_mut(id).and_then(|call| call.stream.as_mut());
        if let Some(stream) = stream {
            stream.credit.consumed(cost, 0, id.into(), &mut self.output);
        }
        self.items.consumed(cost, 3, CallId::NONE, &mut self.output);
    }
}
