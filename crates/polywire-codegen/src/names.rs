//! Conversion of Smithy names to idiomatic Rust names.

use std::collections::BTreeSet;

/// `CamelCase`, for types and variants.
///
/// An acronym is one word: `CORSRule` becomes `CorsRule`. Digits separated by an underscore stay
/// separate: `x86_64` becomes `X86_64`.
pub(crate) fn camel(name: &str) -> String {
    let mut camel = String::new();
    for word in words(name) {
        if camel.ends_with(|c: char| c.is_ascii_digit())
            && word.starts_with(|c: char| c.is_ascii_digit())
        {
            camel.push('_');
        }
        let mut characters = word.chars();
        camel.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        camel.extend(characters.map(|rest| rest.to_ascii_lowercase()));
    }
    match camel.chars().next() {
        None => "Empty".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("V{camel}"),
        Some(_) if camel == "Self" => "SelfValue".to_owned(),
        Some(_) => camel,
    }
}

/// `snake_case`, for fields, methods and modules. A keyword becomes a raw identifier, or gets a
/// trailing underscore if it cannot be raw.
pub(crate) fn snake(name: &str) -> String {
    let snake = plain_snake(name);
    match snake.as_str() {
        "crate" | "self" | "super" => format!("{snake}_"),
        _ if KEYWORDS.contains(&snake.as_str()) => format!("r#{snake}"),
        _ => snake,
    }
}

/// Like [`snake`], without escaping keywords. For parts of longer names.
pub(crate) fn plain_snake(name: &str) -> String {
    let words: Vec<String> = words(name)
        .into_iter()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    let snake = words.join("_");
    match snake.chars().next() {
        None => "empty".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{snake}"),
        Some(_) => snake,
    }
}

/// The keywords of all editions, except those that cannot be raw identifiers.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Names whose word boundaries do not follow from their capitals, with their words.
const KNOWN: [(&str, &[&str]); 7] = [
    ("ETag", &["Etag"]),
    ("IPv4", &["Ipv4"]),
    ("IPv6", &["Ipv6"]),
    ("OAuth", &["Oauth"]),
    ("SSEKMS", &["Sse", "Kms"]),
    ("SSEC", &["Sse", "C"]),
    ("DNSSEC", &["Dnssec"]),
];

/// Splits a name into words: at characters other than letters and digits, before a capital after a
/// lower-case letter, and before the last capital of an acronym if a lower-case letter follows.
fn words(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = name;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        rest = &rest[start..];
        let known = KNOWN.iter().find(|(known, _)| {
            rest.strip_prefix(known)
                .is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_lowercase()))
        });
        let len = match known {
            Some((known, spelled)) => {
                words.extend_from_slice(spelled);
                known.len()
            }
            None => {
                let len = word(rest.as_bytes());
                words.push(&rest[..len]);
                len
            }
        };
        rest = &rest[len..];
    }
    words
}

/// Returns the length of the first word.
fn word(name: &[u8]) -> usize {
    let class = |at: usize| name.get(at).copied().unwrap_or(b'_');
    let mut at = 0;
    let capitals = name
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        .count();
    let is_plural = capitals > 1
        && class(capitals) == b's'
        && !class(capitals + 1).is_ascii_lowercase()
        && class(capitals - 1).is_ascii_uppercase();
    if is_plural {
        return capitals + 1;
    }
    if class(0).is_ascii_uppercase() {
        if capitals > 1 && class(capitals).is_ascii_lowercase() {
            // The last capital starts the next word, unless it is the first letter.
            let last = (0..capitals)
                .rev()
                .find(|at| class(*at).is_ascii_uppercase())
                .unwrap_or(0);
            if last + 1 == capitals && last > 0 {
                return last;
            }
        } else if capitals > 1 {
            return capitals;
        }
        at = 1;
    }
    while class(at).is_ascii_lowercase() || class(at).is_ascii_digit() {
        at += 1;
    }
    at.max(1)
}

/// The names that are used in a scope.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    taken: BTreeSet<String>,
}

impl Scope {
    pub(crate) fn with(taken: &[&str]) -> Self {
        Self {
            taken: taken.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// Returns the first unused candidate, or else the last one with a number appended. The first
    /// caller gets the plain name, so names are stable as long as the order of calls is.
    pub(crate) fn claim(&mut self, candidates: &[String]) -> String {
        for candidate in candidates {
            if self.taken.insert(candidate.clone()) {
                return candidate.clone();
            }
        }
        let last = candidates.last().map_or("", String::as_str);
        let bare = last.strip_prefix("r#").unwrap_or(last);
        let mut number = 2;
        loop {
            let candidate = format!("{bare}{number}");
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_names() {
        for (name, camel_name, snake_name) in [
            ("cityId", "CityId", "city_id"),
            ("CORSRule", "CorsRule", "cors_rule"),
            ("ETag", "Etag", "etag"),
            ("SSEKMSKeyId", "SseKmsKeyId", "sse_kms_key_id"),
            (
                "SSECustomerKeyMD5",
                "SseCustomerKeyMd5",
                "sse_customer_key_md5",
            ),
            ("MFADelete", "MfaDelete", "mfa_delete"),
            ("ChecksumCRC32C", "ChecksumCrc32c", "checksum_crc32c"),
            (
                "ChecksumCRC64NVME",
                "ChecksumCrc64nvme",
                "checksum_crc64nvme",
            ),
            ("IPv6Address", "Ipv6Address", "ipv6_address"),
            ("VpcIds", "VpcIds", "vpc_ids"),
            ("VPCIDs", "Vpcids", "vpcids"),
            ("SubnetIDs", "SubnetIds", "subnet_ids"),
            ("STANDARD_IA", "StandardIa", "standard_ia"),
            ("x86_64", "X86_64", "x86_64"),
            (
                "s3_ObjectCreated_Put",
                "S3ObjectCreatedPut",
                "s3_object_created_put",
            ),
            ("S3KeyPrefix", "S3KeyPrefix", "s3_key_prefix"),
            ("EC2", "Ec2", "ec2"),
            ("KMSMasterKeyID", "KmsMasterKeyId", "kms_master_key_id"),
            ("type", "Type", "r#type"),
            ("self", "SelfValue", "self_"),
            ("Self", "SelfValue", "self_"),
            ("async", "Async", "r#async"),
            ("_2xx", "V2xx", "n2xx"),
            ("A", "A", "a"),
            ("AB", "Ab", "ab"),
            ("aB", "AB", "a_b"),
            ("__", "Empty", "empty"),
            ("nodejs20_x", "Nodejs20X", "nodejs20_x"),
            ("t1_micro", "T1Micro", "t1_micro"),
            ("java8_al2", "Java8Al2", "java8_al2"),
            ("v1_2_3", "V1_2_3", "v1_2_3"),
        ] {
            assert_eq!(camel(name), camel_name, "{name}");
            assert_eq!(snake(name), snake_name, "{name}");
        }
    }

    #[test]
    fn clashes_are_resolved_in_order() {
        let mut scope = Scope::with(&["Option"]);
        let mut claim = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            scope.claim(&names)
        };
        assert_eq!(claim(&["City"]), "City");
        assert_eq!(claim(&["City"]), "City2");
        assert_eq!(claim(&["City"]), "City3");
        assert_eq!(claim(&["Option", "OptionShape"]), "OptionShape");
        assert_eq!(claim(&["r#type"]), "r#type");
        assert_eq!(claim(&["r#type"]), "type2");
    }
}
