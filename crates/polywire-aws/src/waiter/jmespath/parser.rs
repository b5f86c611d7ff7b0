//! A parser by precedence.
//!
//! Each operator binds its left side with a power. `expression(power)` parses a prefix, then operators that bind more
//! strongly than `power`. The right side of a projection (`[*]`, `[]`, `[?...]`, `.*`) is what follows up to a pipe
//! or an operator of comparison or logic; it is applied to each item.

use super::lexer::{Token, error, tokens};
use super::{Function, MAX_LENGTH, MAX_NODES, Node, ParseError};

/// Operators that bind less than this end a projection.
const PROJECTION_STOP: u8 = 10;

fn power(token: &Token) -> u8 {
    match token {
        Token::Pipe => 1,
        Token::Or => 2,
        Token::And => 3,
        Token::Compare(_) => 5,
        Token::Flatten => 9,
        Token::Star => 20,
        Token::Filter => 21,
        Token::Dot => 40,
        Token::Not => 45,
        Token::LeftBrace => 50,
        Token::LeftBracket => 55,
        Token::LeftParenthesis => 60,
        _ => 0,
    }
}

pub(super) fn parse(text: &str) -> Result<Node, ParseError> {
    if text.len() > MAX_LENGTH {
        return Err(error(MAX_LENGTH, format!("longer than {MAX_LENGTH} bytes")));
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        nodes: 0,
    };
    let root = parser.expression(0)?;
    parser.expect(&Token::End, "the end of the expression")?;
    Ok(root)
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    nodes: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// The token `ahead` of the next; the end repeats.
    fn peek_at(&self, ahead: usize) -> &Token {
        let index = (self.next + ahead).min(self.tokens.len() - 1);
        &self.tokens[index].0
    }

    fn offset(&self) -> usize {
        self.tokens[self.next.min(self.tokens.len() - 1)].1
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn accept(&mut self, token: &Token) -> bool {
        let found = self.peek() == token;
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, token: &Token, name: &str) -> Result<(), ParseError> {
        match self.accept(token) {
            true => Ok(()),
            false => Err(self.unexpected(name)),
        }
    }

    fn unexpected(&self, expected: &str) -> ParseError {
        error(self.offset(), format!("expected {expected}"))
    }

    /// Counts a node. The number bounds the depth of the tree, and so the recursion of parser, search and drop.
    fn count(&mut self) -> Result<(), ParseError> {
        self.nodes += 1;
        match self.nodes > MAX_NODES {
            true => Err(error(self.offset(), format!("more than {MAX_NODES} parts"))),
            false => Ok(()),
        }
    }

    fn expression(&mut self, least: u8) -> Result<Node, ParseError> {
        let mut left = self.prefix()?;
        while power(self.peek()) > least {
            left = self.infix(left)?;
        }
        Ok(left)
    }

    fn boxed(&mut self, least: u8) -> Result<Box<Node>, ParseError> {
        self.expression(least).map(Box::new)
    }

    fn prefix(&mut self) -> Result<Node, ParseError> {
        self.count()?;
        let start = self.offset();
        match self.advance() {
            Token::At => Ok(Node::Current),
            Token::Literal(value) => Ok(Node::Literal(value)),
            Token::Name(name) if *self.peek() == Token::LeftParenthesis => self.call(&name, start),
            Token::Name(name) => Ok(Node::Field(name)),
            Token::QuotedName(_) if *self.peek() == Token::LeftParenthesis => {
                Err(error(start, "the name of a function has no quotes"))
            }
            Token::QuotedName(name) => Ok(Node::Field(name)),
            Token::Not => Ok(Node::Not(self.boxed(power(&Token::Not))?)),
            Token::Star => self.object_projection(Node::Current),
            Token::Flatten => self.flatten(Node::Current),
            Token::Filter => self.filter(Node::Current),
            Token::LeftBrace => self.multi_hash(),
            Token::LeftParenthesis => {
                let inner = self.expression(0)?;
                self.expect(&Token::RightParenthesis, "`)`")?;
                Ok(inner)
            }
            Token::LeftBracket => match self.peek() {
                Token::Number(_) | Token::Colon => self.index_or_slice(Node::Current),
                Token::Star if *self.peek_at(1) == Token::RightBracket => {
                    self.next += 2;
                    self.list_projection(Node::Current)
                }
                _ => self.multi_list(),
            },
            _ => Err(error(start, "expected an expression")),
        }
    }

    fn infix(&mut self, left: Node) -> Result<Node, ParseError> {
        self.count()?;
        let token = self.advance();
        let least = power(&token);
        let left_box = |left| Box::new(left);
        Ok(match token {
            Token::Dot if *self.peek() == Token::Star => {
                self.next += 1;
                self.object_projection(left)?
            }
            Token::Dot => Node::Sub(left_box(left), Box::new(self.after_dot(least)?)),
            Token::Pipe => Node::Sub(left_box(left), self.boxed(least)?),
            Token::Or => Node::Or(left_box(left), self.boxed(least)?),
            Token::And => Node::And(left_box(left), self.boxed(least)?),
            Token::Compare(comparison) => {
                Node::Compare(comparison, left_box(left), self.boxed(least)?)
            }
            Token::Flatten => self.flatten(left)?,
            Token::Filter => self.filter(left)?,
            Token::LeftBracket => match self.peek() {
                Token::Number(_) | Token::Colon => self.index_or_slice(left)?,
                Token::Star if *self.peek_at(1) == Token::RightBracket => {
                    self.next += 2;
                    self.list_projection(left)?
                }
                _ => return Err(self.unexpected("an index, a slice, `*` or `?`")),
            },
            _ => {
                self.next -= 1;
                return Err(self.unexpected("an operator"));
            }
        })
    }

    /// What can follow a dot, without `*`.
    fn after_dot(&mut self, least: u8) -> Result<Node, ParseError> {
        match self.peek() {
            Token::LeftBracket => {
                self.next += 1;
                self.count()?;
                self.multi_list()
            }
            Token::Name(_) | Token::QuotedName(_) | Token::LeftBrace => self.expression(least),
            _ => Err(self.unexpected("a name, `*`, `[` or `{` after the dot")),
        }
    }

    /// The right side of a projection.
    fn projected(&mut self, least: u8) -> Result<Node, ParseError> {
        match self.peek() {
            Token::Dot => {
                self.next += 1;
                if *self.peek() == Token::Star {
                    // The expression begins with the star, and its own right side follows.
                    return self.expression(least);
                }
                let first = self.after_dot(least)?;
                Ok(first)
            }
            Token::LeftBracket | Token::Filter => self.expression(least),
            token if power(token) < PROJECTION_STOP => Ok(Node::Current),
            _ => Err(self.unexpected("`.`, `[` or an operator after the projection")),
        }
    }

    fn list_projection(&mut self, left: Node) -> Result<Node, ParseError> {
        let right = self.projected(power(&Token::Star))?;
        Ok(Node::ListProjection(Box::new(left), Box::new(right)))
    }

    fn object_projection(&mut self, left: Node) -> Result<Node, ParseError> {
        let right = self.projected(power(&Token::Star))?;
        Ok(Node::ObjectProjection(Box::new(left), Box::new(right)))
    }

    fn flatten(&mut self, left: Node) -> Result<Node, ParseError> {
        let right = self.projected(power(&Token::Flatten))?;
        let left = Node::Flatten(Box::new(left));
        Ok(Node::ListProjection(Box::new(left), Box::new(right)))
    }

    fn filter(&mut self, left: Node) -> Result<Node, ParseError> {
        let condition = self.expression(0)?;
        self.expect(&Token::RightBracket, "`]`")?;
        let right = match self.peek() {
            Token::Flatten => Node::Current,
            _ => self.projected(power(&Token::Filter))?,
        };
        Ok(Node::FilterProjection(Box::new([left, condition, right])))
    }

    /// After `[`: `n]`, or `[start]:[stop][:[step]]]`.
    fn index_or_slice(&mut self, left: Node) -> Result<Node, ParseError> {
        self.count()?;
        if let (Token::Number(index), Token::RightBracket) = (self.peek(), self.peek_at(1)) {
            let index = Node::Index(*index);
            self.next += 2;
            return Ok(match left {
                Node::Current => index,
                left => Node::Sub(Box::new(left), Box::new(index)),
            });
        }
        let mut parts = [None; 3];
        let mut part = 0;
        loop {
            match self.peek() {
                Token::Number(number) if parts[part].is_none() => parts[part] = Some(*number),
                Token::Colon if part < 2 => part += 1,
                Token::RightBracket => break,
                _ => return Err(self.unexpected("a number, `:` or `]` in the slice")),
            }
            self.next += 1;
        }
        self.next += 1;
        let [start, stop, step] = parts;
        let slice = Node::Slice(start, stop, step.unwrap_or(1));
        self.list_projection(Node::Sub(Box::new(left), Box::new(slice)))
    }

    /// After `[`.
    fn multi_list(&mut self) -> Result<Node, ParseError> {
        let mut items = Vec::new();
        loop {
            items.push(self.expression(0)?);
            if !self.accept(&Token::Comma) {
                break;
            }
        }
        self.expect(&Token::RightBracket, "`,` or `]`")?;
        Ok(Node::MultiList(items))
    }

    /// After `{`.
    fn multi_hash(&mut self) -> Result<Node, ParseError> {
        let mut members = Vec::new();
        loop {
            let (Token::Name(name) | Token::QuotedName(name)) = self.peek().clone() else {
                return Err(self.unexpected("a name"));
            };
            self.next += 1;
            self.expect(&Token::Colon, "`:`")?;
            members.push((name, self.expression(0)?));
            if !self.accept(&Token::Comma) {
                break;
            }
        }
        self.expect(&Token::RightBrace, "`,` or `}`")?;
        Ok(Node::MultiHash(members))
    }

    /// Before `(`.
    fn call(&mut self, name: &str, start: usize) -> Result<Node, ParseError> {
        self.next += 1;
        let function = Function::from_name(name)
            .ok_or_else(|| error(start, format!("the function `{name}` is not supported")))?;
        let mut arguments = Vec::new();
        if !self.accept(&Token::RightParenthesis) {
            loop {
                arguments.push(self.expression(0)?);
                if !self.accept(&Token::Comma) {
                    break;
                }
            }
            self.expect(&Token::RightParenthesis, "`,` or `)`")?;
        }
        if !function.accepts(arguments.len()) {
            let count = arguments.len();
            return Err(error(
                start,
                format!("`{name}` does not take {count} arguments"),
            ));
        }
        Ok(Node::Call(function, arguments))
    }
}
