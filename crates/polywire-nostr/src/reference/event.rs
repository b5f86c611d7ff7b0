//! Events (NIP-01), parsed from a JSON tree.

use sha2::{Digest, Sha256};

use super::json::{self, Json};
use crate::{Limits, Profile};

/// `Number.MAX_SAFE_INTEGER` of JavaScript.
const MAX_TIME: u64 = (1 << 53) - 1;

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The id, in lower case.
    pub id: String,
    /// The public key, in lower case.
    pub pubkey: String,
    /// Seconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// The kind.
    pub kind: u16,
    /// The tags, an array of arrays of strings.
    pub tags: Json,
    /// The content, a string.
    pub content: Json,
    /// The signature, in lower case.
    pub sig: String,
}

impl Event {
    /// Parses an event. `None` if it is invalid.
    #[must_use]
    pub fn parse(bytes: &[u8], profile: Profile, limits: &Limits) -> Option<Self> {
        if bytes.len() > limits.bytes {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        // Tags of known members are two levels below the event.
        let Json::Object(members) = json::parse(text, profile, limits.depth + 1)? else {
            return None;
        };
        let mut found: [Option<Json>; 7] = Default::default();
        let names = [
            "id",
            "pubkey",
            "created_at",
            "kind",
            "tags",
            "content",
            "sig",
        ];
        for (key, value) in members {
            let is_key = |name: &&str| name.chars().map(u32::from).eq(key.iter().copied());
            let Some(index) = names.iter().position(is_key) else {
                continue;
            };
            // Repeated members are all checked; the last one is used.
            let is_valid = match names[index] {
                "id" | "pubkey" => hexadecimal(&value, 64, profile).is_some(),
                "sig" => hexadecimal(&value, 128, profile).is_some(),
                "created_at" => integer(&value, MAX_TIME, profile).is_some(),
                "kind" => integer(&value, 65_535, profile).is_some(),
                "tags" => are_tags(&value, profile, limits),
                _ => matches!(value, Json::String(_)),
            };
            if !is_valid || found[index].replace(value).is_some() && !profile.duplicate_keys {
                return None;
            }
        }
        let [id, pubkey, created_at, kind, tags, content, sig] = found;
        Some(Self {
            id: hexadecimal(&id?, 64, profile)?,
            pubkey: hexadecimal(&pubkey?, 64, profile)?,
            created_at: integer(&created_at?, MAX_TIME, profile)?,
            kind: integer(&kind?, 65_535, profile)? as u16,
            tags: tags?,
            content: content?,
            sig: hexadecimal(&sig?, 128, profile)?,
        })
    }

    /// Returns the canonical form.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut out = format!("[0,\"{}\",{},{},", self.pubkey, self.created_at, self.kind);
        json::stringify(&self.tags, &mut out);
        out.push(',');
        json::stringify(&self.content, &mut out);
        out.push(']');
        out
    }

    /// Computes the id from the canonical form.
    #[must_use]
    pub fn compute_id(&self) -> String {
        let digest = Sha256::digest(self.canonical());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn are_tags(tags: &Json, profile: Profile, limits: &Limits) -> bool {
    let Json::Array(items) = tags else {
        return false;
    };
    items.len() <= limits.tags && items.iter().all(|tag| is_tag(tag, profile))
}

fn is_tag(tag: &Json, profile: Profile) -> bool {
    let Json::Array(items) = tag else {
        return false;
    };
    let strings = items.iter().all(|item| matches!(item, Json::String(_)));
    strings && (profile.empty_tags || !items.is_empty())
}

fn hexadecimal(value: &Json, digits: usize, profile: Profile) -> Option<String> {
    let Json::String(text) = value else {
        return None;
    };
    let text: String = text
        .iter()
        .map(|unit| char::from_u32(*unit))
        .collect::<Option<_>>()?;
    let is_digit = |digit: char| match digit {
        '0'..='9' | 'a'..='f' => true,
        'A'..='F' => profile.upper_case_hex,
        _ => false,
    };
    (text.len() == digits && text.chars().all(is_digit)).then(|| text.to_ascii_lowercase())
}

fn integer(value: &Json, max: u64, profile: Profile) -> Option<u64> {
    let Json::Number(text) = value else {
        return None;
    };
    let value = match text.parse::<u64>() {
        Ok(value) => value,
        Err(_) if text.bytes().all(|byte| byte.is_ascii_digit()) => return None,
        Err(_) if !profile.whole_floats => return None,
        Err(_) => {
            let value: f64 = text.parse().ok()?;
            let whole =
                value.fract() == 0.0 && !text.starts_with('-') && value < (1_u64 << 53) as f64;
            if !whole {
                return None;
            }
            value as u64
        }
    };
    (value <= max).then_some(value)
}
