//! References to shapes: members of structures, items of lists and maps.
//!
//! Properties of references override those of the shape.

use polywire_model::{Member, Node, Object, Shape, ShapeType, Traits, ids};

use super::entries::{documented, flag, object, push_deprecation};
use super::names::Use;
use super::shapes::{Shapes, timestamp_format};
use super::{Context, Protocol};

/// A member of a structure or union.
pub(super) fn of<'m>(
    context: &mut Context<'m>,
    shapes: &mut Shapes<'m>,
    owner: &'m Shape,
    member: &'m Member,
) -> Node {
    let traits = member.traits();
    let protocol = context.protocol;
    let Some(target) = context.model.target(member) else {
        return Node::empty_object();
    };
    let is_flat = protocol.is_xml() && traits.is_xml_flattened();
    let name = traits.xml_name().unwrap_or_else(|| member.name());
    let mut entry = reference(context, shapes, target, is_flat.then_some(name));
    if let Some(text) = documented(traits) {
        entry.push("documentation", text);
    }
    push_deprecation(&mut entry, traits);

    let is_top = protocol.is_rest() && shapes.is_top(owner);
    let mut binding = Binding::of(protocol, member, is_top);
    if let Some(place) = binding.location {
        entry.push("location", place);
    }
    if protocol == Protocol::RestXml && traits.is_http_payload() && shapes.is_input(owner) {
        push_root(context, &mut entry, &mut binding, member, target);
    }
    // botocore reads the name of an attribute only from here.
    let is_attribute = protocol.is_xml() && traits.is_xml_attribute();
    let is_said = binding.explicit || is_attribute;
    let name = binding
        .name
        .or(is_attribute.then_some(member.name()))
        .filter(|name| is_said || *name != member.name());
    if let Some(name) = name {
        entry.push("locationName", name);
    }
    if let Some(name) = query_name(protocol, member) {
        entry.push("queryName", name);
    }
    if is_top {
        note_media_type(context, member, target);
    }
    for (key, value) in [
        ("contextParam", traits.get(ids::CONTEXT_PARAM).cloned()),
        (
            "endpointdiscoveryid",
            flag(traits.has(ids::CLIENT_ENDPOINT_DISCOVERY_ID)),
        ),
        ("eventheader", flag(traits.is_event_header())),
        ("eventpayload", flag(traits.is_event_payload())),
        ("flattened", flag(is_flat)),
        ("hostLabel", flag(traits.is_host_label())),
        ("idempotencyToken", flag(traits.is_idempotency_token())),
        ("jsonvalue", flag(is_top && is_json_header(member, target))),
        (
            "timestampFormat",
            traits.timestamp_format().map(timestamp_format),
        ),
        ("xmlAttribute", flag(is_attribute)),
        ("xmlNamespace", own_namespace(protocol, traits)),
    ] {
        if let Some(value) = value {
            entry.insert(key, value);
        }
    }
    entry.into()
}

/// The item of a list, or the key or value of a map.
pub(super) fn item<'m>(
    context: &mut Context<'m>,
    shapes: &mut Shapes<'m>,
    member: &'m Member,
    usage: Use,
) -> Node {
    let traits = member.traits();
    let protocol = context.protocol;
    let Some(target) = context.model.target(member) else {
        return Node::empty_object();
    };
    let mut entry = reference(context, shapes, target, None);
    if let Some(text) = documented(traits) {
        entry.push("documentation", text);
    }
    let name = traits.xml_name();
    if let Some(name) = name.filter(|_| protocol.is_xml() && usage == Use::Plain) {
        entry.push("locationName", name);
    }
    if let Some(format) = traits.timestamp_format() {
        entry.push("timestampFormat", timestamp_format(format));
    }
    if let Some(namespace) = own_namespace(protocol, traits) {
        entry.push("xmlNamespace", namespace);
    }
    entry.into()
}

/// `{"shape": NAME}`. `flat` is the name of the items of a flattened list.
fn reference<'m>(
    context: &Context<'m>,
    shapes: &mut Shapes<'m>,
    target: &'m Shape,
    flat: Option<&str>,
) -> Object {
    // A list whose items have no other name needs no variant.
    let item = target.member("member").filter(|_| flat.is_some());
    let item = item.and_then(|item| item.traits().xml_name());
    let usage = if item.is_some_and(|item| flat != Some(item)) {
        Use::Flattened
    } else {
        Use::Plain
    };
    let name = shapes.name(context, target, usage);
    object([("shape", Some(name.into()))])
}

