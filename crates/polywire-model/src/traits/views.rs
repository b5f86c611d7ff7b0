//! Typed views of the traits that protocols need.

use super::Traits;
use crate::ids;
use crate::node::{Node, Number};
use crate::uri::UriPattern;

/// Typed views. Without the trait they are `None` or `false`, unless the documentation says
/// otherwise.
impl Traits {
    fn text(&self, id: &str) -> Option<&str> {
        self.get(id)?.as_str()
    }

    /// `@documentation`: text in CommonMark.
    #[must_use]
    pub fn documentation(&self) -> Option<&str> {
        self.text(ids::DOCUMENTATION)
    }

    /// `@title`: the human-readable name of a service.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.text(ids::TITLE)
    }

    /// `@required`
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.has(ids::REQUIRED)
    }

    /// `@default`: the value, which can be null.
    #[must_use]
    pub fn default_value(&self) -> Option<&Node> {
        self.get(ids::DEFAULT)
    }

    /// `@clientOptional`
    #[must_use]
    pub fn is_client_optional(&self) -> bool {
        self.has(ids::CLIENT_OPTIONAL)
    }

    /// `@sparse`: the list or map can contain nulls.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.has(ids::SPARSE)
    }

    /// `@input`
    #[must_use]
    pub fn is_input(&self) -> bool {
        self.has(ids::INPUT)
    }

    /// `@output`
    #[must_use]
    pub fn is_output(&self) -> bool {
        self.has(ids::OUTPUT)
    }

    /// `@mixin`
    #[must_use]
    pub fn is_mixin(&self) -> bool {
        self.has(ids::MIXIN)
    }

    /// `@trait`: the shape defines a trait.
    #[must_use]
    pub fn is_trait_definition(&self) -> bool {
        self.has(ids::TRAIT)
    }

    /// `@error`: whether the client or the server caused the error.
    #[must_use]
    pub fn error(&self) -> Option<ErrorKind> {
        match self.text(ids::ERROR)? {
            "client" => Some(ErrorKind::Client),
            "server" => Some(ErrorKind::Server),
            _ => None,
        }
    }

    /// `@retryable`, and whether the error is due to throttling.
    #[must_use]
    pub fn retryable(&self) -> Option<Retryable> {
        let value = self.get(ids::RETRYABLE)?;
        let throttling = value
            .get("throttling")
            .and_then(Node::as_bool)
            .unwrap_or(false);
        Some(Retryable { throttling })
    }

    /// `@readonly`
    #[must_use]
    pub fn is_readonly(&self) -> bool {
        self.has(ids::READONLY)
    }

    /// `@idempotent`
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.has(ids::IDEMPOTENT)
    }

    /// `@idempotencyToken`
    #[must_use]
    pub fn is_idempotency_token(&self) -> bool {
        self.has(ids::IDEMPOTENCY_TOKEN)
    }

    /// `@sensitive`
    #[must_use]
    pub fn is_sensitive(&self) -> bool {
        self.has(ids::SENSITIVE)
    }

    /// `@streaming`: a blob or union that is not read into memory as a whole.
    #[must_use]
    pub fn is_streaming(&self) -> bool {
        self.has(ids::STREAMING)
    }

    /// `@requiresLength`
    #[must_use]
    pub fn requires_length(&self) -> bool {
        self.has(ids::REQUIRES_LENGTH)
    }

    /// `@uniqueItems`
    #[must_use]
    pub fn has_unique_items(&self) -> bool {
        self.has(ids::UNIQUE_ITEMS)
    }

    /// `@deprecated`
    #[must_use]
    pub fn deprecated(&self) -> Option<Deprecated<'_>> {
        let value = self.get(ids::DEPRECATED)?;
        Some(Deprecated {
            message: value.get("message").and_then(Node::as_str),
            since: value.get("since").and_then(Node::as_str),
        })
    }

    /// `@enumValue`: a string for a member of an enum, a number for a member of an intEnum.
    #[must_use]
    pub fn enum_value(&self) -> Option<&Node> {
        self.get(ids::ENUM_VALUE)
    }

    /// `@length`
    #[must_use]
    pub fn length(&self) -> Option<LengthTrait> {
        LengthTrait::of(self.get(ids::LENGTH)?)
    }

    /// `@range`
    #[must_use]
    pub fn range(&self) -> Option<RangeTrait<'_>> {
        RangeTrait::of(self.get(ids::RANGE)?)
    }

    /// `@pattern`: a regular expression of ECMA 262.
    #[must_use]
    pub fn pattern(&self) -> Option<&str> {
        self.text(ids::PATTERN)
    }

    /// `@mediaType`
    #[must_use]
    pub fn media_type(&self) -> Option<&str> {
        self.text(ids::MEDIA_TYPE)
    }

    /// `@timestampFormat`
    #[must_use]
    pub fn timestamp_format(&self) -> Option<TimestampFormat> {
        match self.text(ids::TIMESTAMP_FORMAT)? {
            "date-time" => Some(TimestampFormat::DateTime),
            "epoch-seconds" => Some(TimestampFormat::EpochSeconds),
            "http-date" => Some(TimestampFormat::HttpDate),
            _ => None,
        }
    }

    /// `@jsonName`
    #[must_use]
    pub fn json_name(&self) -> Option<&str> {
        self.text(ids::JSON_NAME)
    }

    /// `@xmlName`
    #[must_use]
    pub fn xml_name(&self) -> Option<&str> {
        self.text(ids::XML_NAME)
    }

    /// `@xmlAttribute`
    #[must_use]
    pub fn is_xml_attribute(&self) -> bool {
        self.has(ids::XML_ATTRIBUTE)
    }

    /// `@xmlFlattened`
    #[must_use]
    pub fn is_xml_flattened(&self) -> bool {
        self.has(ids::XML_FLATTENED)
    }

    /// `@xmlNamespace`
    #[must_use]
    pub fn xml_namespace(&self) -> Option<XmlNamespace<'_>> {
        let value = self.get(ids::XML_NAMESPACE)?;
        Some(XmlNamespace {
            uri: value.get("uri")?.as_str()?,
            prefix: value.get("prefix").and_then(Node::as_str),
        })
    }

    /// `@http`
    #[must_use]
    pub fn http(&self) -> Option<HttpTrait<'_>> {
        let value = self.get(ids::HTTP)?;
        let code = value.get("code").and_then(Node::as_i64).unwrap_or(200);
        Some(HttpTrait {
            method: value.get("method")?.as_str()?,
            uri: UriPattern::parse(value.get("uri")?.as_str()?).ok()?,
            code: u16::try_from(code).ok()?,
        })
    }

    /// `@httpError`: the status of an error.
    #[must_use]
    pub fn http_error(&self) -> Option<u16> {
        u16::try_from(self.get(ids::HTTP_ERROR)?.as_i64()?).ok()
    }

    /// `@httpHeader`: the name of the header.
    #[must_use]
    pub fn http_header(&self) -> Option<&str> {
        self.text(ids::HTTP_HEADER)
    }

    /// `@httpPrefixHeaders`: the prefix, which can be empty.
    #[must_use]
    pub fn http_prefix_headers(&self) -> Option<&str> {
        self.text(ids::HTTP_PREFIX_HEADERS)
    }

    /// `@httpQuery`: the name of the parameter.
    #[must_use]
    pub fn http_query(&self) -> Option<&str> {
        self.text(ids::HTTP_QUERY)
    }

    /// `@httpQueryParams`: the map of all other parameters.
    #[must_use]
    pub fn is_http_query_params(&self) -> bool {
        self.has(ids::HTTP_QUERY_PARAMS)
    }

    /// `@httpLabel`
    #[must_use]
    pub fn is_http_label(&self) -> bool {
        self.has(ids::HTTP_LABEL)
    }

    /// `@httpPayload`
    #[must_use]
    pub fn is_http_payload(&self) -> bool {
        self.has(ids::HTTP_PAYLOAD)
    }

    /// `@httpResponseCode`
    #[must_use]
    pub fn is_http_response_code(&self) -> bool {
        self.has(ids::HTTP_RESPONSE_CODE)
    }

    /// `@httpChecksumRequired`
    #[must_use]
    pub fn is_http_checksum_required(&self) -> bool {
        self.has(ids::HTTP_CHECKSUM_REQUIRED)
    }

    /// `@aws.protocols#httpChecksum`
    #[must_use]
    pub fn http_checksum(&self) -> Option<HttpChecksum<'_>> {
        let own = self.get(ids::HTTP_CHECKSUM)?;
        let text = |name: &str| own.get(name).and_then(Node::as_str);
        let algorithms = own.get("responseAlgorithms").and_then(Node::as_array);
        Some(HttpChecksum {
            request_algorithm_member: text("requestAlgorithmMember"),
            request_checksum_required: own
                .get("requestChecksumRequired")
                .and_then(Node::as_bool)
                .unwrap_or_default(),
            request_validation_mode_member: text("requestValidationModeMember"),
            response_algorithms: algorithms
                .unwrap_or_default()
                .iter()
                .filter_map(Node::as_str)
                .collect(),
        })
    }

    /// `@requestCompression`: the encodings, the preferred one first.
    #[must_use]
    pub fn request_compression(&self) -> Option<Vec<&str>> {
        let encodings = self
            .get(ids::REQUEST_COMPRESSION)?
            .get("encodings")?
            .as_array()?;
        Some(encodings.iter().filter_map(Node::as_str).collect())
    }

    /// `@endpoint`: the host prefix, with labels in braces.
    #[must_use]
    pub fn endpoint_host_prefix(&self) -> Option<&str> {
        self.get(ids::ENDPOINT)?.get("hostPrefix")?.as_str()
    }

    /// `@hostLabel`
    #[must_use]
    pub fn is_host_label(&self) -> bool {
        self.has(ids::HOST_LABEL)
    }

    /// `@eventHeader`
    #[must_use]
    pub fn is_event_header(&self) -> bool {
        self.has(ids::EVENT_HEADER)
    }

    /// `@eventPayload`
    #[must_use]
    pub fn is_event_payload(&self) -> bool {
        self.has(ids::EVENT_PAYLOAD)
    }

    /// `@paginated`. On a service, these are defaults for its operations:
    /// [`Model::pagination`](crate::Model::pagination) merges both.
    #[must_use]
    pub fn paginated(&self) -> Option<Paginated<'_>> {
        let value = self.get(ids::PAGINATED)?;
        let text = |key| value.get(key).and_then(Node::as_str);
        Some(Paginated {
            input_token: text("inputToken"),
            output_token: text("outputToken"),
            items: text("items"),
            page_size: text("pageSize"),
        })
    }

    /// `@examples`
    #[must_use]
    pub fn examples(&self) -> Vec<Example<'_>> {
        let examples = self
            .get(ids::EXAMPLES)
            .and_then(Node::as_array)
            .unwrap_or_default();
        examples.iter().filter_map(Example::of).collect()
    }

    /// `@aws.protocols#awsQueryError`: the code and status of an error in query protocols.
    #[must_use]
    pub fn aws_query_error(&self) -> Option<AwsQueryError<'_>> {
        let value = self.get(ids::AWS_QUERY_ERROR)?;
        Some(AwsQueryError {
            code: value.get("code")?.as_str()?,
            http_response_code: u16::try_from(value.get("httpResponseCode")?.as_i64()?).ok()?,
        })
    }

    /// `@aws.protocols#awsQueryCompatible`
    #[must_use]
    pub fn is_aws_query_compatible(&self) -> bool {
        self.has(ids::AWS_QUERY_COMPATIBLE)
    }

    /// `noErrorWrapping` of `@aws.protocols#restXml`
    #[must_use]
    pub fn has_no_error_wrapping(&self) -> bool {
        let protocol = self.get(ids::REST_XML);
        let value = protocol.and_then(|protocol| protocol.get("noErrorWrapping"));
        value.and_then(Node::as_bool) == Some(true)
    }

    /// `@aws.protocols#ec2QueryName`
    #[must_use]
    pub fn ec2_query_name(&self) -> Option<&str> {
        self.text(ids::EC2_QUERY_NAME)
    }

    /// `@tags`. Empty without the trait.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.texts(ids::TAGS)
    }

    /// `@since`: the version or date at which the shape was added.
    #[must_use]
    pub fn since(&self) -> Option<&str> {
        self.text(ids::SINCE)
    }

    /// `@internal`: not for customers.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        self.has(ids::INTERNAL)
    }

    /// `@private`: for the namespace of the shape only.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.has(ids::PRIVATE)
    }

    /// `@unstable`: can change without notice.
    #[must_use]
    pub fn is_unstable(&self) -> bool {
        self.has(ids::UNSTABLE)
    }

    /// `@auth`: the ids of authentication schemes, the preferred one first. `None` without the
    /// trait, which differs from an empty list.
    #[must_use]
    pub fn auth(&self) -> Option<Vec<&str>> {
        self.get(ids::AUTH)?;
        Some(self.texts(ids::AUTH).collect())
    }

    /// `@optionalAuth`: calls without credentials are accepted, too.
    #[must_use]
    pub fn has_optional_auth(&self) -> bool {
        self.has(ids::OPTIONAL_AUTH)
    }

    /// `@aws.api#service`: the names of an AWS service.
    #[must_use]
    pub fn aws_service(&self) -> Option<AwsService<'_>> {
        let value = self.get(ids::AWS_SERVICE)?;
        let text = |key| value.get(key).and_then(Node::as_str);
        Some(AwsService {
            sdk_id: text("sdkId")?,
            arn_namespace: text("arnNamespace"),
            endpoint_prefix: text("endpointPrefix"),
        })
    }

    /// `@aws.auth#sigv4`: the service name in signatures.
    #[must_use]
    pub fn sigv4_name(&self) -> Option<&str> {
        self.get(ids::SIGV4)?.get("name")?.as_str()
    }

    fn texts(&self, id: &str) -> impl Iterator<Item = &str> {
        let items = self.get(id).and_then(Node::as_array);
        items.unwrap_or_default().iter().filter_map(Node::as_str)
    }

    /// `@polywire#xmlRpcMethod`: the method of an operation in XML-RPC.
    #[must_use]
    pub fn xml_rpc_method(&self) -> Option<XmlRpcMethod<'_>> {
        let value = self.get(ids::XML_RPC_METHOD)?;
        Some(XmlRpcMethod {
            name: value.get("name").and_then(Node::as_str),
            positional: value
                .get("positional")
                .and_then(Node::as_bool)
                .unwrap_or(false),
        })
    }
}

