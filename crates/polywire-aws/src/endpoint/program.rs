//! The compiled form of rule sets: parameters and variables are numbers of slots, templates are split, and functions
//! and attributes are enums.

use super::value::Type;

/// The number of a parameter or variable.
pub(super) type Slot = u16;

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Boolean(bool),
    Call(Function, Box<[Expression]>),
    /// `getAttr`: an attribute, an item of an array, or an item of an attribute.
    GetAttribute(Box<Expression>, Option<Key>, Option<usize>),
    Integer(i64),
    Slot(Slot),
    Template(Box<[Part]>),
    Text(Box<str>),
    /// An array of strings.
    Texts(Box<[Expression]>),
}

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(Box<str>),
    Value(Expression),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Function {
    BooleanEquals,
    Coalesce,
    IsSet,
    IsValidHostLabel,
    IsVirtualHostableS3Bucket,
    Ite,
    Not,
    ParseArn,
    ParseUrl,
    Partition,
    Split,
    StringEquals,
    Substring,
    UriEncode,
}

impl Function {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "aws.isVirtualHostableS3Bucket" => Self::IsVirtualHostableS3Bucket,
            "aws.parseArn" => Self::ParseArn,
            "aws.partition" => Self::Partition,
            "booleanEquals" => Self::BooleanEquals,
            "coalesce" => Self::Coalesce,
            "isSet" => Self::IsSet,
            "isValidHostLabel" => Self::IsValidHostLabel,
            "ite" => Self::Ite,
            "not" => Self::Not,
            "parseURL" => Self::ParseUrl,
            "split" => Self::Split,
            "stringEquals" => Self::StringEquals,
            "substring" => Self::Substring,
            "uriEncode" => Self::UriEncode,
            _ => return None,
        })
    }

    /// Whether the function is `false` for absent arguments, while others are absent too.
    pub(super) fn is_equality(self) -> bool {
        matches!(self, Self::BooleanEquals | Self::StringEquals)
    }

    /// Whether the result is a boolean.
    pub(super) fn is_predicate(self) -> bool {
        matches!(
            self,
            Self::BooleanEquals
                | Self::IsSet
                | Self::IsValidHostLabel
                | Self::IsVirtualHostableS3Bucket
                | Self::Not
                | Self::StringEquals
        )
    }

    /// The types of the arguments, the type of the result, and whether it may be absent. `None` for functions whose
    /// types depend on their arguments.
    pub(super) fn signature(self) -> Option<(&'static [Type], Type, bool)> {
        use Type::{Arn, Boolean, Integer, Partition, Text, Texts, Url};
        Some(match self {
            Self::BooleanEquals => (&[Boolean, Boolean], Boolean, false),
            Self::Coalesce | Self::IsSet | Self::Ite => return None,
            Self::IsValidHostLabel | Self::IsVirtualHostableS3Bucket => {
                (&[Text, Boolean], Boolean, false)
            }
            Self::Not => (&[Boolean], Boolean, false),
            Self::ParseArn => (&[Text], Arn, true),
            Self::ParseUrl => (&[Text], Url, true),
            Self::Partition => (&[Text], Partition, true),
            Self::Split => (&[Text, Text, Integer], Texts, false),
            Self::StringEquals => (&[Text, Text], Boolean, false),
            Self::Substring => (&[Text, Integer, Integer, Boolean], Text, true),
            Self::UriEncode => (&[Text], Text, false),
        })
    }
}

/// An attribute of an ARN, a partition or a URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Key {
    ArnAccountId,
    ArnPartition,
    ArnRegion,
    ArnResource,
    ArnService,
    DnsSuffix,
    DualStackDnsSuffix,
    ImplicitGlobalRegion,
    PartitionName,
    SupportsDualStack,
    SupportsFips,
    UrlAuthority,
    UrlIsIp,
    UrlNormalizedPath,
    UrlPath,
    UrlScheme,
}

impl Key {
    /// The attribute `name` of values of the type `of`, and its type.
    pub(super) fn from_name(of: Type, name: &str) -> Option<(Self, Type)> {
        Some(match (of, name) {
            (Type::Arn, "accountId") => (Self::ArnAccountId, Type::Text),
            (Type::Arn, "partition") => (Self::ArnPartition, Type::Text),
            (Type::Arn, "region") => (Self::ArnRegion, Type::Text),
            (Type::Arn, "resourceId") => (Self::ArnResource, Type::Texts),
            (Type::Arn, "service") => (Self::ArnService, Type::Text),
            (Type::Partition, "dnsSuffix") => (Self::DnsSuffix, Type::Text),
            (Type::Partition, "dualStackDnsSuffix") => (Self::DualStackDnsSuffix, Type::Text),
            (Type::Partition, "implicitGlobalRegion") => (Self::ImplicitGlobalRegion, Type::Text),
            (Type::Partition, "name") => (Self::PartitionName, Type::Text),
            (Type::Partition, "supportsDualStack") => (Self::SupportsDualStack, Type::Boolean),
            (Type::Partition, "supportsFIPS") => (Self::SupportsFips, Type::Boolean),
            (Type::Url, "authority") => (Self::UrlAuthority, Type::Text),
            (Type::Url, "isIp") => (Self::UrlIsIp, Type::Boolean),
            (Type::Url, "normalizedPath") => (Self::UrlNormalizedPath, Type::Text),
            (Type::Url, "path") => (Self::UrlPath, Type::Text),
            (Type::Url, "scheme") => (Self::UrlScheme, Type::Text),
            _ => return None,
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) test: Expression,
    pub(super) assign: Option<Slot>,
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) conditions: Box<[Condition]>,
    pub(super) outcome: Outcome,
}

#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Endpoint(Box<EndpointTemplate>),
    Error(Expression),
    Tree(Box<[Rule]>),
}

/// Members of an object, in the order of the document.
pub(super) type Members<T> = Box<[(Box<str>, T)]>;

#[derive(Clone, Debug)]
pub(super) struct EndpointTemplate {
    pub(super) url: Expression,
    pub(super) headers: Members<Box<[Expression]>>,
    pub(super) properties: Members<PropertyTemplate>,
}

#[derive(Clone, Debug)]
pub(super) enum PropertyTemplate {
    Array(Box<[PropertyTemplate]>),
    Boolean(bool),
    Integer(i64),
    Record(Members<PropertyTemplate>),
    Text(Expression),
}

/// What a rule set evaluates.
#[derive(Clone, Debug)]
pub(super) enum Body {
    Diagram(super::diagram::Diagram),
    Tree(Box<[Rule]>),
}
