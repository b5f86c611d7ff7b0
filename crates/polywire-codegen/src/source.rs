//! The text of generated code while it grows, formatted as rustfmt would.

/// How long a line may be.
const WIDTH: usize = 100;

/// Rust source, line by line.
#[derive(Debug, Default)]
pub(crate) struct Source {
    text: String,
    indent: usize,
}

impl Source {
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// A line at the current depth.
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

    /// An empty line, unless a block has just begun.
    pub(crate) fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("{\n") && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A line, and what follows is deeper.
    pub(crate) fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.indent += 1;
    }

    /// What follows is less deep, and a line.
    pub(crate) fn close(&mut self, line: impl AsRef<str>) {
        self.indent -= 1;
        self.line(line);
    }

    /// What follows is deeper.
    pub(crate) fn open_quietly(&mut self) {
        self.indent += 1;
    }

    /// A line as it is, from the first column.
    pub(crate) fn raw(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// What follows is less deep.
    pub(crate) fn close_quietly(&mut self) {
        self.indent -= 1;
    }

    /// A documentation comment.
    pub(crate) fn doc(&mut self, text: &str) {
        for line in text.lines() {
            if line.is_empty() {
                self.line("///");
            } else {
                self.line(format!("/// {line}"));
            }
        }
    }

    /// The head of a function, with its opening brace or whatever `end` is: on
    /// one line if it fits there, else an argument a line.
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

    /// A call as a statement or a field: on one line if it fits there, else an
    /// argument a line.
    pub(crate) fn call(&mut self, start: &str, arguments: &[&str], end: &str) {
        self.signature(start, arguments, end);
    }

    /// A slice as the value of a constant: on one line if it is short, as rustfmt breaks slices
    /// of more than 60 columns, else an item per line.
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

    /// A chain of calls: on one line if it has few and short ones, else a call a
    /// line, as rustfmt breaks chains of more than 60 columns.
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

    /// Whether a line would fit here.
    pub(crate) fn fits(&self, line: &str) -> bool {
        self.indent * 4 + line.len() <= WIDTH
    }

    /// An arm of a `match`: its expression in a block if it does not fit.
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
