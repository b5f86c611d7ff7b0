//! The result of COUNT (NIP-45).

use crate::json::{Object, Reader, push_hex};
use crate::{Error, Limits, Member, Reason};

/// The result of COUNT (NIP-45).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Count {
    /// The number of events.
    pub count: u64,
    /// Whether the number is an estimate, if the relay sends this member.
    pub approximate: Option<bool>,
    /// The 256 registers of a HyperLogLog, if the relay sends them. To merge the results of several
    /// relays, take the maximum of each register.
    pub hll: Option<Box<[u8; 256]>>,
}

impl Count {
    /// Returns a result without `approximate` and `hll`.
    #[must_use]
    pub fn new(count: u64) -> Self {
        Self {
            count,
            ..Self::default()
        }
    }

    /// Appends compact JSON.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        let mut object = Object::new(out);
        object.number("count", self.count);
        if let Some(approximate) = self.approximate {
            object.bool("approximate", approximate);
        }
        if let Some(hll) = &self.hll {
            object.name("hll");
            push_hex(object.out, &**hll);
        }
        object.end();
    }

    /// Reads an object at the cursor. Unknown members are skipped.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        if !reader.take(b'{') {
            return Err(reader.wrong_type());
        }
        reader.skip_space();
        let (mut count, mut approximate, mut hll) = (None, None, None);
        let mut more = !reader.take(b'}');
        while more {
            let key_at = reader.at();
            let duplicate = match &*reader.key()?.decode() {
                "count" => count.replace(reader.unsigned(u64::MAX)?.0).is_some(),
                "approximate" => approximate.replace(reader.bool()?).is_some(),
                "hll" => hll.replace(Box::new(reader.hex()?)).is_some(),
                _ => {
                    reader.skip_value(Limits::DEFAULT.depth)?;
                    false
                }
            };
            if duplicate && !reader.profile().duplicate_keys {
                return Err(Error::new(Reason::DuplicateKey, key_at));
            }
            more = reader.next_item(b'}')?;
        }
        let missing = || reader.error(Reason::Missing).in_member(Member::Count);
        Ok(Self {
            count: count.ok_or_else(missing)?,
            approximate,
            hll,
        })
    }
}
