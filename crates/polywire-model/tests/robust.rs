//! Files that end anywhere, and files that are made to cost: diagnostics or a
//! model come of them, never a panic, never a hang.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests: helpers outside of #[test]"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use polywire_model::Loader;

/// The broken models are short, and full of the corners of the grammar.
#[test]
fn every_prefix_of_the_broken_models() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    for (name, text) in texts(&folder) {
        for end in 0..text.len() {
            assemble_prefix(&name, &text, end);
        }
    }
}

/// Texts that are made to cost time, memory or stack.
#[test]
fn hostile_texts() {
    let idl = |body: String| {
        (
            "h.smithy",
            format!("$version: \"2\"\nnamespace h\n{body}\n"),
        )
    };
    let many = |start: &str, before: &str, after: &str| {
        let lines = (0..40_000).map(|i| format!("{before}{i}{after}"));
        start.to_owned() + &lines.collect::<String>()
    };
    let chain = |count: usize| {
        let line = |i: usize| {
            format!(
                "@mixin\nstructure M{i} with [M{}] {{ a{i}: String }}\n",
                i + 1
            )
        };
        (0..count).map(line).collect::<String>() + &format!("@mixin\nstructure M{count} {{}}\n")
    };
    let trait_of = |members: usize, traits: &str, value: String| {
        let members: String = (0..members)
            .map(|i| format!("{traits}member{i}: String\n"))
            .collect();
        idl(format!(
            "@trait\nstructure t {{\n{members}}}\n@t({value})\nstring S"
        ))
    };
    let keys = |name: &str, count: usize| {
        (0..count)
            .map(|i| format!("{name}{i}: \"x\"\n"))
            .collect::<String>()
    };
    // Names alike enough that each would be a suggestion for the others.
    let constants = |count: usize| {
        (0..count)
            .map(|i| format!("CONSTANT{i}\n"))
            .collect::<String>()
    };
    let texts = [
        // Traits whose values have many flaws, or many keys that have none. When
        // each key was searched in the whole shape, one of these took half a
        // minute or more, with optimization.
        trait_of(6_000, "", keys("membr", 40_000)),
        trait_of(60_000, "@required ", keys("member", 60_000)),
        trait_of(60_000, "", keys("member", 60_000)),
        idl(format!(
            "@trait\nlist t {{ member: E }}\nenum E {{\n{}}}\n@t([{}])\nstring S",
            constants(6_000),
            "\"CONSTAN\" ".repeat(40_000)
        )),
        idl(format!(
            "@trait\nlist t {{ member: E }}\nenum E {{\n{}}}\n@t([{}])\nstring S",
            constants(20_000),
            "\"CONSTANT19999\" ".repeat(60_000)
        )),
        // Long names, which every message would repeat.
        idl(format!(
            "@trait\nstructure {0} {{}}\n@{0}({1})\nstring S",
            "x".repeat(60_000),
            keys("k", 60_000)
        )),
        // Labels and elided members, which are looked for in long shapes too.
        idl(format!(
            "@http(method: \"GET\", uri: \"/{}\")\noperation O {{ input := {{ {} }} }}",
            (0..4_000)
                .map(|i| format!("{{labl{i}}}/"))
                .collect::<String>(),
            (0..4_000)
                .map(|i| format!("@required @httpLabel label{i}: String "))
                .collect::<String>()
        )),
        idl(format!(
            "resource R {{ properties: {{ {} }} }}\nstructure S for R {{ {} }}",
            (0..4_000)
                .map(|i| format!("property{i}: String "))
                .collect::<String>(),
            (0..4_000)
                .map(|i| format!("$propert{i} "))
                .collect::<String>()
        )),
        ("h.json", "[".repeat(1_000_000)),
        ("h.json", "{\"a\":".repeat(1_000_000)),
        ("h.json", format!("[{}1]", "1,".repeat(500_000))),
        idl(format!("@a({}", "[".repeat(500_000))),
        idl(format!("@a({}", "{a:".repeat(500_000))),
        idl("@a(".repeat(200_000)),
        idl("structure ".repeat(100_000)),
        idl("structure A {\n".repeat(50_000)),
        idl("structure A { a: b\n".repeat(20_000)),
        idl("structure A {}\n".repeat(20_000)),
        // Open brackets, each with words that may be the next statement.
        idl("service S { a: [\nstring x\n".repeat(50_000)),
        idl("enum E {\nstring x\n".repeat(50_000)),
        idl("@a([\nstring x [{a: [\nstring x\n]}]\n".repeat(50_000)),
        idl(format!("structure A {{\n{}}}", "x\n".repeat(100_000))),
        idl(format!("structure A {{\n{}}}", "a: Strin\n".repeat(20_000))),
        idl(format!("string {}", "x".repeat(1_000_000))),
        idl((0..20_000)
            .map(|i| format!("structure A{i} {{ a: B{i} }}\n"))
            .collect()),
        idl(chain(3_000)),
        idl(format!(
            "structure A {{ {} }}",
            (0..20_000)
                .map(|i| format!("m{i}: String "))
                .collect::<String>()
        )),
        idl(many("list L { ", "m", ": String ") + "}"),
        idl(many("", "@t", " ") + "\nstring S"),
        idl(many("string S\n", "apply S @t", "\n")),
        idl("string S\n".to_owned() + &"apply S @a\n".repeat(40_000)),
        idl(many(
            "structure S { m: String }\n",
            "apply S$n",
            " @required\n",
        )),
        (
            "h.smithy",
            format!(
                "$version: \"2\"\nnamespace h\n{}",
                many("", "use h#U", "\n")
            ),
        ),
        (
            "h.json",
            format!("{{{}\"a\": 1}}", many("", "\"k", "\": 1, ")),
        ),
        ("h.smithy", "\"\"\"\n".repeat(100_000)),
        ("h.smithy", "/// doc\n".repeat(200_000)),
        (
            "h.smithy",
            format!("metadata a = {}\n", "1".repeat(1_000_000)),
        ),
        (
            "h.smithy",
            format!("metadata a = 1e{}\n", "9".repeat(100_000)),
        ),
    ];
    for (name, text) in texts {
        let start = Instant::now();
        let _ = Loader::new().add_text(name, text.as_str()).assemble();
        // Generous: the machine may be busy, and the build may be slow.
        let took = start.elapsed();
        println!("{took:?} {:?}", text.chars().take(50).collect::<String>());
        assert!(
            took < Duration::from_secs(20),
            "{took:?} for {}",
            &text[..60]
        );
    }
}

