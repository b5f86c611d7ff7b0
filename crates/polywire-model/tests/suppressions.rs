//! What a model suppresses and raises, through the public API.

#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use polywire_model::{Assembly, Diagnostic, Loader, Severity};

fn load(metadata: &str, shapes: &str) -> Assembly {
    let text = format!(
        "$version: \"2\"\n\
         metadata validators = [{{ name: \"EmitEachSelector\", id: \"House.Names\", \
         severity: \"NOTE\", configuration: {{ selector: \":is(string, member)\" }} }}]\n\
         {metadata}\nnamespace a\n{shapes}\n"
    );
    let assembled = Loader::new().add_text("a.smithy", text).assemble();
    assembled.unwrap_or_else(|error| panic!("{error}"))
}

fn about(found: &[Diagnostic]) -> Vec<String> {
    let found = found.iter().map(|found| {
        let shape = found.shape.as_ref().map_or("-", |shape| shape.as_str());
        format!("{} {shape} {}", found.severity, found.code)
    });
    found.collect()
}

#[test]
fn findings_name_their_shape() {
    let assembled = load("", "string A\nstructure B { a: A }");
    assert_eq!(
        about(&assembled.warnings),
        ["note a#A House.Names", "note a#B$a House.Names"]
    );
    assert!(assembled.suppressed.is_empty());
    let node = assembled.warnings[1].to_node();
    assert_eq!(node.get("shape").unwrap().as_str(), Some("a#B$a"));
    assert_eq!(node.get("code").unwrap().as_str(), Some("House.Names"));
}

#[test]
fn rules_of_metadata_suppress_by_code_and_namespace() {
    let shapes = "string A\n";
    for (rule, suppressed) in [
        (r#"id: "House.Names", namespace: "a""#, true),
        (r#"id: "House.Names", namespace: "*""#, true),
        (r#"id: "House", namespace: "a""#, true),
        (r#"id: "House.Names", namespace: "b""#, false),
        (r#"id: "Hous", namespace: "*""#, false),
        (r#"id: "House.Names.A", namespace: "*""#, false),
        (r#"id: "House.", namespace: "*""#, false),
    ] {
        let metadata = format!("metadata suppressions = [{{ {rule}, reason: \"why\" }}]");
        let assembled = load(&metadata, shapes);
        assert_eq!(
            assembled.suppressed.len(),
            usize::from(suppressed),
            "{rule}"
        );
        assert_eq!(assembled.warnings.len(), usize::from(!suppressed), "{rule}");
        if let Some(found) = assembled.suppressed.first() {
            assert_eq!(found.reason.as_deref(), Some("why"));
            assert_eq!(found.line(), Some(5));
        }
    }
}

#[test]
fn the_trait_suppresses_on_its_shape_alone() {
    let shapes = "@suppress([\"House\"])\nstring A\n\
        @suppress([\"House\"])\nstructure B {\n    a: A\n\
        @suppress([\"House.Names\"])\n    b: A\n}";
    let assembled = load("", shapes);
    assert_eq!(about(&assembled.warnings), ["note a#B$a House.Names"]);
    assert_eq!(
        about(&assembled.suppressed),
        ["note a#A House.Names", "note a#B$b House.Names"]
    );
}

#[test]
fn severities_are_raised_and_never_lowered() {
    let metadata = "metadata severityOverrides = [\n\
        { id: \"House\", namespace: \"a\", severity: \"DANGER\" }\n\
        { id: \"House.Names\", namespace: \"*\", severity: \"WARNING\" }]";
    let assembled = load(metadata, "string A");
    assert_eq!(assembled.warnings[0].severity, Severity::Danger);
    // What is suppressed needs no severity.
    let both =
        format!("{metadata}\nmetadata suppressions = [{{ id: \"House\", namespace: \"*\" }}]");
    assert_eq!(
        load(&both, "string A").suppressed[0].severity,
        Severity::Note
    );
}

/// Suppressed findings take no room of those that are shown.
#[test]
fn many_suppressed_findings() {
    let strings: String = (0..30_000).map(|at| format!("string A{at}\n")).collect();
    let metadata = "metadata suppressions = [{ id: \"House\", namespace: \"*\" }]";
    let shapes = format!("{strings}structure S {{ @unknown a: A1 }}\n");
    let assembled = load(metadata, &shapes);
    assert_eq!(assembled.suppressed.len(), 1_000);
    assert_eq!(assembled.warnings[0].code, "UnknownTrait");
}

#[test]
fn errors_are_not_suppressed() {
    let text = "$version: \"2\"\n\
        metadata suppressions = [{ id: \"TraitTarget\", namespace: \"*\" }]\n\
        namespace a\n@suppress([\"TraitTarget\"])\n@readonly\nstring A\n";
    let error = Loader::new()
        .add_text("a.smithy", text)
        .assemble()
        .unwrap_err();
    let found = error.errors().next().unwrap();
    assert_eq!((&*found.code, found.line()), ("TraitTarget", Some(5)));
    assert_eq!(found.shape.as_ref().unwrap(), &"a#A");
}
