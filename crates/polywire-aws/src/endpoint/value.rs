//! Values during an evaluation.

use std::borrow::Cow;
use std::rc::Rc;

use super::Partition;
use super::function::{Arn, Url};
use super::program::Key;

/// The static type of an expression.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Type {
    Arn,
    Boolean,
    Integer,
    Partition,
    Text,
    Texts,
    Url,
}

impl Type {
    /// The name in errors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Arn => "ARN",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Partition => "partition",
            Self::Text => "string",
            Self::Texts => "array of strings",
            Self::Url => "URL",
        }
    }
}

/// A value. Texts are borrowed from the arguments or the rule set where possible, so that cloning costs little.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Absent,
    Arn(Rc<Arn<'a>>),
    Boolean(bool),
    Integer(i64),
    Partition(&'a Partition),
    Text(Cow<'a, str>),
    Texts(Rc<[Cow<'a, str>]>),
    Url(Rc<Url<'a>>),
}

impl<'a> Value<'a> {
    /// Whether a condition with this result matches: all but an absent value and `false`.
    pub(super) fn is_match(&self) -> bool {
        !matches!(self, Self::Absent | Self::Boolean(false))
    }

    /// The attribute `key` of an ARN, a partition or a URL; absent if the value has none.
    pub(super) fn attribute(&self, key: Key) -> Self {
        match (self, key) {
            (Self::Arn(arn), Key::ArnResource) => Self::Texts(Rc::clone(&arn.resource)),
            (Self::Partition(partition), Key::SupportsFips) => {
                Self::Boolean(partition.supports_fips)
            }
            (Self::Partition(partition), Key::SupportsDualStack) => {
                Self::Boolean(partition.supports_dual_stack)
            }
            (Self::Partition(partition), _) => match partition_text(partition, key) {
                Some(text) => Self::Text(Cow::Borrowed(text)),
                None => Self::Absent,
            },
            (Self::Url(url), Key::UrlIsIp) => Self::Boolean(url.is_ip),
            (Self::Url(url), _) => url
                .text(key)
                .map_or(Self::Absent, |text| Self::Text(text.clone())),
            (Self::Arn(arn), _) => arn
                .text(key)
                .map_or(Self::Absent, |text| Self::Text(text.clone())),
            _ => Self::Absent,
        }
    }

    /// The same as [`Self::attribute`] for attributes that are texts, without a copy.
    pub(super) fn attribute_text(&self, key: Key) -> Option<&str> {
        match self {
            Self::Arn(arn) => arn.text(key).map(|text| &**text),
            Self::Partition(partition) => partition_text(partition, key),
            Self::Url(url) => url.text(key).map(|text| &**text),
            _ => None,
        }
    }

    pub(super) fn item(&self, index: usize) -> Self {
        match self {
            Self::Texts(items) => items
                .get(index)
                .map_or(Self::Absent, |text| Self::Text(text.clone())),
            _ => Self::Absent,
        }
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn partition_text(partition: &Partition, key: Key) -> Option<&str> {
    match key {
        Key::DnsSuffix => Some(&partition.dns_suffix),
        Key::DualStackDnsSuffix => Some(&partition.dual_stack_dns_suffix),
        Key::ImplicitGlobalRegion => partition.implicit_global_region.as_deref(),
        Key::PartitionName => Some(&partition.name),
        _ => None,
    }
}
