//! The registry of rules: every entry is proven by a model that violates it, every diagnostic of
//! the test models is in the registry, and `docs/model-rules.md` is derived from it. With
//! `POLYWIRE_BLESS=1` the page is written.

#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use polywire_model::rules::{self, Rule};
use polywire_model::{Diagnostic, Loader, Severity, ast};

/// The findings of a model, with those that it suppresses.
fn findings(loader: &mut Loader) -> Vec<Diagnostic> {
    match loader.assemble() {
        Ok(assembled) => [assembled.warnings, assembled.suppressed].concat(),
        Err(error) => error.diagnostics().to_vec(),
    }
}

fn findings_of_text(name: &str, text: &str) -> Vec<Diagnostic> {
    findings(Loader::new().add_text(name, text))
}

fn idl(shapes: &str) -> String {
    format!("$version: \"2\"\nnamespace example\n{shapes}\n")
}

#[test]
fn ids_are_unique_and_entries_complete() {
    let mut ids = BTreeSet::new();
    for rule in rules::all() {
        assert!(ids.insert(rule.id()), "{rule} is there twice");
        assert!(!rule.severities().is_empty(), "{rule}");
        assert!(
            rule.severities().is_sorted_by(|a, b| a > b),
            "{rule}: highest first"
        );
        for text in [rule.checks(), rule.fix()] {
            assert!(text.ends_with('.'), "{rule}: {text}");
        }
        assert!(!rule.title().ends_with('.'), "{rule}: {}", rule.title());
        assert_eq!(rules::find(rule.id()), Some(rule));
    }
    assert_eq!(ids.len(), 152);
}

#[test]
fn codes_find_their_rules() {
    let id = |code| rules::find(code).map(Rule::id);
    assert_eq!(id("UnstableTrait.example#draft"), Some("UnstableTrait"));
    assert_eq!(id("UnknownValidator_CamelCase"), Some("UnknownValidator"));
    assert_eq!(id("Target.UnresolvedShape"), Some("Target.UnresolvedShape"));
    assert_eq!(id("Target.Other"), None);
    assert_eq!(id("UnstableTraits"), None);
    assert_eq!(id(""), None);
    let similar = |text| -> Vec<&str> { rules::similar(text).iter().map(|r| r.id()).collect() };
    assert_eq!(similar("lenghttrait")[0], "LengthTrait");
    assert_eq!(similar("paginated").len(), 5);
    assert!(similar("nothing of the kind").is_empty());
    assert!(similar("").is_empty());
}

