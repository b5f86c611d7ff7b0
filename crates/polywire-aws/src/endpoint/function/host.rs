//! `isValidHostLabel` and `aws.isVirtualHostableS3Bucket`.

/// Whether `text` is a label of a host name (RFC 1123, section 2.1), or with `allow_dots` several labels.
pub(in crate::endpoint) fn is_host_label(text: &str, allow_dots: bool) -> bool {
    match allow_dots {
        true => text.split('.').all(is_label),
        false => is_label(text),
    }
}

fn is_label(label: &str) -> bool {
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=63).contains(&label.len())
        && label.bytes().all(is_inside)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Whether a bucket of S3 can be part of a host name: 3 to 63 characters, labels in lower case, no IPv4 address.
pub(in crate::endpoint) fn is_virtual_hostable_bucket(text: &str, allow_dots: bool) -> bool {
    (3..=63).contains(&text.len())
        && !text.bytes().any(|byte| byte.is_ascii_uppercase())
        && is_host_label(text, allow_dots)
        && !is_ipv4_like(text)
}

/// Four groups of digits, also if they are too large for an address.
fn is_ipv4_like(text: &str) -> bool {
    let is_number = |group: &str| {
        (1..=3).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split('.').count() == 4 && text.split('.').all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_up_to_63_letters_digits_and_inner_hyphens() {
        for text in ["a", "3aws4", "us-east-1", &"a".repeat(63)] {
            assert!(is_host_label(text, false), "{text}");
        }
        for text in [
            "",
            "-a",
            "a-",
            "a b",
            "a.b",
            "a_b",
            "\u{e9}",
            &"a".repeat(64),
        ] {
            assert!(!is_host_label(text, false), "{text}");
        }
        assert!(is_host_label("a.b", true));
        for text in ["a.", ".a", "a..b", "a.-b"] {
            assert!(!is_host_label(text, true), "{text}");
        }
    }

    #[test]
    fn buckets_in_hosts_are_in_lower_case_and_no_addresses() {
        assert!(is_virtual_hostable_bucket("my-bucket", false));
        assert!(is_virtual_hostable_bucket("my.bucket", true));
        for text in ["ab", "Bucket", "my.bucket", &"a".repeat(64)] {
            assert!(!is_virtual_hostable_bucket(text, false), "{text}");
        }
        for text in ["192.168.1.1", "999.9.9.9"] {
            assert!(!is_virtual_hostable_bucket(text, true), "{text}");
        }
    }
}
