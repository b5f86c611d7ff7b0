//! Shapes, members and traits.

use super::{ParseResult, Parser, STATEMENT_KEYWORDS, SyntaxError};
use crate::diagnostic::Problem;
use crate::idl::lexer::TokenKind;
use crate::idl::syntax::{
    Apply, BodyDefinition, Definition, InputOutput, MemberDefinition, Name, Statement, TraitUse,
    Value, ValueKind,
};
use crate::ids;
use crate::rules;
use crate::shape::ShapeType;
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;

/// Shapes.
impl Parser<'_, '_> {
    /// ```text
    /// ShapeStatement = TraitStatements Keyword Identifier [For] [Mixins] Body
    /// ApplyStatement = "apply" ShapeId ( Trait / "{" *Trait "}" )
    /// ```
    pub(super) fn statement(&mut self) -> ParseResult<Statement> {
        if self.at_keyword("apply") {
            // A doc comment before it has no effect.
            self.advance();
            return Ok(Statement::Apply(self.apply()?));
        }
        let mut traits = self.traits()?;
        if self.current.kind != TokenKind::Word {
            return Err(self.unexpected("a shape, such as `structure`, or `apply`"));
        }
        let shape_type = match ShapeType::from_name(self.current_text()) {
            Some(shape_type) => shape_type,
            // Version 2.0 has lists with @uniqueItems instead.
            None if self.tree.is_version_1 && self.at_keyword("set") => {
                let location = self.here();
                let name = Name {
                    text: ids::UNIQUE_ITEMS.to_owned(),
                    location,
                };
                traits.push(TraitUse {
                    name,
                    value: None,
                    location,
                });
                ShapeType::List
            }
            None => return Err(self.unknown_keyword()),
        };
        self.advance();
        let name = self.identifier("the name of the shape")?;
        Ok(Statement::Shape(self.definition(traits, shape_type, name)?))
    }

    #[cold]
    pub(super) fn unknown_keyword(&mut self) -> SyntaxError {
        let text = self.current_text();
        let problem = Problem::error(
            rules::SYNTAX,
            self.here(),
            format!("`{text}` is not the start of a statement"),
        )
        .expected("a shape type, such as `structure`, or `apply`");
        let problem = match text {
            "set" => problem.hint("Smithy 2.0 has lists with @uniqueItems instead of sets"),
            "namespace" => problem.hint("a file has one namespace, before its shapes"),
            "use" => problem.hint("`use` comes after `namespace`, before the first shape"),
            "metadata" => problem.hint("metadata comes before `namespace`"),
            _ => {
                let set = self.tree.is_version_1.then_some("set");
                problem.maybe_hint(did_you_mean(
                    text,
                    STATEMENT_KEYWORDS.into_iter().chain(set),
                ))
            }
        };
        self.problems.push(problem);
        SyntaxError
    }

    pub(super) fn apply(&mut self) -> ParseResult<Apply> {
        let target = self.shape_id("the id of a shape or member")?;
        let mut traits = Vec::new();
        if self.current.kind == TokenKind::OpenBrace {
            let open = self.here();
            self.advance();
            while self.current.kind != TokenKind::CloseBrace {
                if self.current.kind != TokenKind::At {
                    return Err(self.unclosed("`@` or `}`", open));
                }
                traits.push(self.trait_use()?);
            }
            self.advance();
        } else if self.current.kind == TokenKind::At {
            traits.push(self.trait_use()?);
        } else {
            return Err(self.unexpected("`@`, or `{` and several traits"));
        }
        Ok(Apply { target, traits })
    }

    /// What follows the name of a shape.
    pub(super) fn definition(
        &mut self,
        traits: Vec<TraitUse>,
        shape_type: ShapeType,
        name: Name,
    ) -> ParseResult<Definition> {
        let mut for_resource = None;
        if self.at_keyword("for") && !self.current.at_line_start {
            if shape_type != ShapeType::Structure {
                return Err(self.unexpected("a structure before `for`"));
            }
            self.advance();
            for_resource = Some(self.shape_id("the id of a resource")?);
        }
        let mut mixins = Vec::new();
        if self.at_keyword("with") && !self.current.at_line_start {
            self.advance();
            mixins = self.shape_ids("a mixin")?;
        }
        let (mut members, mut body) = (Vec::new(), BodyDefinition::None);
        match shape_type {
            ShapeType::Operation => body = self.operation_body()?,
            ShapeType::Resource | ShapeType::Service => {
                if self.current.kind != TokenKind::OpenBrace {
                    return Err(self.unexpected("`{`"));
                }
                body = BodyDefinition::Object(self.object(0)?);
            }
            shape_type if shape_type.is_aggregate() || shape_type.has_named_members() => {
                members = self.members(shape_type)?;
            }
            _ => {}
        }
        Ok(Definition {
            traits,
            shape_type,
            name,
            for_resource,
            mixins,
            members,
            body,
        })
    }

