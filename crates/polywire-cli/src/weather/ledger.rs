//! Idempotency tokens: the call of each token, and its response.

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

use polywire::prelude::*;

/// The maximum number of stored tokens. The oldest are dropped, so a call repeated later than that
/// counts as a new one.
const MOST: usize = 1024;
/// The maximum length of a token in bytes. A UUID has 36.
const LONGEST: usize = 128;

/// The tokens of one operation.
#[derive(Debug)]
pub(super) struct Ledger<T> {
    /// The input and the response of each token.
    answers: HashMap<Box<str>, (Fingerprint, T)>,
    /// The tokens, oldest first.
    order: VecDeque<Box<str>>,
}

/// The result of looking up a token.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Token<T> {
    /// The token is new or absent.
    New,
    /// The token was used with the same input. Contains the response.
    Repeated(T),
    /// The token was used with a different input.
    Reused,
    /// The token is too long to be stored.
    TooLong,
}

/// A hash of an input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Fingerprint(u64);

impl<T> Default for Ledger<T> {
    fn default() -> Self {
        Self {
            answers: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T: Clone> Ledger<T> {
    /// Looks up the token of a call.
    pub(super) fn look_up(&self, token: Option<&str>, fingerprint: Fingerprint) -> Token<T> {
        let Some(token) = token else {
            return Token::New;
        };
        if token.len() > LONGEST {
            return Token::TooLong;
        }
        match self.answers.get(token) {
            None => Token::New,
            Some((before, answer)) if *before == fingerprint => Token::Repeated(answer.clone()),
            Some(_) => Token::Reused,
        }
    }

    /// Stores the response to a call, if it has a token.
    pub(super) fn remember(&mut self, token: Option<&str>, fingerprint: Fingerprint, answer: T) {
        let Some(token) = token else { return };
        if let Entry::Vacant(entry) = self.answers.entry(token.into()) {
            entry.insert((fingerprint, answer));
            self.order.push_back(token.into());
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.answers.remove(&oldest);
        }
    }
}

impl Fingerprint {
    /// Returns a fingerprint of an input without its token. It is the same for all protocols: it
    /// does not depend on the order of members, or on whether timestamps have a time zone.
    pub(super) fn of(input: &Map) -> Self {
        let mut hasher = DefaultHasher::new();
        let members = input.iter().filter(|(name, _)| *name != "clientToken");
        hash_map(members, &mut hasher);
        Self(hasher.finish())
    }
}

fn hash_map<'v>(entries: impl Iterator<Item = (&'v str, &'v Value)>, hasher: &mut impl Hasher) {
    let mut entries: Vec<_> = entries.filter(|(_, value)| !value.is_null()).collect();
    entries.sort_unstable_by_key(|(name, _)| *name);
    entries.len().hash(hasher);
    for (name, value) in entries {
        name.hash(hasher);
        hash_value(value, hasher);
    }
}

fn hash_value(value: &Value, hasher: &mut impl Hasher) {
    match value {
        Value::Blob(bytes) => bytes.as_bytes().hash(hasher),
        Value::String(text) => text.as_str().hash(hasher),
        Value::Timestamp(at) => (at.seconds(), at.nanoseconds()).hash(hasher),
        Value::List(items) => {
            items.len().hash(hasher);
            for item in items {
                hash_value(item, hasher);
            }
        }
        Value::Map(map) => hash_map(map.iter(), hasher),
        // Numbers and booleans have an exact text form. Floats do not implement `Hash`.
        other => format!("{other:?}").hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(pairs: &[(&'static str, i64)]) -> Fingerprint {
        Fingerprint::of(&pairs.iter().copied().collect())
    }

    #[test]
    fn fingerprints_tell_inputs_apart() {
        assert_eq!(input(&[("a", 1), ("b", 2)]), input(&[("b", 2), ("a", 1)]));
        assert_eq!(input(&[("a", 1)]), input(&[("clientToken", 7), ("a", 1)]));
        assert_ne!(input(&[("a", 1)]), input(&[("a", 2)]));
        assert_ne!(input(&[("a", 1)]), input(&[("b", 1)]));
        assert_ne!(input(&[("a", 1)]), input(&[]));
    }

    #[test]
    fn tokens_identify_inputs() {
        let mut ledger = Ledger::default();
        let (fingerprint, other) = (input(&[("a", 1)]), input(&[("a", 2)]));
        assert_eq!(ledger.look_up(Some("t"), fingerprint), Token::New);
        ledger.remember(Some("t"), fingerprint, 5);
        assert_eq!(ledger.look_up(Some("t"), fingerprint), Token::Repeated(5));
        assert_eq!(ledger.look_up(Some("t"), other), Token::Reused);
        assert_eq!(ledger.look_up(None, fingerprint), Token::New);
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(ledger.look_up(Some(&long), fingerprint), Token::TooLong);
    }

    #[test]
    fn drops_the_oldest_tokens() {
        let mut ledger = Ledger::default();
        let fingerprint = input(&[]);
        for number in 0..MOST + 10 {
            ledger.remember(Some(&number.to_string()), fingerprint, number);
        }
        assert_eq!(ledger.answers.len(), MOST);
        assert_eq!(ledger.order.len(), MOST);
        assert_eq!(ledger.look_up(Some("9"), fingerprint), Token::New);
        assert_eq!(ledger.look_up(Some("10"), fingerprint), Token::Repeated(10));
    }
}