/// Models whose values, constraints and cycles are made to cost time.
#[test]
fn hostile_values() {
    let lines = |count: usize, line: &dyn Fn(usize) -> String| -> String {
        (0..count).map(|i| line(i) + "\n").collect()
    };
    let trait_of = |shape: &str, value: String| format!("@trait\n{shape}\n@t({value})\nstring S");
    let texts = [
        // Long lists of unique items: of texts, of numbers, of objects.
        trait_of(
            "@uniqueItems\nlist t { member: Long }",
            format!("[{}]", lines(60_000, &|i| i.to_string())),
        ),
        trait_of(
            "@uniqueItems\nlist t { member: M }\nmap M { key: String, value: Integer }",
            format!("[{}]", lines(20_000, &|i| format!("{{a: 1, b: {i}}}"))),
        ),
        trait_of(
            "list t { member: E }\n@length(max: 3)\n@pattern(\"^a*$\")\nstring E",
            format!("[{}]", "\"aab\" ".repeat(100_000)),
        ),
        // Names, patterns, objects and lists of traits that are long, for each of
        // many values.
        trait_of(
            &format!(
                "list t {{ member: {0} }}\n@length(max: 9)\nenum {0} {{ A }}",
                "E".repeat(100_000)
            ),
            format!("[{}]", "A ".repeat(50_000)),
        ),
        trait_of(
            &format!(
                "list t {{ member: P }}\n@pattern(\"^{}$\")\nstring P",
                "a".repeat(200_000)
            ),
            format!("[{}]", "\"b\" ".repeat(50_000)),
        ),
        trait_of(
            &format!(
                "list t {{ member: L }}\n@length({} min: 0)\nstring L",
                lines(20_000, &|i| format!("k{i}: 1"))
            ),
            format!("[{}]", "\"b\" ".repeat(50_000)),
        ),
        trait_of(
            &format!(
                "{}\nlist t {{ member: L }}\n{}\n@length(min: 0)\nstring L",
                lines(990, &|i| format!("@trait structure t{i} {{}}")),
                lines(990, &|i| format!("@t{i}"))
            ),
            format!("[{}]", "\"b\" ".repeat(100_000)),
        ),
        // A bound of half a megabyte, and many numbers.
        trait_of(
            "list t { member: N }\n@range(max: 1MANY)\nbigInteger N"
                .replace("MANY", &"0".repeat(500_000))
                .as_str(),
            format!("[{}]", "1 ".repeat(100_000)),
        ),
        // Patterns: long, deep, large when compiled, many, slow to match.
        format!("@pattern(\"{}\")\nstring S", "(".repeat(500_000)),
        format!("@pattern(\"{}\")\nstring S", "a{9}".repeat(200_000)),
        trait_of(
            &format!("@pattern(\"{}\")\nstring t", "(a|b)?".repeat(100_000)),
            "\"ab\"".to_owned(),
        ),
        trait_of(
            "@pattern(\"^(a|b)*a(a|b){300}$\")\nstring t",
            format!("\"{}\"", "ab".repeat(250_000)),
        ),
        format!(
            "structure S {{ {} }}",
            lines(1_000, &|i| format!(
                "@pattern(\"^[\\\\p{{L}}]{{9}}{i}$\") a{i}: String = \"\""
            ))
        ),
        // Cycles: long ones, and very many short ones.
        lines(20_000, &|i| {
            format!("structure A{i} {{ @required a: A{} }}", (i + 1) % 20_000)
        }),
        lines(20_000, &|i| format!("structure A{i} {{ @required a: B }}"))
            + "structure B {\n"
            + &lines(20_000, &|i| format!("@required a{i}: A{i}"))
            + "}",
        lines(30_000, &|i| {
            format!("list A{i} {{ member: A{} }}", (i + 1) % 30_000)
        }),
        lines(20_000, &|i| format!("union A{i} {{ a: B }}"))
            + "union B {\n"
            + &lines(20_000, &|i| format!("a{i}: A{i}"))
            + "}",
        // Enums, and names that differ by case.
        format!("enum E {{\n{}}}", lines(60_000, &|i| format!("a{i}"))),
        format!(
            "@enum([{}])\nstring E",
            lines(20_000, &|i| format!("{{value: \"v{i}\", name: \"n{i}\"}}"))
        ),
        format!(
            "structure S {{\n{}}}",
            lines(20_000, &|i| format!("@jsonName(\"x\") a{i}: String"))
        ),
        // A reference for each of many structures, with all members of each.
        format!(
            "resource R {{ identifiers: {{ {} }} }}\n@references([{}])\nstructure S {{}}",
            lines(4_000, &|i| format!("i{i}: String")),
            "{resource: R} ".repeat(20_000)
        ),
        // Each service over the same data.
        format!(
            "@trait @protocolDefinition(noInlineDocumentSupport: true) structure p {{}}\n{}{}\
             operation O {{ output := {{ s: S0 }} }}\nstructure Other {{ d: Document }}",
            lines(5_000, &|i| format!("@p service X{i} {{ operations: [O] }}")),
            lines(10_000, &|i| format!("structure S{i} {{ s: S{} }}", i + 1))
        ) + "\nstructure S10000 {}",
    ];
    for body in texts {
        let text = format!("$version: \"2\"\nnamespace h\n{body}\n");
        let start = Instant::now();
        let _ = Loader::new().add_text("h.smithy", text.as_str()).assemble();
        let took = start.elapsed();
        println!("{took:?} {:?}", body.chars().take(60).collect::<String>());
        assert!(
            took < Duration::from_secs(20),
            "{took:?} for {}",
            &body[..60]
        );
    }
}

