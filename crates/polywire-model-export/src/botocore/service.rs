//! `service-2.json`: metadata, operations and shapes.

use polywire_model::{Node, Object, Shape, ids};

use super::auth::{self, Schemes};
use super::entries::{documented, object, push_deprecation};
use super::shapes::Shapes;
use super::{Context, Protocol, operations};

/// The names of a service. For services that are not of AWS they are derived from its id.
pub(super) struct ServiceNames {
    /// The name for `boto3.client`, which is also the name of a folder.
    pub(super) name: String,
    /// Its version, which is also the name of a folder.
    pub(super) api_version: String,
    service_id: String,
    endpoint_prefix: String,
    full_name: String,
    uid: String,
}

impl ServiceNames {
    pub(super) fn of(service: &Shape, name: Option<&str>) -> Self {
        let aws = service.traits().get(ids::AWS_SERVICE);
        let text = |key| aws.and_then(|aws| aws.get(key)).and_then(Node::as_str);
        let service_id = text("sdkId").unwrap_or_else(|| service.id().name());
        let hyphenated = service_id.to_lowercase().replace(' ', "-");
        let version = service.as_service().map_or("", |service| service.version());
        let api_version = folder(version, "0");
        let prefix = text("endpointPrefix").or_else(|| text("arnNamespace"));
        let uid = match text("docId") {
            Some(id) => id.to_owned(),
            None => format!("{hyphenated}-{api_version}"),
        };
        Self {
            name: folder(name.unwrap_or(&hyphenated), "service"),
            service_id: service_id.to_owned(),
            endpoint_prefix: prefix.map_or_else(|| hyphenated.clone(), str::to_owned),
            full_name: service
                .traits()
                .title()
                .unwrap_or_else(|| service.id().name())
                .to_owned(),
            uid,
            api_version,
        }
    }
}

/// Converts a text to the name of a folder. Models are untrusted, and must not name a path outside
/// of the output folder.
fn folder(text: &str, otherwise: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = text
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .take(100)
        .collect();
    let name = name.trim_matches(|c| matches!(c, '.' | '-'));
    if name.is_empty() { otherwise } else { name }.to_owned()
}

/// The whole file.
pub(super) fn service(context: &mut Context<'_>, facts: &ServiceNames) -> Node {
    let schemes = auth::of_service(context);
    let metadata = metadata(context, facts, &schemes);
    let mut shapes = Shapes::of(context);
    let operations = operations::operations(context, &mut shapes, &schemes);
    let shapes = shapes.write(context);
    let traits = context.service.traits();
    let mut file = object([
        ("version", Some(Node::from("2.0"))),
        ("metadata", Some(metadata.into())),
        ("operations", Some(operations.into())),
        ("shapes", Some(shapes.into())),
    ]);
    if let Some(text) = documented(traits) {
        file.push("documentation", text);
    }
    push_deprecation(&mut file, traits);
    if let Some(parameters) = client_context_parameters(context.service) {
        file.push("clientContextParams", parameters);
    }
    file.into()
}

fn metadata(context: &Context<'_>, facts: &ServiceNames, schemes: &Schemes<'_>) -> Object {
    let protocol = context.protocol;
    let traits = context.service.traits();
    let name = Node::from(protocol.botocore_name());
    let namespace = traits.xml_namespace().map(|namespace| namespace.uri);
    let sigv4 = traits.get(ids::SIGV4).or_else(|| traits.get(ids::SIGV4A));
    let signing_name = sigv4.and_then(|auth| auth.get("name"));
    let signing_name = signing_name
        .filter(|name| name.as_str() != Some(&facts.endpoint_prefix))
        .cloned();
    let is_rpc = matches!(
        protocol,
        Protocol::Json10 | Protocol::Json11 | Protocol::RpcV2Cbor
    );
    object([
        ("apiVersion", Some(facts.api_version.as_str().into())),
        ("auth", schemes.listed()),
        (
            "awsQueryCompatible",
            traits
                .is_aws_query_compatible()
                .then(Node::empty_object)
                .filter(|_| is_rpc),
        ),
        (
            "endpointPrefix",
            Some(facts.endpoint_prefix.as_str().into()),
        ),
        ("jsonVersion", json_version(protocol)),
        ("protocol", Some(name.clone())),
        ("protocolSettings", http_versions(context)),
        ("protocols", Some(vec![name].into())),
        // The name of the class of the client.
        (
            "serviceAbbreviation",
            Some(facts.service_id.as_str().into()),
        ),
        ("serviceFullName", Some(facts.full_name.as_str().into())),
        ("serviceId", Some(facts.service_id.as_str().into())),
        (
            "signatureVersion",
            Some(schemes.signature_version(context).into()),
        ),
        ("signingName", signing_name),
        (
            "targetPrefix",
            is_rpc.then(|| context.service.id().name().into()),
        ),
        ("uid", Some(facts.uid.as_str().into())),
        (
            "xmlNamespace",
            namespace.filter(|_| protocol.is_query()).map(Node::from),
        ),
    ])
}

fn json_version(protocol: Protocol) -> Option<Node> {
    match protocol {
        Protocol::Json10 => Some("1.0".into()),
        Protocol::Json11 => Some("1.1".into()),
        _ => None,
    }
}

/// The uses of HTTP/2, if any.
fn http_versions(context: &Context<'_>) -> Option<Node> {
    let settings = context.service.traits().get(context.protocol.trait_id())?;
    let first = |key| -> Option<&str> { settings.get(key)?.as_array()?.first()?.as_str() };
    let has_h2 = |key| {
        let versions = settings.get(key).and_then(Node::as_array);
        versions.is_some_and(|versions| versions.iter().any(|v| v.as_str() == Some("h2")))
    };
    let use_of_h2 = if first("eventStreamHttp") == Some("h2") && first("http") != Some("h2") {
        "eventstream"
    } else if has_h2("http") {
        "optional"
    } else {
        return None;
    };
    Some(object([("h2", Some(use_of_h2.into()))]).into())
}

/// `@smithy.rules#clientContextParams`: settings of a client for its endpoint.
fn client_context_parameters(service: &Shape) -> Option<Node> {
    let parameters = service
        .traits()
        .get(ids::CLIENT_CONTEXT_PARAMS)?
        .as_object()?;
    let mut all = Object::new();
    for (name, parameter) in parameters.iter() {
        let text = parameter.get("documentation").and_then(Node::as_str);
        let kind = parameter.get("type").and_then(Node::as_str);
        let kind = kind.unwrap_or("string").to_lowercase();
        let parameter = object([
            // Required by botocore.
            ("documentation", Some(text.unwrap_or_default().into())),
            ("type", Some(kind.into())),
        ]);
        all.push(name, parameter);
    }
    Some(all.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stay_where_they_are() {
        for (text, name) in [
            ("2026-11-01", "2026-11-01"),
            ("v1.2_x", "v1.2_x"),
            ("", "0"),
            ("..", "0"),
            ("../../etc/passwd", "etc-passwd"),
            ("/abs", "abs"),
            ("a\\b\0c:d", "a-b-c-d"),
            (".hidden", "hidden"),
            ("ü", "0"),
        ] {
            assert_eq!(folder(text, "0"), name, "{text}");
        }
    }
}