/// The side that caused an error.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ErrorKind {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// The format of a timestamp.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TimestampFormat {
    /// RFC 3339 in UTC: `1985-04-12T23:20:50.52Z`.
    DateTime,
    /// Seconds since 1970, with a fraction.
    EpochSeconds,
    /// IMF-fixdate: `Tue, 29 Apr 2014 18:30:38 GMT`.
    HttpDate,
}

/// `@aws.protocols#httpChecksum`: see [`Traits::http_checksum`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct HttpChecksum<'m> {
    /// `requestAlgorithmMember`.
    pub request_algorithm_member: Option<&'m str>,
    /// `requestChecksumRequired`.
    pub request_checksum_required: bool,
    /// `requestValidationModeMember`.
    pub request_validation_mode_member: Option<&'m str>,
    /// `responseAlgorithms`.
    pub response_algorithms: Vec<&'m str>,
}

/// `@http`
#[derive(Clone, Debug, PartialEq)]
pub struct HttpTrait<'m> {
    /// The method, such as `GET`.
    pub method: &'m str,
    /// The path and the literal query.
    pub uri: UriPattern,
    /// The status of a successful response. 200 by default.
    pub code: u16,
}

/// `@retryable`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retryable {
    /// Whether the error is due to throttling.
    pub throttling: bool,
}

