//! The rules about services, HTTP and resources, one change at a time: a sound
//! model that uses nearly all of it has no findings, and each change to it has
//! those that Smithy's own tool gives.

#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::collections::BTreeSet;

use polywire_model::{Diagnostic, Loader};

const SOUND: &str = include_str!("sound/services.smithy");

#[test]
fn a_sound_model_has_no_findings() {
    let found = findings(SOUND);
    let text: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{}", text.join("\n\n"));
}

/// AWS has services with a shape of that name.
#[test]
fn a_shape_may_be_called_unit() {
    assert_eq!(findings(include_str!("sound/unit.smithy")).len(), 0);
}

/// What to replace, with what, and the codes of the findings then.
#[rustfmt::skip]
const CHANGES: &[(&str, &str, &[&str])] = &[
    // HTTP: uris and labels.
    ("uri: \"/cities/{id}\"", "uri: \"/cities/{idd}\"", &["HttpLabelTrait"]),
    ("uri: \"/files/{path+}\"", "uri: \"/files/{path+}/{kind}\"",
        &["HttpLabelTrait", "HttpUriGreedyLabel.GreedyLabelIsNotLastLabel"]),
    ("uri: \"/cities/count\"", "uri: \"/städte\"", &["HttpUriFormat"]),
    ("uri: \"/watch\"", "uri: \"/cities\"", &["HttpUriConflict"]),
    ("hostPrefix: \"{region}.\"", "hostPrefix: \"{region}\"", &["HostLabelTrait"]),
    ("hostPrefix: \"{region}.\"", "hostPrefix: \"{area}.\"", &["HostLabelTrait"]),
    // HTTP: methods and codes.
    ("@readonly\n@http(method: \"GET\", uri: \"/cities/count\")", "@http(method: \"GET\", uri: \"/cities/count\")",
        &["HttpMethodSemantics.MissingReadonlyTrait"]),
    ("code: 204", "code: 304", &["HttpResponseCodeSemantics"]),
    ("@httpError(404)", "@httpError(504)", &["HttpResponseCodeSemantics"]),
    ("@http(method: \"POST\", uri: \"/ping\")\n", "", &["HttpBindingsMissing"]),
    // HTTP: members.
    ("@httpHeader(\"x-kind\")", "@httpHeader(\"Host\")", &["HttpHeaderTrait"]),
    ("@httpHeader(\"x-kind\")\n", "\n", &["HttpPayload"]),
    ("@httpQuery(\"size\")", "@httpQuery(\"sorted\")", &["HttpQueryTrait"]),
    ("@httpQuery(\"token\")\n", "@httpHeader(\"X-Filter-Token\")\n", &["HttpPrefixHeadersTrait"]),
    ("structure End {\n    reason", "structure End {\n    @httpHeader(\"x-reason\")\n    reason",
        &["HttpBindingTraitIgnored.TopLevel"]),
    // Streams.
    ("encodings: [\"gzip\"]", "encodings: [\"br\"]", &["RequestCompressionTrait"]),
    ("@required\n        @httpPayload\n        body", "@httpPayload\n        body", &["StreamingTrait"]),
    ("end: End", "end: String", &["StreamingTrait"]),
    ("@eventHeader\n    kind", "kind", &["EventPayloadTrait"]),
    // Pages, waiters, examples.
    ("pageSize: \"size\"", "pageSize: \"siz\"", &["PaginatedTrait"]),
    ("items: \"page.cities\"", "items: \"page.token\"", &["PaginatedTrait"]),
    ("state: \"success\"", "state: \"retry\"", &["WaitableTrait"]),
    ("errorType: \"NotFound\"", "errorType: \"Busy\"", &["WaitableTraitInvalidErrorType.CityExists.1"]),
    ("path: \"name\"", "path: \"nam\"", &["WaitableTraitJmespathProblem.JmespathEventDanger.CityExists.0"]),
    ("size: 134000", "size: \"big\"", &["ExamplesTrait"]),
    ("shapeId: NotFound", "shapeId: Page", &["TraitValue"]),
    // Services.
    ("@auth([httpBearerAuth, httpBasicAuth])\n", "", &["ServiceAuthDefinitions"]),
    ("@httpBasicAuth\n", "", &["AuthTrait"]),
    ("resources: [City]", "resources: [City]\n    rename: { \"example#GetCity\": \"Get\" }", &["Service"]),
    ("[Ping, Upload, Watch]", "[Ping, Upload, Watch, GetHouse]",
        &["ServiceBoundResourceOperation.example#Cities.GetHouse", "SingleOperationBinding"]),
    ("structure Page {", "structure CountCitiesResponse {}\n\nstructure Page {", &["OperationNameAmbiguity"]),
    // Resources.
    ("@idempotent\n@http(method: \"PUT\"", "@http(method: \"PUT\"",
        &["HttpMethodSemantics.MissingIdempotentTrait", "ResourceLifecycle"]),
    ("properties: { name: String", "properties: { mayor: String, name: String", &["ResourceOperationInputOutput"]),
    ("@notProperty\n        revision", "revision", &["ResourceOperationInputOutput"]),
    ("@resourceIdentifier(\"cityId\")\n", "", &["ResourceIdentifierBinding", "ResourceOperationInputOutput"]),
    ("resources: [House]", "resources: [House, City]",
        &["ResourceCycle", "ResourceIdentifierBinding", "SingleResourceBinding"]),
    ("structure End {", "structure End {\n    cityId: CityId", &["MemberShouldReferenceResource"]),
];

#[test]
fn each_change_is_noticed() {
    for (before, after, codes) in CHANGES {
        assert_eq!(SOUND.matches(before).count(), 1, "{before}");
        let found = findings(&SOUND.replace(before, after));
        let found: BTreeSet<&str> = found.iter().map(|found| &*found.code).collect();
        let expected: BTreeSet<&str> = codes.iter().copied().collect();
        assert_eq!(found, expected, "{before} -> {after}");
    }
}

/// Findings name what they are about, so that a model can suppress them there.
#[test]
fn findings_can_be_suppressed_where_they_are() {
    for (before, after, place) in [
        ("code: 204", "code: 304", "operation DeleteCity {"),
        ("@httpError(404)", "@httpError(504)", "structure NotFound {"),
        ("@httpBasicAuth\n", "", "service Cities {"),
        (
            "hostPrefix: \"{region}.\"",
            "hostPrefix: \"{region}\"",
            "operation Ping {",
        ),
        (
            "errorType: \"NotFound\"",
            "errorType: \"Busy\"",
            "operation GetCity {",
        ),
        (
            "structure End {",
            "structure End {\n    cityId: CityId",
            "    cityId: CityId\n",
        ),
    ] {
        let text = SOUND.replace(before, after);
        assert_eq!(text.matches(place).count(), 1, "{place}");
        let codes = "\"AuthTrait\", \"HostLabelTrait\", \"HttpResponseCodeSemantics\", \
            \"MemberShouldReferenceResource\", \"WaitableTraitInvalidErrorType\"";
        let suppressed = text.replace(place, &format!("@suppress([{codes}])\n{place}"));
        let found = findings(&suppressed);
        assert!(found.is_empty(), "{}", found[0]);
    }
}

fn findings(text: &str) -> Vec<Diagnostic> {
    let mut loader = Loader::new();
    match loader.add_text("services.smithy", text).assemble() {
        Ok(assembled) => assembled.warnings,
        Err(error) => error.diagnostics().to_vec(),
    }
}