/// The example of a rule violates that rule, and no other with a higher severity.
#[test]
fn examples_violate_their_rules() {
    let mut wrong = Vec::new();
    for rule in rules::all() {
        let Some((name, text)) = rule.example() else {
            continue;
        };
        let found = findings_of_text(name, text);
        let is_found = found.iter().any(|finding| finding.rule() == Some(rule));
        let others: Vec<String> = found
            .iter()
            .filter(|finding| {
                finding.rule() != Some(rule) && finding.severity > rule.severities()[0]
            })
            .map(ToString::to_string)
            .collect();
        if !is_found || !others.is_empty() {
            wrong.push(format!("{rule}: {is_found}\n{}", others.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Rules that one text file does not violate, or not in reasonable length.
#[test]
fn rules_without_an_example_are_violated() {
    let folder = std::env::temp_dir().join(format!("polywire-model-rules-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let found = without_example(&folder);
    fs::remove_dir_all(&folder).unwrap();
    let mut missing: Vec<&str> = rules::all()
        .filter(|rule| rule.example().is_none())
        .filter(|rule| !found.iter().any(|finding| finding.rule() == Some(rule)))
        .map(Rule::id)
        .collect();
    if !cfg!(unix) {
        missing.retain(|id| *id != "LinkOut");
    }
    if !cfg!(feature = "jar") {
        missing.retain(|id| *id != "NoModel");
    }
    assert!(missing.is_empty(), "{missing:?}");
}

fn without_example(folder: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let lines =
        |count: usize, line: &dyn Fn(usize) -> String| -> String { (0..count).map(line).collect() };
    let mut add = |text: String| found.extend(findings_of_text("limits.smithy", &idl(&text)));

    // TooDeep.
    add(format!(
        "@tags({}{})\nstring S",
        "[".repeat(200),
        "]".repeat(200)
    ));
    // TooManyProblems.
    add(lines(1_200, &|i| format!("@unknown{i}\nstring S{i}\n")));
    // TooManyMembers: 1000 members in 260 structures.
    let members = lines(1_000, &|i| format!("m{i}: String\n"));
    let users = lines(260, &|i| format!("structure S{i} with [M] {{}}\n"));
    add(format!("@mixin\nstructure M {{\n{members}}}\n{users}"));
    // TooManyTraits: 1001 on one structure.
    let traits = lines(1_001, &|i| format!("@trait\nstructure t{i} {{}}\n"));
    let applied = lines(1_001, &|i| format!("@t{i}\n"));
    add(format!("{traits}{applied}structure S {{}}\n"));
    // TooManyReferences: 1000 errors in 260 operations.
    let errors = lines(1_000, &|i| {
        format!("@error(\"client\")\nstructure E{i} {{}}\n")
    });
    let names = lines(1_000, &|i| format!("E{i} "));
    let users = lines(260, &|i| format!("operation O{i} with [M] {{}}\n"));
    add(format!(
        "{errors}@mixin\noperation M {{ errors: [{names}] }}\n{users}"
    ));
    // TooManyOperations: 1000 operations in each of 600 services.
    let operations = lines(1_000, &|i| format!("operation O{i} {{}}\n"));
    let names = lines(1_000, &|i| format!("O{i} "));
    let services = lines(600, &|i| format!("service S{i} {{ resources: [R] }}\n"));
    add(format!(
        "resource R {{ operations: [{names}] }}\n{operations}{services}"
    ));
    // SelectorWork: each shape leads to all others.
    let next = |i: usize| (i + 1) % 1_000;
    let far =
        "@trait\n@idRef(selector: \"structure $all(~> *) ~> [id|name = none]\")\nstring far\n";
    let ring = lines(1_000, &|i| {
        let next = next(i);
        format!("@far(S{next})\nstructure S{i} {{ next: S{next} }}\n")
    });
    add(format!("{far}{ring}"));

    found.extend(files(folder));

    // VersionLoss.
    let text = idl("structure City {\n    @required\n    name: String = \"Bern\"\n}");
    let assembled = Loader::new().add_text("a.smithy", text).assemble().unwrap();
    let written = ast::write_with(&assembled.model, &ast::Options::new().version_1());
    found.extend(written.losses);
    found
}

fn files(folder: &Path) -> Vec<Diagnostic> {
    let path = |name: &str| -> PathBuf { folder.join(name) };
    fs::write(path("empty.smithy"), "").unwrap();
    fs::write(
        path("none.jar"),
        b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    )
    .unwrap();
    let mut loader = Loader::new();
    loader.add_path(path("missing.smithy"));
    loader.add_path(path("empty.smithy"));
    loader.add_path(path("none.jar"));
    #[cfg(unix)]
    {
        fs::create_dir_all(path("model")).unwrap();
        fs::create_dir_all(path("other")).unwrap();
        let _ = fs::remove_file(path("model/link"));
        std::os::unix::fs::symlink(path("other"), path("model/link")).unwrap();
        loader.add_path(path("model"));
    }
    findings(&mut loader)
}

/// Each diagnostic of the examples and of `tests/broken` has a rule with its severity, unless the
/// model defines the validator; and each severity of a rule occurs in one of them.
#[test]
fn severities_are_those_of_the_registry() {
    let mut occurring: BTreeMap<&str, BTreeSet<Severity>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for found in examples().chain(broken()).chain(other_severities()) {
        let Some(rule) = found.rule() else {
            continue;
        };
        occurring
            .entry(rule.id())
            .or_default()
            .insert(found.severity);
        if !rule.severities().contains(&found.severity) {
            wrong.push(format!("{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let mut missing = Vec::new();
    for rule in rules::all().filter(|rule| rule.example().is_some()) {
        for severity in rule.severities() {
            if !occurring
                .get(rule.id())
                .is_some_and(|found| found.contains(severity))
            {
                missing.push(format!("{severity} {}", rule.id()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

fn examples() -> impl Iterator<Item = Diagnostic> {
    rules::all()
        .filter_map(Rule::example)
        .flat_map(|(name, text)| findings_of_text(name, text))
}

/// Severities that neither the examples have nor the models in `tests/broken`.
fn other_severities() -> impl Iterator<Item = Diagnostic> {
    let metadata = |metadata: &str, shapes: &str| {
        format!("$version: \"2\"\n{metadata}\nnamespace example\n{shapes}\n")
    };
    let union = "union Place { town: String }";
    let texts = [
        metadata(
            "metadata place = { tow: \"Bern\" }",
            &format!("@metadata(key: \"place\")\n{union}"),
        ),
        metadata(
            "metadata place = {}",
            &format!("@metadata(key: \"place\")\n{union}"),
        ),
        metadata(
            "metadata severityOverrides = \
             [{ id: \"A\", namespace: \"*\", severity: \"DANGER\", raeson: \"\" }]",
            "",
        ),
        idl(&format!(
            "@examples([{{ title: \"t\", input: {{ place: {{ tow: \"Bern\" }} }} }}])\n\
             operation Get {{ input := {{ place: Place }} }}\n{union}"
        )),
    ];
    let found: Vec<Diagnostic> = texts
        .iter()
        .flat_map(|text| findings_of_text("other.smithy", text))
        .collect();
    let mut denying = Loader::new();
    denying.deny_unknown_traits(true);
    denying.add_text("denied.smithy", idl("@sensitiv\nstring Password"));
    found.into_iter().chain(findings(&mut denying))
}

fn broken() -> impl Iterator<Item = Diagnostic> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.is_dir() || path.extension().is_some_and(|name| name != "txt"))
        .flat_map(|path| {
            let files = match path.is_dir() {
                true => fs::read_dir(&path)
                    .unwrap()
                    .map(|file| file.unwrap().path())
                    .collect(),
                false => vec![path],
            };
            let mut loader = Loader::new();
            for file in files {
                loader.add_text(file.to_str().unwrap(), fs::read_to_string(&file).unwrap());
            }
            findings(&mut loader)
        })
}

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/model-rules.md");
    let page = page();
    if std::env::var_os("POLYWIRE_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/model-rules.md is out of date; write it with \
         POLYWIRE_BLESS=1 cargo test -p polywire-model --test model_rules"
    );
}

fn page() -> String {
    let mut page = String::from(
        "# Rules of `polywire model check`\n\n\
         <!-- Generated from crates/polywire-model/src/rules by its test `model_rules`. -->\n\n\
         Each diagnostic has the code of a rule. `polywire model check --explain ID` prints one of\n\
         these sections. Models suppress findings below the severity error by id: with the trait\n\
         `@suppress([\"ID\"])`, or with `metadata suppressions`. Suppressing an id also suppresses\n\
         the ids below it: `HttpMethodSemantics` includes `HttpMethodSemantics.OPTIONS`. Where an id\n\
         below has a word in capitals such as SHAPE, SERVICE, OPERATION, TRAIT, WAITER, ACCEPTOR or\n\
         NAME, diagnostics have a name of the model or of its metadata.\n\n\
         | id | severity | problem |\n|---|---|---|\n",
    );
    for rule in rules::all() {
        let (severities, title) = (severities(rule), rule.title());
        writeln!(
            page,
            "| [{rule}](#{}) | {severities} | {title} |",
            anchor(rule)
        )
        .unwrap();
    }
    for rule in rules::all() {
        write!(
            page,
            "\n## {rule}\n\n{} ({}). {}\n\nFix: {}\n",
            capitalized(rule.title()),
            severities(rule),
            rule.checks(),
            rule.fix()
        )
        .unwrap();
        if let Some((name, text)) = rule.example() {
            let language = if name.ends_with(".json") {
                "json"
            } else {
                "smithy"
            };
            write!(page, "\n```{language}\n{text}```\n").unwrap();
        }
    }
    page
}

fn severities(rule: &Rule) -> String {
    let names: Vec<String> = rule.severities().iter().map(ToString::to_string).collect();
    names.join(", ")
}

fn anchor(rule: &Rule) -> String {
    let name = rule.to_string().to_lowercase();
    name.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .collect()
}

/// Titles that begin with a trait stay as they are.
fn capitalized(title: &str) -> String {
    let mut characters = title.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}
