//! docs/smithy.md holds what it says: its models assemble, each with those
//! before it; together they are the example that it names; and what it shows
//! about the broken one is what is said; with `POLYWIRE_BLESS=1` that text is written
//! anew. Its commands are run in tests/interop.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use polywire::model::{Diagnostic, Loader, Severity, ast};

const PAGE: &str = include_str!("../../../docs/smithy.md");
const KETTLE: &str = include_str!("../../../examples/kettle/src/kettle.smithy");

/// The fenced blocks: what stands behind the fence, and the text.
fn blocks() -> Vec<(&'static str, String)> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let text = lines.by_ref().take_while(|line| *line != "```");
        blocks.push((info, text.map(|line| format!("{line}\n")).collect()));
    }
    blocks
}

/// A model that grows: what a block defines again takes the place of what
/// stood there, and `use` lines go below the namespace.
#[derive(Debug, Default)]
struct Growing {
    head: String,
    /// Statements by what they define, such as `operation Brew`.
    statements: Vec<(String, String)>,
}

impl Growing {
    fn add(&mut self, block: &str) {
        for statement in statements(block) {
            let name = statement.lines().find(|line| defines(line));
            match name.map(|line| words(line, 2)) {
                Some(name) => match self.statements.iter_mut().find(|(own, _)| *own == name) {
                    Some((_, own)) => *own = statement,
                    None => self.statements.push((name, statement)),
                },
                None if statement.starts_with("apply ") => {
                    self.statements.push((statement.clone(), statement));
                }
                None => self.head.push_str(&statement),
            }
        }
    }

    fn text(&self) -> String {
        let statements = self.statements.iter().map(|(_, text)| text.as_str());
        std::iter::once(self.head.as_str())
            .chain(statements)
            .collect()
    }
}

/// A block in pieces that end with an empty line outside of all brackets.
fn statements(block: &str) -> Vec<String> {
    let mut statements = vec![String::new()];
    let mut depth = 0_i32;
    for line in block.lines() {
        for letter in line.chars() {
            match letter {
                '{' | '[' | '(' => depth += 1,
                '}' | ']' | ')' => depth -= 1,
                _ => {}
            }
        }
        let last = statements.last_mut().unwrap();
        last.push_str(line);
        last.push('\n');
        if line.is_empty() && depth == 0 {
            statements.push(String::new());
        }
    }
    assert_eq!(depth, 0, "{block}");
    statements.last_mut().unwrap().push('\n');
    statements
}

fn defines(line: &str) -> bool {
    const TYPES: &str = " enum intEnum list map operation resource service structure union ";
    line.ends_with('{') && TYPES.contains(&format!(" {} ", words(line, 1)))
}

fn words(line: &str, count: usize) -> String {
    let words: Vec<&str> = line.split(' ').take(count).collect();
    words.join(" ")
}

/// The model as JSON AST.
fn assemble(text: &str) -> String {
    match Loader::new().add_text("kettle.smithy", text).assemble() {
        Ok(assembled) => {
            // A piece of a model may hold what nothing refers to yet.
            let loud = |finding: &&Diagnostic| finding.severity > Severity::Note;
            let findings: Vec<&Diagnostic> = assembled.warnings.iter().filter(loud).collect();
            assert!(findings.is_empty(), "{findings:?}\n{text}");
            ast::write(&assembled.model).to_json_pretty()
        }
        Err(error) => panic!("{error}\n{text}"),
    }
}

#[test]
fn every_model_of_the_page_assembles() {
    let mut growing = Growing::default();
    let mut count = 0;
    let mut seen_whole = false;
    let whole = assemble(KETTLE);
    for (info, text) in blocks() {
        match info {
            "smithy" => growing = Growing::default(),
            "smithy,continues" => {}
            _ => continue,
        }
        count += 1;
        growing.add(&text);
        seen_whole |= assemble(&growing.text()) == whole;
    }
    assert!(count >= 10, "{count} models");
    assert!(seen_whole, "no step gives the model of examples/kettle");
}

#[test]
fn the_broken_model_is_explained_as_shown() {
    let blocks = blocks();
    let broken: Vec<usize> = (0..blocks.len())
        .filter(|&at| blocks[at].0 == "smithy,broken")
        .collect();
    assert_eq!(broken.len(), 1);
    let at = broken[0];
    // The model, the command, and what it prints.
    let [(_, model), (_, command), (_, shown)] = &blocks[at..at + 3] else {
        panic!("nothing after the broken model");
    };
    let name = command.split_whitespace().last().unwrap();
    let error = Loader::new()
        .add_text(name, model.as_str())
        .assemble()
        .unwrap_err();
    let said: String = error
        .diagnostics()
        .iter()
        .map(|finding| format!("{finding}\n\n"))
        .collect();
    let said = format!("{said}{} errors\n", error.diagnostics().len());
    if std::env::var_os("POLYWIRE_BLESS").is_some() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/smithy.md");
        std::fs::write(page, PAGE.replacen(shown, &said, 1)).unwrap();
    } else {
        assert_eq!(*shown, said, "the page should show:\n{said}");
    }
}
