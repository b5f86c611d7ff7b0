//! The parser: tokens to the syntax tree, by recursive descent.
//!
//! At the first unexpected token of a statement, the parser reports an error and recovers: within a
//! shape at the next line that can be a member, else at the next line that starts with a statement.
//! So a file with three errors gives three messages, not thirty. Every loop consumes a token or
//! ends, and the depth of values is limited.

mod backtrack;
mod shapes;
mod tokens;
mod values;

use super::lexer::{Lexer, Token, TokenKind};
use super::syntax::{File, Name, Value, ValueKind};
use crate::diagnostic::{Problem, Problems};
use crate::rules;
use crate::shape::ShapeType;
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;

/// Parses the text of a file. Errors are added to `problems`, and the tree has what could be read.
pub(crate) fn parse(text: &str, file: u32, problems: &mut Problems) -> File {
    let mut lexer = Lexer::new(text);
    let current = lexer.next();
    let mut parser = Parser {
        text,
        file,
        lexer,
        current,
        docs: String::new(),
        docs_start: None,
        trailing_doc: None,
        problems,
        returns: 0,
        tree: File {
            is_version_1: true,
            ..File::default()
        },
    };
    parser.skip_docs();
    // Errors are reported where they are found, and the tree has what was parsed.
    let _ = parser.document();
    parser.tree
}

/// A syntax error that has been added to `problems`.
struct SyntaxError;

type ParseResult<T> = Result<T, SyntaxError>;

struct Parser<'t, 'p> {
    text: &'t str,
    file: u32,
    lexer: Lexer<'t>,
    current: Token,
    /// The doc comment right before the current token.
    docs: String,
    /// The offset of its start, if there is one.
    docs_start: Option<usize>,
    /// The offset of its first line, if that is on the same line as the previous token.
    trailing_doc: Option<usize>,
    problems: &'p mut Problems,
    /// The number of returns: see `doubt`.
    returns: u32,
    tree: File,
}

/// The file as a whole.
///
/// ```text
/// IDL = [WS] ControlSection MetadataSection ShapeSection
/// ```
impl Parser<'_, '_> {
    fn document(&mut self) -> ParseResult<()> {
        self.control_section()?;
        self.metadata_section();
        self.namespace();
        self.use_section();
        while self.current.kind != TokenKind::EndOfFile {
            let start = self.current.start;
            match self.statement() {
                Ok(statement) => {
                    self.tree.statements.push(statement);
                    self.line_break("a shape statement");
                }
                Err(SyntaxError) => self.skip_to_statement(start),
            }
            if self.problems.is_full() {
                break;
            }
        }
        Ok(())
    }

    /// `$version: "2"`. An error here ends the file, because the rest may be written in another
    /// version of the language.
    fn control_section(&mut self) -> ParseResult<()> {
        let mut has_version = false;
        while self.current.kind == TokenKind::Dollar {
            self.advance();
            let key = self.name_or_string("the name of a control statement")?;
            self.expect(TokenKind::Colon, "`:`")?;
            let value = self.value(0)?;
            let text = match &value.kind {
                ValueKind::String(text) => Some(text.clone()),
                _ => None,
            };
            match (key.text.as_str(), text) {
                ("version", Some(_)) if has_version => {
                    let message = "the version of the file occurs twice";
                    self.problems
                        .push(Problem::error(rules::DUPLICATE_KEY, key.location, message));
                }
                ("version", Some(version)) => {
                    has_version = true;
                    self.version(&version, value.location)?;
                }
                ("operationInputSuffix" | "operationOutputSuffix", Some(suffix))
                    if !polywire_schema::is_identifier(&format!("A{suffix}")) =>
                {
                    let message = format!("the name of a shape cannot end with `{suffix}`");
                    self.problems.push(
                        Problem::error(rules::CONTROL_STATEMENT, value.location, message)
                            .expected("letters, digits and underscores"),
                    );
                }
                ("operationInputSuffix", Some(suffix)) => self.tree.input_suffix = Some(suffix),
                ("operationOutputSuffix", Some(suffix)) => self.tree.output_suffix = Some(suffix),
                ("version" | "operationInputSuffix" | "operationOutputSuffix", None) => {
                    let message = format!(
                        "the value of the control statement `${}` must be text",
                        key.text
                    );
                    self.problems.push(
                        Problem::error(rules::CONTROL_STATEMENT, value.location, message)
                            .expected("a string"),
                    );
                }
                (unknown, _) => {
                    let known = ["version", "operationInputSuffix", "operationOutputSuffix"];
                    let message = format!("the control statement `${unknown}` is unknown");
                    self.problems.push(
                        Problem::warning(rules::CONTROL_STATEMENT, key.location, message)
                            .maybe_hint(did_you_mean(unknown, known.into_iter())),
                    );
                }
            }
            self.line_break("a control statement");
        }
        if !has_version {
            self.problems.push(
                Problem::warning(
                    rules::MODEL_VERSION,
                    self.here(),
                    "the file has no version, so it is read as Smithy 1.0",
                )
                .expected("`$version: \"2\"` at the start of the file"),
            );
        }
        Ok(())
    }

