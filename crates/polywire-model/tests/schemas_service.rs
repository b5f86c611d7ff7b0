//! What a schema set tells of a service and its operations.
#![allow(
    clippy::unwrap_used,
    reason = "a test may panic, and panicking is how it fails"
)]

use polywire_model::Loader;
use polywire_schema::{MemberFlags, OperationFlags, SchemaSet};

const MODEL: &str = r#"
    $version: "2"
    namespace example
    use aws.api#service
    use aws.auth#sigv4
    use aws.customizations#s3UnwrappedXmlOutput
    use aws.protocols#awsQueryError
    use aws.protocols#restXml

    @service(sdkId: "Weather Now", endpointPrefix: "weather")
    @sigv4(name: "weathernow")
    @restXml(noErrorWrapping: true)
    @xmlNamespace(uri: "https://example.com", prefix: "w")
    service Weather {
        version: "1"
        operations: [Get, Put]
        errors: [Busy, Gone]
    }

    @http(method: "GET", uri: "/get")
    @readonly
    @s3UnwrappedXmlOutput
    operation Get { input := { @httpQuery("name") name: String } output := { name: String } errors: [Missing, Gone] }

    @http(method: "POST", uri: "/put")
    @requestCompression(encodings: ["gzip"])
    operation Put { input: Plain }

    structure Plain { text: String }

    @error("server") structure Busy {}
    @error("client") @awsQueryError(code: "AWS.Gone", httpResponseCode: 410) structure Gone {}
    @error("client") structure Missing {}
"#;

fn set() -> SchemaSet<'static> {
    let model = Loader::new().add_text("weather.smithy", MODEL).assemble();
    model
        .unwrap()
        .model
        .schemas("example#Weather")
        .unwrap()
        .unwrap()
}

#[test]
fn a_service_tells_its_facts() {
    let set = set();
    let service = set.service(0);
    assert_eq!(
        service.xml_namespace(),
        Some((Some("w"), "https://example.com"))
    );
    assert_eq!(service.sdk_id(), "Weather Now");
    assert_eq!(service.endpoint_prefix(), "weather");
    assert_eq!(service.signing_name(), "weathernow");
    assert!(service.has_no_error_wrapping());
    assert!(!service.is_aws_query_compatible());
    let put = service.find_operation("Put").unwrap();
    assert_eq!(put.request_compression().collect::<Vec<_>>(), ["gzip"]);
    let get = service.find_operation("Get").unwrap();
    assert_eq!(get.request_compression().count(), 0);
    assert!(get.has(OperationFlags::S3_UNWRAPPED_OUTPUT));
    assert!(!put.has(OperationFlags::S3_UNWRAPPED_OUTPUT));
    let gone = get.find_error("Gone").unwrap();
    assert_eq!(gone.query_code(), Some("AWS.Gone"));
    assert_eq!(gone.query_status(), Some(410));
}

#[test]
fn operations_share_the_errors_of_their_service() {
    let set = set();
    let errors = |name| {
        let operation = set.service(0).find_operation(name).unwrap();
        operation
            .errors()
            .map(|error| error.name())
            .collect::<Vec<_>>()
    };
    assert_eq!(errors("Get"), ["Missing", "Gone", "Busy"]);
    assert_eq!(errors("Put"), ["Busy", "Gone"]);
    // What Get gives, Busy and Gone once, two operations.
    assert_eq!(set.parts().lists.len(), 2 + 2 + 2);
}

#[test]
fn members_of_inputs_are_optional_to_clients() {
    let set = set();
    let member = |shape: &str| set.find_shape(shape).unwrap().member(0);
    assert!(member("example#GetInput").has(MemberFlags::CLIENT_OPTIONAL));
    assert!(!member("example#GetOutput").has(MemberFlags::CLIENT_OPTIONAL));
    assert!(!member("example#Plain").has(MemberFlags::CLIENT_OPTIONAL));
}

#[test]
fn constraints_of_members_come_before_those_of_their_targets() {
    let text = r#"
        $version: "2"
        namespace example
        service Weather { version: "1", operations: [Get] }
        operation Get { input := {
            plain: Name
            @length(max: 3) short: Name
            @range(min: 0.5, max: 10) ratio: Double
            suits: Suits
            tree: Tree
            free: Free
            numbers: Numbers
        } }
        @length(min: 1, max: 64) @pattern("^[a-z]+$") string Name
        enum Suit { CLUBS = "c", @internal SPADES = "s" }
        intEnum Faces { ONE = 1, SIX = 6 }
        @uniqueItems list Suits { member: Suit }
        list Numbers { member: Faces }
        structure Tree { left: Tree, right: Tree, name: Name }
        structure Free { text: String, inner: Free, map: FreeMap }
        map FreeMap { key: String, value: Free }
    "#;
    let model = Loader::new().add_text("weather.smithy", text).assemble();
    let set = model
        .unwrap()
        .model
        .schemas("example#Weather")
        .unwrap()
        .unwrap();
    let input = set.find_shape("example#GetInput").unwrap();
    let member = |name: &str| {
        input
            .members()
            .find(|member| member.name() == name)
            .unwrap()
    };
    let of = |name: &str| member(name).constraints().unwrap();

    assert_eq!(of("plain").length(), Some((Some(1), Some(64))));
    assert_eq!(of("plain").pattern(), Some("^[a-z]+$"));
    assert_eq!(of("short").length(), Some((None, Some(3))));
    assert_eq!(of("short").pattern(), Some("^[a-z]+$"));
    assert_eq!(of("ratio").range(), Some((Some("0.5"), Some("10"))));
    assert!(of("suits").has_unique_items());
    let values = member("suits").element().constraints().unwrap().values();
    let values: Vec<_> = values
        .map(|value| (value.text, value.is_internal))
        .collect();
    assert_eq!(values, [("c", false), ("s", true)]);
    let values = member("numbers").element().constraints().unwrap().values();
    assert_eq!(values.map(|value| value.number).collect::<Vec<_>>(), [1, 6]);
    assert!(member("numbers").constraints().is_none() && member("numbers").is_constrained());
    // What is below is known above, through recursion too.
    assert!(member("tree").is_constrained() && input.root().is_constrained());
    assert!(!member("free").is_constrained());
    assert!(
        member("free")
            .target()
            .members()
            .all(|member| !member.is_constrained())
    );
}