    /// `{` members `}`. Members with errors are omitted.
    pub(super) fn members(&mut self, shape_type: ShapeType) -> ParseResult<Vec<MemberDefinition>> {
        let open = self.here();
        self.expect(TokenKind::OpenBrace, "`{`")?;
        let is_enum = matches!(shape_type, ShapeType::Enum | ShapeType::IntEnum);
        let mut doubt = None;
        let mut members = Vec::new();
        while self.current.kind != TokenKind::CloseBrace {
            if is_enum {
                doubt = doubt.or_else(|| self.possible_statement());
            } else if self.at_statement() {
                // Members with a target have a colon after their name.
                return Err(self.unclosed("a member or `}`", open));
            }
            if self.current.kind == TokenKind::EndOfFile {
                return Err(self.unclosed_since(doubt, "a member or `}`", open));
            }
            let start = self.current.start;
            match self.member(shape_type) {
                Ok(member) => members.push(member),
                Err(SyntaxError) if doubt.is_some() => {
                    return Err(self.unclosed_since(doubt, "a member or `}`", open));
                }
                Err(SyntaxError) => {
                    if !self.skip_to_member(start) {
                        return Err(SyntaxError);
                    }
                }
            }
        }
        self.advance();
        Ok(members)
    }

    /// ```text
    /// Member     = TraitStatements ( Identifier ":" ShapeId / "$" Identifier ) [ "=" Value ]
    /// EnumMember = TraitStatements Identifier [ "=" Value ]
    /// ```
    pub(super) fn member(&mut self, shape_type: ShapeType) -> ParseResult<MemberDefinition> {
        let traits = self.traits()?;
        let is_enum = matches!(shape_type, ShapeType::Enum | ShapeType::IntEnum);
        let elided = self.current.kind == TokenKind::Dollar && !is_enum;
        if elided {
            self.advance();
        }
        let name = self.identifier("a member name or `}`")?;
        let mut target = None;
        if !elided && !is_enum {
            self.expect(TokenKind::Colon, "`:` and the target of the member")?;
            target = Some(self.shape_id("the id of the target")?);
        }
        let mut value = None;
        if self.current.kind == TokenKind::Equals {
            if !is_enum && shape_type != ShapeType::Structure {
                return Err(self.unexpected("no value: only members of structures have defaults"));
            }
            self.advance();
            value = Some(self.value(0)?);
            self.expect_line_break_after_value();
        }
        Ok(MemberDefinition {
            traits,
            name,
            target,
            elided,
            value,
        })
    }

    /// The grammar requires a line break after each assigned value. This parser does not need it,
    /// but other tools reject files without it.
    fn expect_line_break_after_value(&mut self) {
        self.drop_trailing_doc();
        if self.current.after_newline || self.current.kind == TokenKind::EndOfFile {
            return;
        }
        self.problems.push(
            Problem::warning(
                rules::LINE_BREAK,
                self.here(),
                "an assigned value is followed by more on the same line",
            )
            .expected("a line break")
            .hint("the grammar of Smithy requires one, and other tools reject the file without it"),
        );
    }

    /// ```text
    /// OperationBody = "{" *( "input" InputOutput / "output" InputOutput
    ///                      / "errors" ":" "[" *ShapeId "]" ) "}"
    /// ```
    pub(super) fn operation_body(&mut self) -> ParseResult<BodyDefinition> {
        let open = self.here();
        self.expect(TokenKind::OpenBrace, "`{`")?;
        let (mut input, mut output, mut errors) = (None, None, None);
        while self.current.kind != TokenKind::CloseBrace {
            if self.current.kind == TokenKind::EndOfFile || self.at_statement() {
                return Err(self.unclosed("`input`, `output`, `errors` or `}`", open));
            }
            let start = self.current.start;
            let property = self.operation_property(&mut input, &mut output, &mut errors);
            if property.is_err() && !self.skip_to_member(start) {
                return Err(SyntaxError);
            }
        }
        self.advance();
        Ok(BodyDefinition::Operation {
            input,
            output,
            errors: errors.unwrap_or_default(),
        })
    }