/// `@deprecated`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Deprecated<'m> {
    /// What to use instead.
    pub message: Option<&'m str>,
    /// The version or date of the deprecation.
    pub since: Option<&'m str>,
}

/// `@length`: inclusive bounds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LengthTrait {
    /// The minimum.
    pub min: Option<u64>,
    /// The maximum.
    pub max: Option<u64>,
}

impl LengthTrait {
    pub(crate) fn of(value: &Node) -> Option<Self> {
        let object = value.as_object()?;
        let bound = |key| {
            let bound = object.get(key).and_then(Node::as_number);
            bound.and_then(Number::as_u64)
        };
        Some(Self {
            min: bound("min"),
            max: bound("max"),
        })
    }
}

/// `@range`: inclusive bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeTrait<'m> {
    /// The minimum.
    pub min: Option<&'m Number>,
    /// The maximum.
    pub max: Option<&'m Number>,
}

impl<'m> RangeTrait<'m> {
    pub(crate) fn of(value: &'m Node) -> Option<Self> {
        let object = value.as_object()?;
        let bound = |key| object.get(key).and_then(Node::as_number);
        Some(Self {
            min: bound("min"),
            max: bound("max"),
        })
    }
}

/// `@xmlNamespace`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct XmlNamespace<'m> {
    /// The URI of the namespace.
    pub uri: &'m str,
    /// The prefix. `None` for the default namespace.
    pub prefix: Option<&'m str>,
}

