//! A writer of Rust source, formatted like the output of rustfmt.

/// The maximum line width.
const WIDTH: usize = 100;

/// Rust source, written line by line.
#[derive(Debug, Default)]
pub(crate) struct Source {
    text: String,
    indent: usize,
}

impl Source {
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Writes a line at the current indentation.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            for _ in 0..self.indent {
                self.text.push_str("    ");
            }
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// Writes an empty line, unless a block has just started.
    pub(crate) fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("{\n") && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Writes a line and indents the following lines.
    pub(crate) fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.indent += 1;
    }

    /// Ends the indentation and writes a line.
    pub(crate) fn close(&mut self, line: impl AsRef<str>) {
        self.indent -= 1;
        self.line(line);
    }

    /// Indents the following lines.
    pub(crate) fn indent(&mut self) {
        self.indent += 1;
    }

    /// Writes a line without indentation.
    pub(crate) fn raw(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Ends the indentation.
    pub(crate) fn dedent(&mut self) {
        self.indent -= 1;
    }

    /// Writes a documentation comment.
    pub(crate) fn doc(&mut self, text: &str) {
        for line in text.lines() {
            if line.is_empty() {
                self.line("///");
            } else {
                self.line(format!("/// {line}"));
            }
        }
    }

    /// Writes the head of a function followed by `end`. Uses one line if it fits, or else one line
    /// per argument.
    pub(crate) fn signature(&mut self, start: &str, arguments: &[&str], end: &str) {
        let whole = format!("{start}({}){end}", arguments.join(", "));
        if self.indent * 4 + whole.len() <= WIDTH {
            self.line(whole);
        } else {
            self.open(format!("{start}("));
            for argument in arguments {
                self.line(format!("{argument},"));
            }
            self.close(format!("){end}"));
        }
        if end.ends_with('{') {
            self.indent += 1;
        }
    }

    /// Writes a call as a statement or field. Uses one line if it fits, or else one line per
    /// argument.
    pub(crate) fn call(&mut self, start: &str, arguments: &[&str], end: &str) {
        self.signature(start, arguments, end);
    }

    /// Writes a slice constant. Uses one line if the slice is at most 60 columns wide, as rustfmt
    /// does, or else one line per item.
    pub(crate) fn list(&mut self, start: &str, items: &[String]) {
        let slice = items.join(", ");
        let whole = format!("{start} &[{slice}];");
        if slice.len() <= 60 && self.fits(&whole) {
            self.line(whole);
            return;
        }
        self.open(format!("{start} &["));
        for item in items {
            self.line(format!("{item},"));
        }
        self.close("];");
    }

    /// Writes a chain of method calls. Uses one line if the chain is at most 60 columns wide, as
    /// rustfmt does, or else one line per call.
    pub(crate) fn chain(&mut self, chain: &str) {
        if chain.len() <= 60 {
            self.line(chain);
            return;
        }
        let mut depth = 0;
        let mut links = vec![String::new()];
        for character in chain.chars() {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                '.' if depth == 0 => links.push(String::new()),
                _ => {}
            }
            if let Some(link) = links.last_mut() {
                link.push(character);
            }
        }
        self.line(&links[0]);
        self.indent += 1;
        for link in &links[1..] {
            self.line(link);
        }
        self.indent -= 1;
    }

    /// Whether a line fits at the current indentation.
    pub(crate) fn fits(&self, line: &str) -> bool {
        self.indent * 4 + line.len() <= WIDTH
    }

    /// Writes an arm of a `match`. Puts the expression into a block if it does not fit on the line.
    pub(crate) fn arm(&mut self, pattern: &str, expression: &str) {
        let whole = format!("{pattern} => {expression},");
        if self.fits(&whole) {
            self.line(whole);
        } else {
            self.open(format!("{pattern} => {{"));
            self.line(expression);
            self.close("}");
        }
    }
}