    pub(super) fn operation_property(
        &mut self,
        input: &mut Option<InputOutput>,
        output: &mut Option<InputOutput>,
        errors: &mut Option<Vec<Name>>,
    ) -> ParseResult<()> {
        const KNOWN: [&str; 3] = ["input", "output", "errors"];
        let text = self.current_text();
        if self.current.kind != TokenKind::Word || !KNOWN.contains(&text) {
            let problem = Problem::error(
                rules::SYNTAX,
                self.here(),
                format!("{} is not expected here", self.found()),
            )
            .expected("`input`, `output`, `errors` or `}`")
            .maybe_hint(did_you_mean(text, KNOWN.into_iter()));
            self.problems.push(problem);
            return Err(SyntaxError);
        }
        let again = match text {
            "input" => input.is_some(),
            "output" => output.is_some(),
            _ => errors.is_some(),
        };
        if again {
            let message = format!("`{text}` occurs twice in this operation");
            self.problems
                .push(Problem::error(rules::DUPLICATE_KEY, self.here(), message));
        }
        self.advance();
        match text {
            "input" => *input = Some(self.input_output()?),
            "output" => *output = Some(self.input_output()?),
            _ => {
                self.expect(TokenKind::Colon, "`:`")?;
                *errors = Some(self.shape_ids("the id of an error")?);
            }
        }
        Ok(())
    }

    /// `: ShapeId`, or `:=` and a structure without a name.
    pub(super) fn input_output(&mut self) -> ParseResult<InputOutput> {
        match self.current.kind {
            TokenKind::Colon => {
                self.advance();
                Ok(InputOutput::Target(self.shape_id("the id of a structure")?))
            }
            TokenKind::ColonEquals => {
                let location = self.here();
                self.advance();
                let traits = self.traits()?;
                let name = Name {
                    text: String::new(),
                    location,
                };
                let definition = self.definition(traits, ShapeType::Structure, name)?;
                Ok(InputOutput::Inline(Box::new(definition)))
            }
            _ => Err(self.unexpected("`:` and a shape id, or `:=` and a structure")),
        }
    }

    /// Doc comment and traits before a shape or member.
    pub(super) fn traits(&mut self) -> ParseResult<Vec<TraitUse>> {
        let mut traits = Vec::new();
        if let Some(start) = self.docs_start.take() {
            let location = SourceLocation::new(self.file, start);
            let docs = std::mem::take(&mut self.docs);
            traits.push(TraitUse {
                name: Name {
                    text: ids::DOCUMENTATION.to_owned(),
                    location,
                },
                value: Some(Value {
                    kind: ValueKind::String(docs),
                    location,
                }),
                location,
            });
        }
        while self.current.kind == TokenKind::At {
            traits.push(self.trait_use()?);
        }
        Ok(traits)
    }

    /// ```text
    /// Trait = "@" ShapeId [ "(" [ TraitStructure / Value ] ")" ]
    /// TraitStructure = 1*( Key ":" Value )
    /// ```
    pub(super) fn trait_use(&mut self) -> ParseResult<TraitUse> {
        let location = self.here();
        self.advance();
        let name = self.shape_id("the id of a trait")?;
        if self.current.kind != TokenKind::OpenParenthesis {
            return Ok(TraitUse {
                name,
                value: None,
                location,
            });
        }
        let open = self.here();
        self.advance();
        if self.current.kind == TokenKind::CloseParenthesis {
            self.advance();
            return Ok(TraitUse {
                name,
                value: None,
                location,
            });
        }
        let value_location = self.here();
        let is_key = matches!(self.current.kind, TokenKind::Word | TokenKind::String);
        let value = if is_key && self.next_kind() == TokenKind::Colon {
            let mut entries = Vec::new();
            while self.current.kind != TokenKind::CloseParenthesis {
                if self.current.kind == TokenKind::EndOfFile || self.at_statement() {
                    return Err(self.unclosed("a key or `)`", open));
                }
                entries.push(self.entry(0)?);
            }
            Value {
                kind: ValueKind::Object(entries),
                location: value_location,
            }
        } else {
            self.value(0)?
        };
        if self.current.kind != TokenKind::CloseParenthesis {
            return Err(self.unclosed("`)`", open));
        }
        self.advance();
        Ok(TraitUse {
            name,
            value: Some(value),
            location,
        })
    }
}
