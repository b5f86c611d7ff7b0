//! Selectors through the public API. What they match stands in
//! `selectors/cases.txt`, and was compared with Smithy's own tool.

#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::time::{Duration, Instant};

use polywire_model::{Loader, Model, Selector, SelectorError, ShapeOrMember};

const LIBRARY: &str = include_str!("selectors/library.smithy");
const CASES: &str = include_str!("selectors/cases.txt");

fn load(text: &str) -> Model {
    let assembled = Loader::new().add_text("test.smithy", text).assemble();
    assembled.unwrap_or_else(|error| panic!("{error}")).model
}

fn parse(text: &str) -> Selector {
    Selector::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn short(found: ShapeOrMember<'_>) -> String {
    found.id().as_str().replace("example.library#", "")
}

fn select(model: &Model, selector: &str) -> Vec<String> {
    let found = parse(selector).select(model).unwrap();
    found.into_iter().map(short).collect()
}

/// Selectors of the file with the ids that they match.
fn cases() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut cases: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in CASES.lines() {
        match line.strip_prefix("  ") {
            Some(ids) => {
                let ids = ids.trim_start_matches('=').split_whitespace();
                cases.last_mut().unwrap().1.extend(ids);
            }
            None if line.is_empty() || line.starts_with('#') => {}
            None => cases.push((line, Vec::new())),
        }
    }
    cases
}

#[test]
fn selectors_match_what_smithy_says() {
    let model = load(LIBRARY);
    let cases = cases();
    assert!(cases.len() >= 130);
    let matching = cases.iter().filter(|(_, ids)| !ids.is_empty());
    assert!(matching.count() >= 110);
    for (selector, expected) in cases {
        assert_eq!(select(&model, selector), expected, "{selector}");
    }
}

/// Written out and read again it is the same selector, and matches the same.
#[test]
fn selectors_survive_being_written() {
    let model = load(LIBRARY);
    for (text, expected) in cases() {
        let selector = parse(text);
        let written = selector.to_string();
        assert_eq!(parse(&written), selector, "{written}");
        assert_eq!(parse(&written).to_string(), written);
        assert_eq!(select(&model, &written), expected, "{written}");
    }
}

/// All shapes at once, one at a time as variables want it, or as a test of each.
#[test]
fn all_ways_of_evaluation_agree() {
    let model = load(LIBRARY);
    for (text, expected) in cases() {
        for text in [
            format!("$first(*) {text}"),
            format!(":in(:root({text}))"),
            format!(":is({text})"),
            format!(":root({text})"),
        ] {
            assert_eq!(select(&model, &text), expected, "{text}");
        }
        let mut matched: Vec<String> = parse(text)
            .matches(&model)
            .unwrap()
            .iter()
            .map(|found| short(found.selected()))
            .collect();
        matched.dedup();
        assert_eq!(matched, expected, "{text}");
    }
}

