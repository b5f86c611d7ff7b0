//! The responses of a message of a server: section 5 of the specification, and batches, section 6.

use std::ops::Range;

use polywire_codec::json::{self, JsonDecoder};
use polywire_schema::{Body, Decode as _, Decoder as _, Error, Limits, Member, Value};

use super::client::wrong;
use super::envelope::{first_byte, part};
use super::{CLIENT, JsonRpc, skip};

/// Which call a message of a server answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ResponseId {
    /// The call with this id.
    Call(u64),
    /// The calls with these ids, in a list of responses.
    Batch(Vec<u64>),
    /// Calls whose ids the server could not read: all responses are errors with the id null.
    Unknown,
    /// No call of [`JsonRpc::with_id`].
    None,
}

impl JsonRpc {
    /// Which call a message of a server answers. A server may send calls of its own, which have
    /// ids of its own, so a message with a `method` answers none.
    ///
    /// # Errors
    ///
    /// The text is not an object of JSON, nor a list with at least one entry.
    pub fn response_id(message: &Body, limits: &Limits) -> Result<ResponseId, Error> {
        let mut decoder = JsonDecoder::from_body(message, CLIENT, limits)?;
        let answered = match is_list(message) {
            true => answered_by_list(&mut decoder, message)?,
            false => read_response(&mut decoder)?.answers,
        };
        decoder.finish()?;
        Ok(answered)
    }
}

/// Whether a message is a list.
pub(super) fn is_list(message: &Body) -> bool {
    first_byte(message.as_bytes(), 0) == b'['
}

fn answered_by_list(decoder: &mut JsonDecoder<'_>, message: &Body) -> Result<ResponseId, Error> {
    let at = Member::DOCUMENT;
    let (mut ids, mut is_unknown) = (Vec::new(), false);
    let mut seq = decoder.list(at)?;
    while decoder.item(at, &mut seq)? {
        match read_entry(decoder, message.as_bytes())?.map(|response| response.answers) {
            Some(ResponseId::Call(id)) => ids.push(id),
            answers => is_unknown |= answers == Some(ResponseId::Unknown),
        }
    }
    Ok(match (seq.count, ids.is_empty()) {
        (0, _) => return Err(wrong(decoder, "a response in the list")),
        (_, false) => ResponseId::Batch(ids),
        (_, true) if is_unknown => ResponseId::Unknown,
        (_, true) => ResponseId::None,
    })
}

/// A message of a server that is an object.
struct Response {
    answers: ResponseId,
    id: Value,
}

/// Reads an entry of a list. `None` if it is not an object: then it answers no call.
fn read_entry(decoder: &mut JsonDecoder<'_>, message: &[u8]) -> Result<Option<Response>, Error> {
    match first_byte(message, decoder.offset()) {
        b'{' => read_response(decoder).map(Some),
        _ => skip(decoder).map(|()| None),
    }
}

fn read_response(decoder: &mut JsonDecoder<'_>) -> Result<Response, Error> {
    let at = Member::DOCUMENT;
    let (mut id, mut is_error, mut is_call) = (Value::Null, false, false);
    let mut seq = decoder.map(at)?;
    while let Some(name) = decoder.key(at, &mut seq)? {
        match &*name {
            "id" => id = Value::decode(at, decoder)?,
            other => {
                is_error |= other == "error";
                is_call |= other == "method";
                skip(decoder)?;
            }
        }
    }
    let number = id.as_i64().and_then(|id| u64::try_from(id).ok());
    let answers = match number {
        _ if is_call => ResponseId::None,
        Some(id) => ResponseId::Call(id),
        None if is_error && id.is_null() => ResponseId::Unknown,
        None => ResponseId::None,
    };
    Ok(Response { answers, id })
}

/// What a list of responses has for a call.
enum Entry {
    Missing,
    One(Body),
    Several,
}

/// The responses to the calls with these ids, in the order of the ids, or why there is none.
///
/// An error with the id null belongs to the only call without a response. Responses with unknown
/// ids are ignored, except that they are mentioned where a response is missing. Entries that are
/// not objects are ignored.
pub(super) fn responses_of(
    ids: Range<u64>,
    message: Body,
    limits: &Limits,
) -> Result<Vec<Result<Body, String>>, Error> {
    let at = Member::DOCUMENT;
    let bytes = message.into_bytes();
    let message = Body::new(bytes.clone());
    let mut decoder = JsonDecoder::from_body(&message, CLIENT, limits)?;
    let mut entries: Vec<Entry> = ids.clone().map(|_| Entry::Missing).collect();
    let (mut without_id, mut unknown_id) = (Entry::Missing, None);
    let mut seq = decoder.list(at)?;
    while decoder.item(at, &mut seq)? {
        let start = decoder.offset();
        let Some(Response { answers, id }) = read_entry(&mut decoder, &bytes)? else {
            continue;
        };
        let index = match answers {
            ResponseId::Call(id) => id.checked_sub(ids.start),
            _ => None,
        };
        let index = index.and_then(|index| usize::try_from(index).ok());
        let entry = match index.and_then(|index| entries.get_mut(index)) {
            Some(entry) => entry,
            None => {
                unknown_id.get_or_insert(id);
                if answers != ResponseId::Unknown {
                    continue;
                }
                &mut without_id
            }
        };
        *entry = match entry {
            Entry::Missing => Entry::One(Body::new(part(&bytes, start..decoder.offset()))),
            Entry::One(_) | Entry::Several => Entry::Several,
        };
    }
    decoder.finish()?;
    let missing = entries
        .iter_mut()
        .filter(|entry| matches!(entry, Entry::Missing));
    if let ([entry], Entry::One(_)) = (&mut missing.take(2).collect::<Vec<_>>()[..], &without_id) {
        **entry = without_id;
    }
    let responses = ids.zip(entries).map(|(id, entry)| match entry {
        Entry::One(response) => Ok(response),
        Entry::Several => Err(format!("several responses have the id {id}")),
        Entry::Missing => Err(missing_response(id, unknown_id.as_ref())),
    });
    Ok(responses.collect())
}

#[cold]
fn missing_response(id: u64, unknown_id: Option<&Value>) -> String {
    let Some(unknown_id) = unknown_id else {
        return format!("no response has the id {id}");
    };
    let text = json::write_value(unknown_id).unwrap_or_default();
    let shown: String = String::from_utf8_lossy(&text).chars().take(64).collect();
    format!("no response has the id {id}, but one has the unknown id {shown}")
}