/// The location and the name of a member in a message.
#[derive(Default)]
struct Binding<'m> {
    location: Option<&'static str>,
    name: Option<&'m str>,
    /// Whether the name is written even if it is that of the member.
    explicit: bool,
}

impl<'m> Binding<'m> {
    /// HTTP bindings have an effect only at the top level of a message.
    fn of(protocol: Protocol, member: &'m Member, is_top: bool) -> Self {
        let traits = member.traits();
        let bound = is_top.then(|| Self::of_http(traits, member.name()));
        if let Some(bound) = bound.flatten() {
            return bound;
        }
        let name = match protocol {
            Protocol::Ec2 | Protocol::Query | Protocol::RestXml => traits.xml_name(),
            Protocol::RestJson => traits.json_name(),
            Protocol::Json10 | Protocol::Json11 | Protocol::RpcV2Cbor => None,
        };
        Self {
            name,
            ..Self::default()
        }
    }

    fn of_http(traits: &'m Traits, own: &'m str) -> Option<Self> {
        let (location, name) = if let Some(name) = traits.http_header() {
            ("header", Some(name))
        } else if let Some(prefix) = traits.http_prefix_headers() {
            ("headers", Some(prefix))
        } else if let Some(name) = traits.http_query() {
            ("querystring", Some(name))
        } else if traits.is_http_query_params() {
            ("querystring", None)
        } else if traits.is_http_label() {
            ("uri", Some(own))
        } else if traits.is_http_response_code() {
            ("statusCode", None)
        } else {
            return None;
        };
        Some(Self {
            location: Some(location),
            name,
            explicit: true,
        })
    }
}

/// Whether a structure has members in the document of the body.
pub(super) fn has_document(shape: &Shape) -> bool {
    let mut members = shape.members().iter();
    let has_payload = members.any(|member| member.traits().is_http_payload());
    let mut members = shape.members().iter();
    !has_payload && members.any(|member| Binding::of_http(member.traits(), member.name()).is_none())
}

/// Names the root of a payload that is a document.
fn push_root<'m>(
    context: &Context<'m>,
    entry: &mut Object,
    binding: &mut Binding<'m>,
    member: &'m Member,
    target: &'m Shape,
) {
    if !matches!(target.shape_type(), ShapeType::Structure | ShapeType::Union)
        || target.traits().is_streaming()
    {
        return;
    }
    let name = member.traits().xml_name();
    let name = name.or_else(|| target.traits().xml_name());
    binding.name = Some(name.unwrap_or_else(|| context.closure.name(target.id())));
    binding.explicit = true;
    if let Some(namespace) = namespace(target.traits(), context) {
        entry.push("xmlNamespace", namespace);
    }
}

/// The namespace of a root element: its own, or that of the service.
pub(super) fn namespace(own: &Traits, context: &Context<'_>) -> Option<Node> {
    let namespace = own_namespace(context.protocol, own);
    namespace.or_else(|| own_namespace(context.protocol, context.service.traits()))
}

/// `@xmlNamespace`, for protocols with XML.
pub(super) fn own_namespace(protocol: Protocol, traits: &Traits) -> Option<Node> {
    let namespace = traits.get(ids::XML_NAMESPACE);
    namespace.filter(|_| protocol.is_xml()).cloned()
}

/// The name of a member in requests of EC2, which begins with an upper case letter.
fn query_name(protocol: Protocol, member: &Member) -> Option<String> {
    if protocol != Protocol::Ec2 {
        return None;
    }
    if let Some(name) = member.traits().ec2_query_name() {
        return Some(name.to_owned());
    }
    // botocore capitalizes names from `@xmlName` itself.
    let name = member.name();
    if member.traits().xml_name().is_some() || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return None;
    }
    Some(name[..1].to_ascii_uppercase() + &name[1..])
}

/// Whether a header contains JSON. botocore then accepts and returns a value, which it writes in
/// base64, as Smithy requires.
fn is_json_header(member: &Member, target: &Shape) -> bool {
    member.traits().http_header().is_some() && media_type(member, target).is_some_and(is_json)
}

fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type.ends_with("+json")
}

fn media_type<'m>(member: &'m Member, target: &'m Shape) -> Option<&'m str> {
    let own = member.traits().media_type();
    own.or_else(|| target.traits().media_type())
        .filter(|_| target.shape_type() == ShapeType::String)
}

fn note_media_type(context: &mut Context<'_>, member: &Member, target: &Shape) {
    let is_header = member.traits().http_header().is_some();
    if is_header && media_type(member, target).is_some_and(|media_type| !is_json(media_type)) {
        context.notes.push(format!(
            "the header of `{}` is base64 in Smithy, but botocore does not decode it",
            member.id()
        ));
    }
}
