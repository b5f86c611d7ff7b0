//! docs/smithy-support.md has a row for each section of the specification and
//! no other, answers yes, partly or no, and knows of which traits we have the
//! definition.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use polywire::model::Loader;

const PAGE: &str = include_str!("../../../docs/smithy-support.md");
const CONTENTS: &str = include_str!("../../../docs/smithy-toc.txt");

/// A chapter and its sections.
#[derive(Debug, PartialEq)]
struct Chapter {
    /// The file, such as `spec/model`.
    path: &'static str,
    title: &'static str,
    sections: Vec<&'static str>,
}

/// The chapters of the specification, from the list of its titles.
fn contents() -> Vec<Chapter> {
    let mut chapters = Vec::<Chapter>::new();
    let mut lines = CONTENTS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        if let Some(section) = line.strip_prefix("    ") {
            chapters.last_mut().unwrap().sections.push(section);
            continue;
        }
        let (path, commit) = line.split_once(' ').unwrap();
        assert!(commit.len() >= 7, "{line}");
        let title = lines.next().unwrap();
        let sections = Vec::new();
        chapters.push(Chapter {
            path,
            title,
            sections,
        });
    }
    chapters
}

/// A row of the page: section, model, wires.
type Row = [&'static str; 3];

/// The chapters of the page and their rows.
fn page() -> Vec<(Chapter, Vec<Row>)> {
    let texts = PAGE.split("\n### ").skip(1);
    texts.map(chapter).collect()
}

fn chapter(text: &'static str) -> (Chapter, Vec<Row>) {
    let (title, text) = text.split_once("\n\n[").unwrap();
    let (path, text) = text.split_once("](https://smithy.io/2.0/").unwrap();
    assert!(text.starts_with(&format!("{path}.html)\n")), "{path}");
    let lines = text.lines().filter(|line| line.starts_with('|'));
    // The first two are the head of the table.
    let rows: Vec<Row> = lines.skip(2).map(row).collect();
    let chapter = Chapter {
        path,
        title,
        sections: rows.iter().map(|row| row[0]).collect(),
    };
    (chapter, rows)
}

fn row(line: &'static str) -> Row {
    let line = line.strip_prefix("| ").unwrap();
    let line = line.strip_suffix(" |").unwrap();
    let cells: Vec<&str> = line.split(" | ").collect();
    cells.try_into().unwrap()
}

#[test]
fn each_section_has_one_row() {
    let page = page();
    let contents = contents();
    for (chapter, (shown, _)) in contents.iter().zip(&page) {
        assert_eq!(shown, chapter);
    }
    assert_eq!(page.len(), contents.len());
    let sections: usize = contents.iter().map(|chapter| chapter.sections.len()).sum();
    assert!(sections > 350, "{sections} sections");
}

#[test]
fn each_row_answers() {
    for (chapter, rows) in page() {
        for [section, model, wires] in rows {
            for answer in [model, wires] {
                let (word, how) = answer.split_once(": ").unwrap_or((answer, "-"));
                let place = format!("{}, {section}: {answer}", chapter.title);
                assert!(["yes", "partly", "no", "–"].contains(&word), "{place}");
                assert!(!how.is_empty(), "{place}");
                assert!(word != "partly" || how != "-", "{place}: what is missing?");
            }
        }
    }
}

/// A row about a trait says no to its model when there is no definition, and
/// only then.
#[test]
fn traits_are_known_as_the_page_says() {
    let text = "$version: \"2\"\nnamespace example\nstring Any\n";
    let mut loader = Loader::new();
    let model = loader.add_text("any.smithy", text).assemble();
    let model = model.unwrap().model;
    let mut traits = 0;
    for (chapter, rows) in page() {
        for [section, answer, _] in rows {
            let Some(name) = section.strip_suffix("` trait") else {
                continue;
            };
            let name = name.trim_start_matches('`');
            let id = match name.contains('#') {
                true => name.to_owned(),
                false if chapter.path.starts_with("spec/") => format!("smithy.api#{name}"),
                // `conditions` of another namespace.
                false => continue,
            };
            traits += 1;
            let is_known = model.get(&id).is_some_and(|shape| {
                let traits = shape.traits();
                traits.is_trait_definition()
            });
            assert_eq!(is_known, !answer.starts_with("no"), "{id}: {answer}");
        }
    }
    assert!(traits > 90, "{traits} traits");
}
