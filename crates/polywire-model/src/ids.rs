//! The ids of the shapes that this crate knows by name: traits, and some shapes of the prelude.

/// The namespace of the prelude, whose shapes need no namespace in IDL.
pub const PRELUDE: &str = "smithy.api";

/// The name of a shape or member in the prelude. `None` for ids of other namespaces.
///
/// # Examples
///
/// ```
/// use polywire_model::ids;
///
/// assert_eq!(ids::in_prelude(ids::HTTP), Some("http"));
/// assert_eq!(ids::in_prelude(ids::SIGV4), None);
/// ```
#[must_use]
pub fn in_prelude(id: &str) -> Option<&str> {
    id.strip_prefix(PRELUDE)?.strip_prefix('#')
}

/// The id of a name in the prelude.
pub(crate) fn prelude_id(name: &str) -> String {
    format!("{PRELUDE}#{name}")
}

/// Defines a constant for each id, by namespace.
macro_rules! ids {
    ($($namespace:literal { $($name:ident $shape:literal)+ })+) => {
        $($(
            #[doc = concat!("`", $namespace, "#", $shape, "`")]
            pub const $name: &str = concat!($namespace, "#", $shape);
        )+)+

        #[cfg(test)]
        const ALL: &[&str] = &[$($($name),+),+];
    };
}

ids! {
    "aws.api" {
        AWS_SERVICE "service"
        CLIENT_DISCOVERED_ENDPOINT "clientDiscoveredEndpoint"
        CLIENT_ENDPOINT_DISCOVERY "clientEndpointDiscovery"
        CLIENT_ENDPOINT_DISCOVERY_ID "clientEndpointDiscoveryId"
    }
    "aws.auth" {
        SIGV4 "sigv4"
        SIGV4A "sigv4a"
        UNSIGNED_PAYLOAD "unsignedPayload"
    }
    "aws.customizations" {
        S3_UNWRAPPED_XML_OUTPUT "s3UnwrappedXmlOutput"
    }
    "aws.protocols" {
        AWS_JSON_1_0 "awsJson1_0"
        AWS_JSON_1_1 "awsJson1_1"
        AWS_QUERY "awsQuery"
        AWS_QUERY_COMPATIBLE "awsQueryCompatible"
        AWS_QUERY_ERROR "awsQueryError"
        EC2_QUERY "ec2Query"
        EC2_QUERY_NAME "ec2QueryName"
        HTTP_CHECKSUM "httpChecksum"
        REST_JSON_1 "restJson1"
        REST_XML "restXml"
    }
    "polywire" {
        XML_RPC_METHOD "xmlRpcMethod"
    }
    "smithy.api" {
        ADDED_DEFAULT "addedDefault"
        AUTH "auth"
        AUTH_DEFINITION "authDefinition"
        BOX "box"
        CLIENT_OPTIONAL "clientOptional"
        CORS "cors"
        DEFAULT "default"
        DEPRECATED "deprecated"
        DOCUMENTATION "documentation"
        ENDPOINT "endpoint"
        ENUM "enum"
        ENUM_VALUE "enumValue"
        ERROR "error"
        EVENT_HEADER "eventHeader"
        EVENT_PAYLOAD "eventPayload"
        EXAMPLES "examples"
        HOST_LABEL "hostLabel"
        HTTP "http"
        HTTP_API_KEY_AUTH "httpApiKeyAuth"
        HTTP_BEARER_AUTH "httpBearerAuth"
        HTTP_CHECKSUM_REQUIRED "httpChecksumRequired"
        HTTP_ERROR "httpError"
        HTTP_HEADER "httpHeader"
        HTTP_LABEL "httpLabel"
        HTTP_PAYLOAD "httpPayload"
        HTTP_PREFIX_HEADERS "httpPrefixHeaders"
        HTTP_QUERY "httpQuery"
        HTTP_QUERY_PARAMS "httpQueryParams"
        HTTP_RESPONSE_CODE "httpResponseCode"
        IDEMPOTENCY_TOKEN "idempotencyToken"
        IDEMPOTENT "idempotent"
        ID_REF "idRef"
        INPUT "input"
        INTERNAL "internal"
        JSON_NAME "jsonName"
        LENGTH "length"
        MEDIA_TYPE "mediaType"
        METADATA "metadata"
        MIXIN "mixin"
        NESTED_PROPERTIES "nestedProperties"
        NOT_PROPERTY "notProperty"
        NO_AUTH "noAuth"
        OPTIONAL_AUTH "optionalAuth"
        OUTPUT "output"
        PAGINATED "paginated"
        PATTERN "pattern"
        PRIVATE "private"
        PROPERTY "property"
        PROTOCOL_DEFINITION "protocolDefinition"
        RANGE "range"
        READONLY "readonly"
        REFERENCES "references"
        REQUEST_COMPRESSION "requestCompression"
        REQUIRED "required"
        REQUIRES_LENGTH "requiresLength"
        RESOURCE_IDENTIFIER "resourceIdentifier"
        RETRYABLE "retryable"
        SENSITIVE "sensitive"
        SINCE "since"
        SPARSE "sparse"
        STREAMING "streaming"
        SUPPRESS "suppress"
        TAGS "tags"
        TIMESTAMP_FORMAT "timestampFormat"
        TITLE "title"
        TRAIT "trait"
        UNIQUE_ITEMS "uniqueItems"
        UNIT "Unit"
        UNSTABLE "unstable"
        XML_ATTRIBUTE "xmlAttribute"
        XML_FLATTENED "xmlFlattened"
        XML_NAME "xmlName"
        XML_NAMESPACE "xmlNamespace"
    }
    "smithy.protocols" {
        RPC_V2_CBOR "rpcv2Cbor"
        RPC_V2_JSON "rpcv2Json"
    }
    "smithy.rules" {
        CLIENT_CONTEXT_PARAMS "clientContextParams"
        CONTEXT_PARAM "contextParam"
        ENDPOINT_RULE_SET "endpointRuleSet"
        OPERATION_CONTEXT_PARAMS "operationContextParams"
        STATIC_CONTEXT_PARAMS "staticContextParams"
    }
    "smithy.waiters" {
        WAITABLE "waitable"
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::bundled::bundled;

    #[test]
    fn the_ids_are_defined() {
        for id in ALL {
            // `noAuth` names a scheme without a trait.
            let is_defined = bundled().shape(id).is_some();
            assert_eq!(is_defined, *id != NO_AUTH, "{id}");
        }
    }

    /// Ids are written here and nowhere else, outside of tests, comments and examples.
    #[test]
    fn other_modules_have_no_ids() {
        let mut found = Vec::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        visit(&source, &mut |path, text| {
            if path.ends_with("ids.rs") || path.starts_with(source.join("rules")) {
                return;
            }
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                let starts = ["\"smithy.", "\"aws.", "\"polywire#"];
                let mut ids = starts.iter().flat_map(|start| line.split(start).skip(1));
                if ids.any(|rest| rest.split('"').next().is_some_and(|id| id.contains('#')))
                    || line.contains("\"polywire#")
                {
                    found.push(format!("{}: {}", path.display(), line.trim()));
                }
            }
        });
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    fn visit(folder: &Path, see: &mut dyn FnMut(&Path, &str)) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, see);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                see(&path, &fs::read_to_string(&path).unwrap());
            }
        }
    }
}