/// Pieces in any order: most are no selectors; those that are survive being
/// written, and none makes the parser panic.
#[test]
fn selectors_of_pieces() {
    const PIECES: [&str; 44] = [
        "structure",
        "member",
        "*",
        "number",
        " ",
        ">",
        "<",
        "~>",
        "-[",
        "]->",
        "<-[",
        "]-",
        "input",
        ",",
        ":test(",
        ":not(",
        ":is(",
        ":in(",
        ":root(",
        ":topdown(",
        ":x(",
        ")",
        "[",
        "]",
        "[@",
        "trait",
        "|",
        "id",
        "name",
        "(keys)",
        "(length)",
        "=",
        "!=",
        "{<}",
        "^=",
        "1",
        "-2.5e3",
        "'a b'",
        "\"it's\"",
        "@{",
        "}",
        ":",
        "$v(",
        "${v}",
    ];
    let model = load(LIBRARY);
    let (mut state, mut read) = (7_u64, 0);
    for _ in 0..12_000 {
        let mut text = String::new();
        loop {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = (state >> 33) as usize;
            text.push_str(PIECES[at % PIECES.len()]);
            if (at / PIECES.len()).is_multiple_of(5) {
                break;
            }
        }
        match Selector::parse(&text) {
            Ok(selector) => {
                read += 1;
                assert_eq!(
                    parse(&selector.to_string()),
                    selector,
                    "{text} -> {selector}"
                );
                let selected = selector.select(&model).unwrap();
                assert!(selected.len() <= 200);
            }
            Err(error) => {
                assert!(text.is_char_boundary(error.offset()), "{error}");
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(read > 400, "{read}");
}

#[test]
fn selectors_are_written_in_one_form() {
    for (text, written) in [
        ("structure>member", "structure > member"),
        ("string\n\t:not( enum )", "string :not(enum)"),
        ("*[ trait|required ]", "*[trait|required]"),
        (":each(string,list)", ":is(string, list)"),
        ("set", "list"),
        ("collection", "list"),
        ("-[input,output]->", "-[input, output]->"),
        ("<-[ member ]-structure", "<-[member]- structure"),
        ("[id=\"a\"]", "[id = a]"),
        ("[id='a b',1,'01']", "[id = 'a b', 1, '01']"),
        ("[id=\"it's\" i]", "[id = \"it's\" i]"),
        ("[id = 'a#b']", "[id = a#b]"),
        ("[id = 'a#b$c']", "[id = 'a#b$c']"),
        (
            "[@:@{id|name}=a,@{id}i&&@{id}!=b]",
            "[@: @{id|name} = a, @{id} i && @{id} != b]",
        ),
        (
            "[@ trait|'a#b' : @{(keys)} {<<} x]",
            "[@trait|a#b: @{(keys)} {<<} x]",
        ),
        ("$ x (*) $ { x }", "$x(*) ${x}"),
        ("[trait|(keys)|(first)]", "[trait|(keys)|(first)]"),
        ("~>*~>", "~> * ~>"),
    ] {
        let selector = parse(text);
        assert_eq!(selector.to_string(), written);
        assert_eq!(parse(written), selector);
        assert_eq!(written.parse::<Selector>().unwrap(), selector);
    }
    assert_eq!(format!("{:?}", parse("string")), "Selector(string)");
}

fn error(text: &str) -> SelectorError {
    Selector::parse(text).unwrap_err()
}

#[test]
fn errors_say_where_and_what() {
    for (text, offset, message) in [
        ("", 0, "the selector ends too early"),
        ("  \n ", 4, "the selector ends too early"),
        ("foo", 0, "`foo` is not a shape type"),
        ("structure >> strng", 13, "`strng` is not a shape type"),
        ("string,list", 6, "`,` is not expected here"),
        ("string)", 6, "`)` is not expected here"),
        ("(string)", 0, "`(` is not expected here"),
        (":is()", 4, "`)` is not expected here"),
        (":is(string", 10, "the selector ends too early"),
        (":is(string,)", 11, "`)` is not expected here"),
        (":not(string, list)", 0, "`:not` has 2 arguments"),
        ("map:in(string, list)", 3, "`:in` has 2 arguments"),
        (":topdown(*, *, *)", 0, "`:topdown` has 3 arguments"),
        (": is(string)", 1, "` ` is not expected here"),
        (":is", 3, "the selector ends too early"),
        ("~ >", 1, "` ` is not expected here"),
        ("-[]->", 2, "`]` is not expected here"),
        ("-[input]>", 7, "`]` is not expected here"),
        ("<-[input", 8, "the selector ends too early"),
        ("[foo]", 1, "shapes have no attribute `foo`"),
        ("['id']", 1, "`'` is not expected here"),
        ("[id|nmae = x]", 4, "there is no property `nmae` here"),
        ("[id|(keys)]", 4, "there is no property `(keys)` here"),
        ("[service|id|foo]", 12, "there is no property `foo` here"),
        (
            "[trait|(nothing)]",
            7,
            "there is no property `(nothing)` here",
        ),
        ("[trait|a.b]", 7, "`a.b` can't be the name of a trait"),
        ("[trait|x", 8, "the selector ends too early"),
        ("[id = 'x]", 6, "the text in quotes doesn't end"),
        ("[id == x]", 5, "`=` is not expected here"),
        ("[id = x,]", 8, "`]` is not expected here"),
        ("[id = -]", 7, "`]` is not expected here"),
        ("[id = 1x]", 7, "`x` is not expected here"),
        ("[id = \u{e9}]", 6, "`\u{e9}` is not expected here"),
        (
            "[id {<} x]",
            4,
            "`{<}` compares sets, which is possible in `[@...]` only",
        ),
        ("[@id: @{foo} = x]", 8, "there is no property `foo` here"),
        (
            "[@id: @{name} = x & @{name} = y]",
            18,
            "`&` is not expected here",
        ),
        ("[@id: @{name} x]", 14, "`x` is not expected here"),
        ("[@id @{name} = x]", 5, "`@` is not expected here"),
        ("$(*)", 1, "`(` is not expected here"),
        ("$x(*, *)", 8, "the selector ends too early"),
        ("${x", 3, "the selector ends too early"),
    ] {
        let error = error(text);
        assert_eq!(
            (error.offset(), error.message()),
            (offset, message),
            "{text}"
        );
    }
}

#[test]
fn errors_are_shown_with_their_place() {
    assert_eq!(
        error("structure >\n    :tset(membr)").to_string(),
        "`membr` is not a shape type: did you mean `member`?\n |     :tset(membr)\n |           ^^^^^"
    );
    assert_eq!(
        error("[id|nane = x]").to_string(),
        "there is no property `nane` here: did you mean `name`?\n \
         | [id|nane = x]\n \
         |     ^^^^ expected `member`, `name`, `namespace` or `(length)`"
    );
    let long = format!("{}?{}", "* ".repeat(400), " *".repeat(400));
    let text = error(&long).to_string();
    assert!(text.lines().all(|line| line.len() < 200), "{text}");
    let text = error("* \u{1b}[31m").to_string();
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn variables_come_with_matches() {
    let model = load(LIBRARY);
    let selector = parse("resource $owner(*) -[create, read]-> $data(-[output]->)");
    assert_eq!(selector.variables(), ["owner", "data"]);
    let matches = selector.matches(&model).unwrap();
    let shown: Vec<String> = matches
        .iter()
        .map(|found| {
            let names = |name| -> Vec<String> {
                let shapes = found.variable(name).unwrap().iter();
                shapes.map(|shape| short(*shape)).collect()
            };
            let (owner, data) = (names("owner"), names("data"));
            format!("{} {owner:?} {data:?}", short(found.selected()))
        })
        .collect();
    assert_eq!(
        shown,
        [
            r#"AddBook ["Book"] []"#,
            r#"GetBook ["Book"] ["GetBookOutput"]"#
        ]
    );
    assert_eq!(matches[0].variable("nothing").map(<[_]>::len), None);
    assert_eq!(matches[0].variables()[0].0, "owner");
    // A shape that two ways lead to is one match, and one per start that differs.
    let matches = parse("operation $o(*) -[error]->").matches(&model).unwrap();
    assert_eq!(matches.len(), 2);
    let matches = parse("operation -[error]->").matches(&model).unwrap();
    assert_eq!(matches.len(), 1);
    assert!(matches[0].variables().is_empty());
}

#[test]
fn matches_know_what_they_are() {
    let model = load(LIBRARY);
    let all = parse("[id|name = Pages, Notes]").select(&model).unwrap();
    let types: Vec<&str> = all.iter().map(|found| found.type_name()).collect();
    assert_eq!(types, ["map", "member", "member", "integer"]);
    assert_eq!(all[1].shape().id(), all[0].id());
    assert_eq!(all[1].member().unwrap().name(), "key");
    assert_eq!(all[1].shape_type(), None);
    assert!(all[3].traits().has("smithy.api#range"));
    let position = model.sources().position(all[3].location()).unwrap();
    assert_eq!(position.to_string(), "test.smithy:152:9");
}

/// Bundled definitions are walked through, and matched when they are asked for.
#[test]
fn bundled_definitions_are_matched_on_request() {
    let model = load(LIBRARY);
    let selector = parse("list > member > string");
    assert!(selector.select(&model).unwrap().is_empty());
    let all = selector.select_all(&model).unwrap();
    assert!(all.iter().any(|found| *found.id() == "smithy.api#String"));
    assert_eq!(select(&model, "list :test(> member > string)"), ["Teams"]);
    // A file that defines one of them anew stands for it.
    let own = load("$version: \"2\"\nnamespace smithy.waiters\n@trait\nstring waitable\n");
    let selector = parse("[id = smithy.waiters#waitable]");
    let found = selector.select_all(&own).unwrap();
    assert_eq!((found.len(), found[0].type_name()), (1, "string"));
    assert_eq!(selector.select(&own).unwrap().len(), 1);
}

/// A structure that each structure leads to, and rings of structures.
fn large(count: usize) -> Model {
    let mut text = "$version: \"2\"\nnamespace a\n".to_owned();
    for at in 0..count {
        let (next, other) = ((at + 1) % count, (at * 7) % count);
        text.push_str(&format!(
            "structure S{at} {{ a: S{next}, b: S{other}, c: String }}\n"
        ));
    }
    load(&text)
}

/// Every shape leads to every shape, and yet a search for all is one search.
#[test]
fn work_is_bounded() {
    let model = large(1_000);
    let timed = |selector: &str| {
        let start = Instant::now();
        let found = parse(selector).select(&model).map(|found| found.len());
        let spent = start.elapsed();
        assert!(spent < Duration::from_secs(60), "{selector}: {spent:?}");
        found
    };
    assert_eq!(timed("~> structure"), Ok(1_000));
    assert_eq!(timed("~> ~> ~> ~> [id|name = S7] :test(structure)"), Ok(1));
    assert_eq!(
        timed("structure :test(> member > structure > member > string)"),
        Ok(1_000)
    );
    assert_eq!(timed(&format!("structure {}", "> ".repeat(180))), Ok(1_000));
    assert_eq!(timed(":recursive(> member > structure)"), Ok(1_000));
    let error = timed(&format!("$x(*) {}", "> ".repeat(150))).unwrap_err();
    assert_eq!(
        error.message(),
        "the selector takes too much work in this model"
    );
    assert!(
        error
            .to_string()
            .contains("expected a selector that visits fewer shapes")
    );
}

#[test]
fn size_and_depth_are_bounded() {
    let nested = |depth: usize| format!("{}*{}", ":not(".repeat(depth), ")".repeat(depth));
    assert!(Selector::parse(&nested(40)).is_ok());
    assert_eq!(
        error(&nested(41)).message(),
        "the selector is nested deeper than 40 levels"
    );
    assert!(Selector::parse(&nested(30_000)).is_err());
    assert!(Selector::parse(&"> ".repeat(200)).is_ok());
    assert_eq!(
        error(&"> ".repeat(201)).message(),
        "more than 200 consecutive steps to other shapes"
    );
    // What stands beside each other is not behind each other.
    assert!(Selector::parse(&"[trait|required]:not(> *)".repeat(1_000)).is_ok());
    let branches = format!(":is({})", vec!["> >"; 5_000].join(","));
    assert!(Selector::parse(&branches).is_ok());
    // Nor are tests, of which there may be many: also where one shape is tried.
    let many = "*".repeat(60_000);
    let text = format!(
        "$version: \"2\"\nnamespace a\n@trait(selector: \"{many}string\")\n\
         structure t {{}}\n@t\nstring A\n"
    );
    assert_eq!(select(&load(&text), "string"), ["a#A"]);
    let long = format!("[id = '{}']", "x".repeat(1 << 16));
    assert_eq!(
        error(&long).message(),
        "the selector is longer than 65536 bytes"
    );
    let model = load(LIBRARY);
    assert_eq!(
        select(&model, &nested(40)).len(),
        parse("*").select(&model).unwrap().len()
    );
}

/// Selectors of `@idRef` come with a model, too: their work is bounded by its size,
/// and that is said once.
#[test]
fn id_refs_are_bounded() {
    const COUNT: usize = 1_000;
    let mut text = "$version: \"2\"\nnamespace a\n\
         @trait\n@idRef(selector: \"structure $all(~> *) ~> [id|name = none]\")\nstring far\n"
        .to_owned();
    for at in 0..COUNT {
        let next = (at + 1) % COUNT;
        text.push_str(&format!(
            "@far(S{next})\nstructure S{at} {{ next: S{next} }}\n"
        ));
    }
    let error = Loader::new().add_text("a.smithy", text).assemble();
    let error = error.unwrap_err();
    let codes: Vec<&str> = error.errors().map(|found| &*found.code).collect();
    assert_eq!(codes, ["SelectorWork"]);
}