/// `@paginated`: names of members, with paths in the output.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Paginated<'m> {
    /// The member of the input with the token.
    pub input_token: Option<&'m str>,
    /// The path in the output to the next token.
    pub output_token: Option<&'m str>,
    /// The path in the output to the items.
    pub items: Option<&'m str>,
    /// The member of the input with the page size.
    pub page_size: Option<&'m str>,
}

/// An example of `@examples`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example<'m> {
    /// The title.
    pub title: &'m str,
    /// The documentation.
    pub documentation: Option<&'m str>,
    /// The members of the input.
    pub input: Option<&'m Node>,
    /// The members of the output, if the example is not an error.
    pub output: Option<&'m Node>,
    /// The shape id and the members of the error, if the example is one.
    pub error: Option<(&'m str, Option<&'m Node>)>,
}

impl<'m> Example<'m> {
    fn of(node: &'m Node) -> Option<Self> {
        let error = node
            .get("error")
            .and_then(|error| Some((error.get("shapeId")?.as_str()?, error.get("content"))));
        Some(Self {
            title: node.get("title")?.as_str()?,
            documentation: node.get("documentation").and_then(Node::as_str),
            input: node.get("input"),
            output: node.get("output"),
            error,
        })
    }
}

/// `@polywire#xmlRpcMethod`
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct XmlRpcMethod<'m> {
    /// The name of the method, if it differs from that of the operation.
    pub name: Option<&'m str>,
    /// Whether each member of the input is a separate parameter.
    pub positional: bool,
}

/// `@aws.api#service`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AwsService<'m> {
    /// The name in SDKs, such as `DynamoDB`.
    pub sdk_id: &'m str,
    /// The name of the service in ARNs, if it differs from the name of the service shape in lower
    /// case.
    pub arn_namespace: Option<&'m str>,
    /// The first label of its host names, if it differs from the ARN namespace.
    pub endpoint_prefix: Option<&'m str>,
}

/// `@aws.protocols#awsQueryError`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AwsQueryError<'m> {
    /// The error code in responses.
    pub code: &'m str,
    /// The HTTP status.
    pub http_response_code: u16,
}
