//! `aws.parseArn`.

use std::borrow::Cow;
use std::rc::Rc;

use super::part;
use crate::endpoint::program::Key;

/// The parts of an Amazon Resource Name, `arn:partition:service:region:account:resource`.
#[derive(Clone, Debug)]
pub(in crate::endpoint) struct Arn<'a> {
    partition: Cow<'a, str>,
    service: Cow<'a, str>,
    region: Cow<'a, str>,
    account_id: Cow<'a, str>,
    /// The resource, split at `:` and `/`.
    pub(in crate::endpoint) resource: Rc<[Cow<'a, str>]>,
}

impl<'a> Arn<'a> {
    /// `None` if `text` is no ARN: partition, service and resource must not be empty.
    pub(in crate::endpoint) fn parse(text: &Cow<'a, str>) -> Option<Self> {
        let mut start = 0;
        let mut next = || {
            let from = start;
            let end = from + text[from..].find(':')?;
            start = end + 1;
            Some(from..end)
        };
        let (prefix, partition, service) = (next()?, next()?, next()?);
        let (region, account_id) = (next()?, next()?);
        if &text[prefix] != "arn" || partition.is_empty() || service.is_empty() {
            return None;
        }
        if start == text.len() {
            return None;
        }
        let mut resource = Vec::new();
        let mut from = start;
        for (index, byte) in text.bytes().enumerate().skip(start) {
            if matches!(byte, b':' | b'/') {
                resource.push(part(text, from..index));
                from = index + 1;
            }
        }
        resource.push(part(text, from..text.len()));
        Some(Self {
            partition: part(text, partition),
            service: part(text, service),
            region: part(text, region),
            account_id: part(text, account_id),
            resource: resource.into(),
        })
    }

    pub(in crate::endpoint) fn text(&self, key: Key) -> Option<&Cow<'a, str>> {
        match key {
            Key::ArnAccountId => Some(&self.account_id),
            Key::ArnPartition => Some(&self.partition),
            Key::ArnRegion => Some(&self.region),
            Key::ArnService => Some(&self.service),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<String> {
        let arn = Arn::parse(&Cow::Borrowed(text))?;
        let parts = [&arn.partition, &arn.service, &arn.region, &arn.account_id];
        let head: Vec<&str> = parts.iter().map(|text| &***text).collect();
        Some(format!("{} {}", head.join(","), arn.resource.join("|")))
    }

    #[test]
    fn resources_are_split() {
        assert_eq!(
            parse("arn:aws:ec2:us-east-1:012345678910:vpc/vpc-0e9801d129EXAMPLE").as_deref(),
            Some("aws,ec2,us-east-1,012345678910 vpc|vpc-0e9801d129EXAMPLE")
        );
        assert_eq!(
            parse("arn:aws:s3:::bucket:a/").as_deref(),
            Some("aws,s3,, bucket|a|")
        );
    }

    #[test]
    fn other_texts_are_no_arns() {
        for text in [
            "",
            "11111111-2222",
            "arn:aws:s3::",
            "arn:aws:s3:::",
            "arn::s3:::a",
            "arn:aws::::a",
            "ARN:aws:s3:::a",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
