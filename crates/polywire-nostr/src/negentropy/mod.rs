//! Negentropy Protocol V1: which events one side of a connection has and the other lacks (NIP-77).
//!
//! Two sides each hold a set of [`Record`]s: a timestamp and the id of an event, sorted by both. The
//! [`Initiator`] finds out which ids only it has and which only the [`Responder`] has. Traffic grows
//! with the differences, not with the sets.
//!
//! A message divides the space of timestamps and ids into ranges. For each range it says one of three
//! things: *skip*, a *fingerprint* of the sender's ids in the range, or the *list* of these ids. The
//! receiver answers a fingerprint that differs from its own with the fingerprints of 16 smaller
//! ranges, or with a list if fewer than 32 ids are left. The initiator compares lists with its own
//! ids. It is done when it has nothing to answer.
//!
//! This module exchanges bytes. NIP-77 carries them as hexadecimal text in `NEG-OPEN` and `NEG-MSG`.
//! The format is specified in
//! <https://github.com/hoytech/negentropy/blob/master/docs/negentropy-protocol-v1.md>. Where that
//! leaves a choice, such as the number of ranges, this module does what the implementation there does.
//!
//! # Hostile peers
//!
//! A message is read strictly: malformed bytes are an [`InvalidMessage`] with an offset and a reason.
//! A count is checked against the bytes that follow before memory is reserved. An answer is never
//! longer than the [`FrameSizeLimit`]. The work for one message grows with its length, that limit and,
//! on the initiator, the number of records; one range costs a binary search and one digest.
//!
//! The number of messages is not bounded here: a peer that always reports a difference keeps a session
//! alive. Callers count messages or set a deadline.
//!
//! # Example
//!
//! ```
//! use polywire_nostr::EventId;
//! use polywire_nostr::negentropy::{Initiator, Record, Records, Responder};
//!
//! let record = |created_at, byte| Record::new(created_at, EventId::from_bytes([byte; 32]));
//! let ours: Records = [record(1, 0xaa), record(2, 0xbb)].into_iter().collect::<Result<_, _>>()?;
//! let theirs: Records = [record(1, 0xaa), record(3, 0xcc)].into_iter().collect::<Result<_, _>>()?;
//!
//! let mut initiator = Initiator::new(&ours);
//! let responder = Responder::new(&theirs);
//! let (mut have, mut need) = (Vec::new(), Vec::new());
//! let mut message = initiator.initial_message()?;
//! loop {
//!     let answer = responder.respond(&message)?;
//!     let step = initiator.reconcile(&answer)?;
//!     have.extend(step.have);
//!     need.extend(step.need);
//!     match step.next_message {
//!         Some(next) => message = next,
//!         None => break,
//!     }
//! }
//! assert_eq!(have, [EventId::from_bytes([0xbb; 32])]);
//! assert_eq!(need, [EventId::from_bytes([0xcc; 32])]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accumulator;
mod answer;
mod error;
mod frame;
mod initiator;
mod record;
mod records;
mod responder;
mod storage;
mod wire;

pub use accumulator::{Accumulator, Fingerprint};
pub use error::{Error, InvalidMessage, Reason};
pub use frame::FrameSizeLimit;
pub use initiator::{Initiator, Step};
pub use record::{Bound, Record, ReservedTimestamp};
pub use records::Records;
pub use responder::Responder;
pub use storage::Storage;
