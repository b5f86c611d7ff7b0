//! Signature Version 4, slow and readable, from the text of the specification: "Create a signed AWS
//! API request", AWS Identity and Access Management user guide.

use sha2::{Digest as _, Sha256};

/// A request to sign. Header names may repeat and have any case.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) payload: String,
    pub(crate) is_s3: bool,
}

pub(crate) fn canonical_request(input: &Input) -> String {
    let headers = canonical_headers(&input.headers);
    let lines: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
    [
        input.method.clone(),
        if input.is_s3 {
            s3_path(&input.path)
        } else {
            path(&input.path)
        },
        query(&input.query),
        lines.concat(),
        names.join(";"),
        input.payload.clone(),
    ]
    .join("\n")
}

pub(crate) fn signature(input: &Input, secret: &str, time: &str, scope: &str) -> String {
    let hash = hex(&Sha256::digest(canonical_request(input)));
    let string_to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hash}");
    let mut key = format!("AWS4{secret}").into_bytes();
    for part in scope.split('/') {
        key = hmac(&key, part.as_bytes());
    }
    hex(&hmac(&key, string_to_sign.as_bytes()))
}

/// RFC 2104.
fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = if key.len() > 64 {
        Sha256::digest(key).to_vec()
    } else {
        key.to_vec()
    };
    block.resize(64, 0);
    let padded = |pad: u8, message: &[u8]| {
        let mut input: Vec<u8> = block.iter().map(|byte| byte ^ pad).collect();
        input.extend(message);
        Sha256::digest(input).to_vec()
    };
    padded(0x5c, &padded(0x36, message))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `UriEncode` of the specification. `keep` are further characters that stay.
fn encode(bytes: &[u8], keep: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) || keep.contains(byte) {
            out.push(char::from(*byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The value of the escape at the start of `text`, if there is one.
fn escape(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"%")?.get(..2)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

/// Encodes once what is not encoded yet.
fn s3_path(path: &str) -> String {
    if path.is_empty() {
        return "/".to_owned();
    }
    let bytes = path.as_bytes();
    let mut out = String::new();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(byte) = escape(&bytes[at..]) {
            out.push_str(&encode(&[byte], b""));
            at += 3;
        } else {
            out.push_str(&encode(&bytes[at..=at], b"/"));
            at += 1;
        }
    }
    out
}

/// Normalises, then encodes the encoded path again.
fn path(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut is_folder = false;
    for segment in path.split('/') {
        is_folder = matches!(segment, "" | "." | "..");
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    let mut normal = format!("/{}", segments.join("/"));
    if is_folder && !segments.is_empty() {
        normal.push('/');
    }
    encode(normal.as_bytes(), b"/")
}

/// Names and values, decoded and encoded again, in the order of their encoded forms.
fn query(query: &str) -> String {
    let parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    let mut parameters: Vec<(String, String)> = parameters
        .map(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            (encode(&decode(name), b""), encode(&decode(value), b""))
        })
        .collect();
    parameters.sort();
    let parameters = parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    parameters.collect::<Vec<_>>().join("&")
}

/// A text with an invalid escape is not encoded at all.
fn decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], escape(&bytes[at..])) {
            (b'%', None) => return bytes.to_vec(),
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    out
}

/// One line for each name; values of the same name are separated by commas.
fn canonical_headers(headers: &[(String, String)]) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for (name, value) in headers {
        let name = name.to_lowercase();
        let words = value.trim_matches([' ', '\t']).split(' ');
        let value = words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        match lines.iter_mut().find(|(other, _)| *other == name) {
            Some((_, values)) => *values = format!("{values},{value}"),
            None => lines.push((name, value)),
        }
    }
    lines.sort();
    lines
}