/// What no bound on the text bounds has one of its own, and says so.
/// Elided members are looked for in resources when IDL is written, too.
#[test]
fn elided_members_are_written_in_no_time() {
    let numbered = |before: &str, after: &str| {
        (0..20_000)
            .map(|i| format!("{before}{i}{after}"))
            .collect::<String>()
    };
    let text = format!(
        "$version: \"2\"\nnamespace h\nresource R {{ identifiers: {{ {} }} }}\n\
         structure S for R {{ {} }}\n{}",
        numbered("i", ": String "),
        numbered("$i", " "),
        numbered("structure S", " for R { $i19999 }\n"),
    );
    let assembled = Loader::new().add_text("h.smithy", text).assemble();
    let model = assembled.unwrap().model;
    let start = Instant::now();
    let files = polywire_model::idl::write(&model);
    let took = start.elapsed();
    assert!(files[0].text.contains("$i19999\n}"));
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn products_are_bounded() {
    let numbered = |count: usize, before: &str, after: &str| {
        (0..count)
            .map(|i| format!("{before}{i}{after}"))
            .collect::<String>()
    };
    let found = |body: String| -> Vec<(String, String)> {
        let text = format!("$version: \"2\"\nnamespace h\n{body}\n");
        let diagnostics = match Loader::new().add_text("h.smithy", text).assemble() {
            Ok(assembled) => assembled.warnings,
            Err(error) => error.diagnostics().to_vec(),
        };
        let found = diagnostics.into_iter();
        found
            .map(|found| (found.code.into_owned(), found.message))
            .collect()
    };
    // Each user of the mixin gets all of its traits: 1.6 million.
    let definitions = numbered(800, "@trait\nstructure t", " {}\n");
    let users = numbered(2_000, "structure S", " with [M] {}\n");
    let traits = numbered(800, "@t", " ");
    let too_many = "mixins add more than 1000000 traits to this model";
    for mixin in [
        format!("structure M {{\n{traits}m: String }}"),
        format!("{traits}\nstructure M {{}}"),
    ] {
        let found = found(format!("{definitions}@mixin\n{mixin}\n{users}"));
        assert_eq!(found[0], ("TooManyTraits".to_owned(), too_many.to_owned()));
    }
    // A chain of mixins, each with the errors of all before: 32 million.
    let chain: String = (1..8_000)
        .map(|i| {
            let mixin = i - 1;
            format!("@mixin\noperation M{i} with [M{mixin}] {{ errors: [E{i}] }}\n")
        })
        .collect();
    let errors = numbered(8_000, "@error(\"client\")\nstructure E", " {}\n");
    let chained = found(format!("@mixin\noperation M0 {{}}\n{chain}{errors}"));
    let too_many = "mixins add more than 250000 references to this model";
    assert_eq!(
        chained[0],
        ("TooManyReferences".to_owned(), too_many.to_owned())
    );
    // Two operations share a route, and each service has all operations.
    let (names, operations) = (
        numbered(2_000, "O", " "),
        numbered(2_000, "operation O", " {}\n"),
    );
    let services = numbered(1_000, "service S", " { resources: [R] }\n");
    let pair = ["A", "B"]
        .map(|name| format!("@http(method: \"GET\", uri: \"/\")\noperation {name} {{}}\n"))
        .concat();
    let found = found(format!(
        "resource R {{ operations: [{names}A] }}\n{operations}{services}{pair}"
    ));
    let given_up = found.iter().find(|(code, _)| code == "TooManyOperations");
    let message = &given_up.unwrap().1;
    assert!(message.starts_with("not all operations were searched"));
}

/// Rules about services ask for each operation what may be long: what it takes,
/// who binds it, what it names.
#[test]
fn services_of_many_long_operations() {
    let numbered = |count: usize, before: &str, after: &str| {
        (0..count)
            .map(|i| format!("{before}{i}{after}"))
            .collect::<String>()
    };
    let many = 10_000;
    let services = |operations: &str| {
        let body = format!(" {{ operations: [{operations}], resources: [R] }}\n");
        numbered(2_000, "service V", &body)
    };
    let names = numbered(many, "O", " ");
    let operations = |traits: &str, body: &str| {
        numbered(
            many,
            &format!("{traits} operation O"),
            &format!(" {body}\n"),
        )
    };
    let members = |traits: &str| numbered(many, &format!("{traits} m"), ": String\n");
    let get = "@http(method: \"GET\", uri: \"/?a\")";
    let models = [
        // Each operation takes the same long structure.
        format!(
            "structure S {{ {} }}\n{}",
            members("@httpHeader(\"x\")"),
            operations(get, "{ input: S, output: S }")
        ),
        format!(
            "structure S {{ {} }}\n{}",
            members("@required @hostLabel"),
            operations("@endpoint(hostPrefix: \"a.\")", "{ input: S }")
        ),
        format!(
            "structure S {{ {} }}\n{}",
            members(""),
            operations(
                &format!("@requestCompression(encodings: [\"gzip\"]) {get}"),
                "{ input: S }"
            )
        ),
        format!(
            "@streaming blob B\nstructure S {{ {} }}\nstructure U {{ {} }}",
            numbered(many, "@required m", ": B\n"),
            numbered(many, "m", ": S\n")
        ),
        // Each service binds them.
        format!(
            "resource R {{ operations: [{names}] }}\n{}{}",
            services(""),
            operations("", "{}")
        ),
        format!(
            "{}resource R {{}}\n@authDefinition @trait structure T {{}}\n@auth([{}]) operation O {{}}",
            services("O"),
            "h#T ".repeat(many)
        ),
        format!(
            "{}resource R {{}}\n@paginated(inputToken: \"{}\") operation O {{ input: S }}\nstructure S {{ m: S }}",
            services("O"),
            "m.".repeat(many)
        ),
        format!(
            "{}resource R {{}}\n@smithy.waiters#waitable({}) operation O {{}}",
            services("O"),
            numbered(many, "W", ": { acceptors: [] }\n")
        ),
        // Each resource has them, and identifiers.
        format!(
            "resource R {{ identifiers: {{ {0} }}, properties: {{ p: String }}, operations: [{names}], collectionOperations: [{names}], resources: [{1}] }}\n{2}{3}",
            numbered(many, "i", ": String "),
            numbered(many, "R", " "),
            operations("", "{ input: S, output: S }"),
            numbered(many, "resource R", " { identifiers: { i0: String } }\n"),
        ) + &format!("structure S {{ {} }}", numbered(many, "@required i", ": String ")),
        // A chain of resources, and each of them leads to all shapes.
        (0..many)
            .map(|i| {
                let next = i + 1;
                format!("resource R{i} {{ identifiers: {{ i{i}: String }}, resources: [R{next}] }}\nstructure S{i} {{ i{i}: String }}\n")
            })
            .collect::<String>()
            + &format!("resource R{many} {{ resources: [R0] }}"),
        // Examples and waiters ask for errors.
        format!(
            "@examples([{}]) operation O {{ errors: [{}] }}\n",
            numbered(many, "{ title: \"t\", error: { shapeId: E", " } }\n"),
            numbered(many, "E", " ")
        ) + &numbered(many, "@error(\"client\") structure E", " {}\n"),
    ];
    for body in models {
        let text = format!("$version: \"2\"\nnamespace h\n{body}\n");
        let start = Instant::now();
        let result = Loader::new().add_text("h.smithy", text.as_str()).assemble();
        let took = start.elapsed();
        let found = match result {
            Ok(assembled) => assembled.warnings,
            Err(error) => error.diagnostics().to_vec(),
        };
        let codes: BTreeSet<&str> = found.iter().map(|found| &*found.code).collect();
        // Else nothing would have been looked at.
        assert!(!codes.contains("Syntax"), "{}", found[0]);
        println!(
            "{took:?} {codes:?} {:?}",
            body.chars().take(60).collect::<String>()
        );
        assert!(
            took < Duration::from_secs(20),
            "{took:?} for {}",
            &body[..80]
        );
    }
}

/// Each operation has all errors, in order and once. Comparing each of them with
/// those before it would take minutes.
#[test]
fn schemas_of_many_operations_with_many_errors() {
    let (operations, errors) = (300, 6_000);
    let names = |name: &str, count| {
        (0..count)
            .map(|i| format!("{name}{i} "))
            .collect::<String>()
    };
    let all = names("E", errors);
    let text = format!(
        "$version: \"2\"\nnamespace h\n\
         service S {{ version: \"1\", operations: [{}A], errors: [E7 {all}] }}\n\
         operation A {{ errors: [E9 E8 E9] }}\n{}{}",
        names("O", operations),
        (0..operations)
            .map(|i| format!("operation O{i} {{ errors: [E3] }}\n"))
            .collect::<String>(),
        (0..errors)
            .map(|i| format!("@error(\"client\")\nstructure E{i} {{}}\n"))
            .collect::<String>(),
    );
    let model = Loader::new()
        .add_text("h.smithy", text)
        .assemble()
        .unwrap()
        .model;
    let set = model.schemas("h#S").unwrap().unwrap();
    let errors_of = |name| -> Vec<String> {
        let operation = set.service(0).find_operation(name).unwrap();
        let ids = operation.errors().map(|error| error.id().to_owned());
        ids.collect()
    };
    let expected = |first: &[usize]| -> Vec<String> {
        let rest = std::iter::once(7).chain(0..errors);
        let mut seen = std::collections::HashSet::new();
        let all = first.iter().copied().chain(rest);
        all.filter(|i| seen.insert(*i))
            .map(|i| format!("h#E{i}"))
            .collect()
    };
    assert_eq!(errors_of("A"), expected(&[9, 8]));
    assert_eq!(errors_of("O299"), expected(&[3]));
}

fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut todo = vec![folder.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else if path
                .extension()
                .is_some_and(|e| e == "smithy" || e == "json")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(!files.is_empty());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    files
        .iter()
        .map(|path| (name(path), fs::read_to_string(path).unwrap()))
        .collect()
}

fn assemble_prefix(name: &str, text: &str, end: usize) {
    check(name, &text[..floor(text, end)]);
}

fn check(name: &str, text: &str) {
    let shared: Arc<str> = Arc::from(text);
    if let Err(error) = Loader::new().add_text(name, shared).assemble() {
        assert!(error.errors().count() > 0);
        // Rendering finds places and cuts lines: it must hold for any text, too.
        assert!(!error.to_string().is_empty());
        for diagnostic in error.errors() {
            assert!(diagnostic.position.is_some() || diagnostic.code == "TooManyProblems");
        }
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
