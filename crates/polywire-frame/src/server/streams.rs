//! Items of a server's streams, and messages of subscriptions.

use super::{Answer, Connection, Ends};
use crate::draft::bare;
use crate::header::header;
use crate::stream::{Credit, Stream};
use crate::{CallId, Header, Kind, Settings};

impl<O: Copy, T> Connection<O, T> {
    /// Accepts a subscription.
    pub fn accept(&mut self, id: CallId) {
        if self.slots.get_mut(id).is_some() {
            bare(&mut self.output, &header(Kind::ACCEPT, id.into()));
        }
    }

    /// Begins an item of a call's stream, or a message of a subscription, before which so many
    /// were left out. Nothing, if the call has ended or there is no credit: then
    /// [`Event::Writable`](super::Event::Writable) will come.
    pub fn item(&mut self, id: CallId, missed: u32) -> Option<Answer<'_, O, T>> {
        let may = match &self.slots.get_mut(id)?.stream {
            Some(stream) => stream.credit.may_send(),
            None => {
                let stream = self.stream(false, false);
                let may = stream.credit.may_send();
                if let Some(call) = self.slots.get_mut(id) {
                    call.stream = Some(stream);
                }
                may
            }
        };
        if !may || !self.items.may_send() || self.ends == Ends::Broken {
            if self.input_ended && !self.stuck.contains(&id) {
                // Nobody will give credit any more.
                self.stuck.push(id);
            }
            return None;
        }
        let header = Header {
            value: missed,
            ..header(Kind::ITEM, id.into())
        };
        Some(self.answer(header, id))
    }

    /// Items of that cost have been consumed. To be told of each that came as an [`Event::Item`](super::Event::Item), even
    /// when its call has ended.
    pub fn consumed(&mut self, id: CallId, cost: u32) {
        let stream = self.slots.get_mut(id).and_then(|call| call.stream.as_mut());
        if let Some(stream) = stream
            && stream.open
        {
            stream.credit.consumed(cost, 0, id.into(), &mut self.output);
        }
        self.items.consumed(cost, 3, CallId::NONE, &mut self.output);
    }

    pub(super) fn stream(&self, open: bool, topic: bool) -> Box<Stream> {
        stream(&self.client, &self.settings, open, topic)
    }
}

/// A stream whose client and server take so much.
pub(super) fn stream(client: &Settings, server: &Settings, open: bool, topic: bool) -> Box<Stream> {
    Box::new(Stream {
        open,
        topic,
        credit: Credit::new(client.window(), server.window()),
    })
}
