//! Bech32 (BIP-173), without the limit of 90 characters.

const CHARACTERS: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// The checksum of BIP-173: the remainder of the values as a polynomial over GF(32).
fn polymod(values: &[u8]) -> u32 {
    let generator = [
        0x3b6a_57b2,
        0x2650_8e6d,
        0x1ea1_19fa,
        0x3d42_33dd,
        0x2a14_62b3,
    ];
    let mut remainder: u32 = 1;
    for value in values {
        let top = remainder >> 25;
        remainder = (remainder & 0x01ff_ffff) << 5 ^ u32::from(*value);
        for (bit, factor) in generator.iter().enumerate() {
            if top >> bit & 1 == 1 {
                remainder ^= factor;
            }
        }
    }
    remainder
}

/// Expands the prefix for the checksum.
fn expand(prefix: &str) -> Vec<u8> {
    let high = prefix.bytes().map(|byte| byte >> 5);
    let low = prefix.bytes().map(|byte| byte & 31);
    high.chain([0]).chain(low).collect()
}

/// Converts groups of `from` bits to groups of `to` bits. Also returns the number and the value of
/// the remaining bits.
fn regroup(values: &[u8], from: u32, to: u32) -> (Vec<u8>, u32, u32) {
    let (mut out, mut bits, mut held) = (Vec::new(), 0, 0_u32);
    for value in values {
        held = held << from | u32::from(*value);
        bits += from;
        while bits >= to {
            bits -= to;
            out.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    (out, bits, held)
}

/// Encodes `bytes` with a prefix, which must be in lower case.
#[must_use]
pub fn encode(prefix: &str, bytes: &[u8]) -> String {
    let (mut values, bits, held) = regroup(bytes, 8, 5);
    if bits > 0 {
        values.push((held << (5 - bits)) as u8);
    }
    let checksum = polymod(&[expand(prefix), values.clone(), vec![0; 6]].concat()) ^ 1;
    values.extend((0..6).map(|at| (checksum >> (5 * (5 - at)) & 31) as u8));
    let characters = values
        .iter()
        .map(|value| char::from(CHARACTERS.as_bytes()[usize::from(*value)]));
    format!("{prefix}1{}", characters.collect::<String>())
}

/// Decodes text to the prefix, in lower case, and the bytes. `None` if the text is invalid.
#[must_use]
pub fn decode(text: &str) -> Option<(String, Vec<u8>)> {
    let lower = text.to_ascii_lowercase();
    if text != lower && text != text.to_ascii_uppercase() {
        return None;
    }
    let (prefix, data) = lower.rsplit_once('1')?;
    if prefix.is_empty() || !prefix.bytes().all(|byte| (33..=126).contains(&byte)) {
        return None;
    }
    let value = |character| CHARACTERS.find(character).map(|at| at as u8);
    let values = data.chars().map(value).collect::<Option<Vec<_>>>()?;
    if values.len() < 6 || polymod(&[expand(prefix), values.clone()].concat()) != 1 {
        return None;
    }
    let (bytes, bits, held) = regroup(&values[..values.len() - 6], 5, 8);
    (bits <= 4 && held == 0).then(|| (prefix.to_owned(), bytes))
}
