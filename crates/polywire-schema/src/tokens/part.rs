//! Reads structures of which the document contains only a part, such as the body of an HTTP
//! message.

use super::{Container, TokenReader};
use crate::{END, Error, Member, Part, Schema, Seq};

/// Begins the top-level structure, of which the document contains a part.
#[cold]
pub(super) fn begin_part<'de, R: TokenReader<'de> + ?Sized>(
    reader: &mut R,
    at: Member<'_>,
) -> Result<Seq, Error> {
    let part = reader.part();
    reader.part_begun();
    let mut seq = match part {
        Part::Payload(_) => Seq::default(),
        _ => reader.begin(Container::Structure, at)?,
    };
    seq.part = part;
    // Members in the message head are often the first members of the shape.
    let shape = at.target();
    let first = shape.members().find(|member| part.holds(*member));
    seq.part_guess = first.map_or(shape.len(), Member::ordinal);
    seq.guess = END;
    Ok(seq)
}

/// Advances to the next member of a structure of which the document contains a part.
#[inline(never)]
pub(super) fn part_member<'de, R: TokenReader<'de> + ?Sized>(
    reader: &mut R,
    shape: Schema<'_>,
    seq: &mut Seq,
) -> Result<u32, Error> {
    if matches!(seq.part, Part::Payload(_)) {
        // The payload is the only member and is returned once.
        let payload = seq.part.payload(shape).filter(|_| seq.count == 0);
        seq.count = 1;
        return Ok(payload.unwrap_or(END));
    }
    seq.guess = seq.part_guess;
    let next = reader.peek(seq);
    let expected = match R::TRIES_EXPECTED {
        true => None,
        false => expected_member(reader, next, shape, seq),
    };
    let ordinal = match expected {
        Some(ordinal) => Ok(ordinal),
        None => reader.other_member(next, shape, seq),
    };
    seq.part_guess = std::mem::replace(&mut seq.guess, END);
    ordinal
}

/// Reads the name of the expected member, if it is next and the document contains it.
#[inline(always)]
fn expected_member<'de, R: TokenReader<'de> + ?Sized>(
    reader: &mut R,
    next: R::Next,
    shape: Schema<'_>,
    seq: &mut Seq,
) -> Option<u32> {
    let ordinal = seq.guess;
    if ordinal >= shape.len() {
        return None;
    }
    let member = shape.member(ordinal);
    let run = reader.match_member(next, member, seq)?;
    if !seq.part.holds(member) || !seq.mark_new(ordinal) {
        return None;
    }
    reader.accept_member(run, seq);
    seq.guess = ordinal + 1;
    Some(ordinal)
}