    fn version(&mut self, version: &str, location: SourceLocation) -> ParseResult<()> {
        match version {
            "2" | "2.0" => {
                self.tree.is_version_1 = false;
                Ok(())
            }
            "1" | "1.0" => Ok(()),
            _ => {
                self.problems.push(
                    Problem::error(
                        rules::MODEL_VERSION,
                        location,
                        "this version of Smithy is unknown",
                    )
                    .expected("\"2\""),
                );
                Err(SyntaxError)
            }
        }
    }

    fn metadata_section(&mut self) {
        while self.at_keyword("metadata") {
            let start = self.current.start;
            self.advance();
            match self.metadata() {
                Ok(entry) => self.tree.metadata.push(entry),
                Err(SyntaxError) => self.skip_to_statement(start),
            }
            self.line_break("a metadata statement");
        }
    }

    /// `metadata key = value`
    fn metadata(&mut self) -> ParseResult<(Name, Value)> {
        let key = self.name_or_string("a metadata key")?;
        self.expect(TokenKind::Equals, "`=`")?;
        Ok((key, self.value(0)?))
    }

    /// `namespace example.weather`
    fn namespace(&mut self) {
        if self.current.kind == TokenKind::EndOfFile {
            return;
        }
        if !self.at_keyword("namespace") {
            let text = self.current_text();
            let expected = match text {
                "use" => "`namespace` before `use`",
                _ => "`namespace` and the name of the namespace",
            };
            self.unexpected(expected);
            if !(self.current.kind == TokenKind::At || is_statement_keyword(text)) {
                self.skip_to_statement(self.current.start);
            }
            return;
        }
        self.advance();
        let is_name = self.current.kind == TokenKind::Word
            && polywire_schema::is_namespace(self.current_text());
        if !is_name {
            self.unexpected("a namespace such as `example.weather`");
            self.skip_to_statement(self.current.start);
            return;
        }
        self.tree.namespace = Some(self.take_name());
        self.line_break("the namespace statement");
    }

    /// `use example.weather#City`
    fn use_section(&mut self) {
        while self.at_keyword("use") {
            let start = self.current.start;
            self.advance();
            let text = self.current_text();
            if self.current.kind == TokenKind::Word && text.contains('#') && !text.contains('$') {
                let name = self.take_name();
                self.tree.uses.push(name);
                self.line_break("a use statement");
            } else {
                self.unexpected("an absolute shape id such as `example.weather#City`");
                self.skip_to_statement(start);
            }
        }
    }
}

const STATEMENT_KEYWORDS: [&str; 23] = {
    let mut keywords = ["apply"; 23];
    let mut index = 0;
    while index < ShapeType::ALL.len() {
        keywords[index + 1] = ShapeType::ALL[index].0;
        index += 1;
    }
    keywords
};

/// Whether a word starts a statement of any section.
fn is_keyword(text: &str) -> bool {
    is_statement_keyword(text) || matches!(text, "metadata" | "namespace" | "use")
}

fn is_statement_keyword(text: &str) -> bool {
    STATEMENT_KEYWORDS.contains(&text)
}
