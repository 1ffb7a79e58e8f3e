//! From text to a tree of statements, with all that is needed to write it again: comments and empty lines.

use thrum_parse::{In, Parser};

use super::problem::{FileId, Problem, Problems, Span};
use super::token::{self, Mistake, Token};

/// How many blocks may stand in one another.
const MAX_NESTING: usize = 16;

/// What a file or a block is made of.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Statement(Statement),
    /// A line of its own.
    Comment(Span),
    /// One empty line or more.
    EmptyLine,
}

/// Words, and perhaps a block.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// At least one.
    pub(super) words: Vec<Word>,
    pub(super) block: Option<Block>,
    /// From the first word to the end of the last, or of the block.
    pub(super) span: Span,
    /// What stands behind it on its line.
    pub(super) comment: Option<Span>,
    /// Something was wrong in it and noted, so that words may be missing.
    pub(super) broken: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) items: Vec<Item>,
    /// What stands behind its `{`.
    pub(super) comment: Option<Span>,
    /// With its braces.
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct Word {
    /// Without quotes and escapes.
    pub(super) text: String,
    pub(super) quoted: bool,
    pub(super) span: Span,
}

impl Statement {
    /// Its words, without the block.
    pub(super) fn words_span(&self) -> Span {
        let last = self.words.last().map_or(self.span, |word| word.span);
        Span {
            end: last.end,
            ..self.span
        }
    }
}

impl Block {
    /// The statements among the items.
    pub(super) fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.items.iter().filter_map(|item| match item {
            Item::Statement(statement) => Some(statement),
            _ => None,
        })
    }
}

/// Reads a file. What is wrong is noted, and what is left makes sense.
pub(super) fn parse(text: &str, file: FileId, problems: &mut Problems) -> Vec<Item> {
    let mut reader = Reader {
        input: In::whole(text.as_bytes()),
        text,
        file,
        problems,
        open: Vec::new(),
        given_up: false,
        mistakes: 0,
    };
    if text.starts_with('\u{feff}') {
        reader.input.advance('\u{feff}'.len_utf8());
    }
    let mut items = reader.items();
    while let Some(Token::Close) = reader.peek() {
        let (_, span) = reader.take();
        reader.problem(span, "this `}` closes nothing", "no `{` is open here", None);
        items.extend(reader.items());
    }
    items
}

struct Reader<'a, 'p> {
    input: In<'a>,
    text: &'a str,
    file: FileId,
    problems: &'p mut Problems,
    /// The braces that are open.
    open: Vec<Span>,
    /// It is not worth going on.
    given_up: bool,
    /// How many words were skipped.
    mistakes: usize,
}

impl Reader<'_, '_> {
    /// Up to the end of the block, which is not taken, or of the file.
    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        // Whether something stands on this line already, and how many lines ended since.
        let (mut on_line, mut line_ends) = (false, 1);
        loop {
            match self.peek() {
                None | Some(Token::Close) => return items,
                Some(Token::Newline) => {
                    self.take();
                    line_ends += 1;
                    let last = items.last();
                    if line_ends == 2 && last.is_some_and(|last| !matches!(last, Item::EmptyLine)) {
                        items.push(Item::EmptyLine);
                    }
                    on_line = false;
                    continue;
                }
                Some(Token::Semicolon) => {
                    self.take();
                }
                Some(Token::Comment) => {
                    let (_, span) = self.take();
                    match items.last_mut() {
                        Some(Item::Statement(last)) if on_line && last.comment.is_none() => {
                            last.comment = Some(span);
                        }
                        _ => items.push(Item::Comment(span)),
                    }
                }
                Some(Token::Open) => self.block_without_a_name(),
                Some(Token::Bare | Token::Quoted(_)) => {
                    items.push(Item::Statement(self.statement()));
                }
            }
            (on_line, line_ends) = (true, 0);
        }
    }

    fn statement(&mut self) -> Statement {
        let mut words = Vec::new();
        let mut block = None;
        let mistakes = self.mistakes;
        let mut broken = false;
        loop {
            let next = self.peek();
            broken |= self.mistakes > mistakes;
            match next {
                Some(Token::Bare) => {
                    let (_, span) = self.take();
                    words.push(Word {
                        text: self.text[span.start..span.end].to_owned(),
                        quoted: false,
                        span,
                    });
                }
                Some(Token::Quoted(text)) => {
                    let (_, span) = self.take();
                    words.push(Word {
                        text,
                        quoted: true,
                        span,
                    });
                }
                Some(Token::Open) => {
                    block = self.block();
                    self.end_of_statement(block.as_ref());
                }
                _ => break,
            }
            if block.is_some() {
                break;
            }
        }
        let mut span = words.first().map_or(Span::default(), |word| word.span);
        span.end = match &block {
            Some(block) => block.span.end,
            None => words.last().map_or(span.end, |word| word.span.end),
        };
        Statement {
            words,
            block,
            span,
            comment: None,
            broken,
        }
    }

    /// After a block, there is nothing more on the line.
    fn end_of_statement(&mut self, block: Option<&Block>) {
        let more = matches!(
            self.peek(),
            Some(Token::Bare | Token::Quoted(_) | Token::Open)
        );
        if more && block.is_some() {
            let at = self.input.position();
            let span = self.span(at, at + 1);
            let help = "put what follows on a line of its own";
            self.problem(
                span,
                "a block ends its statement",
                "this stands behind the `}`",
                Some(help),
            );
        }
    }

    /// From `{` to `}`. `None` when it is nested too deep.
    fn block(&mut self) -> Option<Block> {
        let (_, open) = self.take();
        if self.open.len() >= MAX_NESTING {
            let message = format!("more than {MAX_NESTING} blocks stand in one another");
            self.problem(open, message, "one too many", None);
            self.give_up();
            return None;
        }
        self.open.push(open);
        let comment = match self.peek() {
            Some(Token::Comment) => Some(self.take().1),
            _ => None,
        };
        let items = self.items();
        self.open.pop();
        let mut span = open;
        match self.peek() {
            Some(Token::Close) => span.end = self.take().1.end,
            _ => {
                span.end = self.text.len();
                if !self.given_up {
                    self.problem(open, "this block is not closed", "its `}` is missing", None);
                }
            }
        }
        Some(Block {
            items,
            comment,
            span,
        })
    }

    fn block_without_a_name(&mut self) {
        let at = self.input.position();
        let span = self.span(at, at + 1);
        let help = "put the `{` on the line of what it belongs to; a value that begins with `{` needs quotes";
        self.problem(
            span,
            "nothing stands before this `{`",
            "a word is missing",
            Some(help),
        );
        self.block();
    }

    /// The next token, which stays. What is wrong on the way is noted and skipped.
    fn peek(&mut self) -> Option<Token> {
        loop {
            // It fails for nothing: there may be no space at all.
            let _ = token::space(&mut self.input);
            let position = self.input.position();
            if self.input.rest().is_empty() {
                return None;
            }
            let mut ahead = self.input.clone();
            match token::token.parse(&mut ahead) {
                Ok(token) => return Some(token),
                Err(stop) => {
                    let at = stop.at().unwrap_or(position);
                    let end = self.mistake(Mistake::of(stop), position, at);
                    self.input.advance(end - position);
                }
            }
        }
    }

    /// Takes the token that [`Reader::peek`] saw.
    fn take(&mut self) -> (Option<Token>, Span) {
        let start = self.input.position();
        let token = token::token.parse(&mut self.input).ok();
        (token, self.span(start, self.input.position()))
    }

    /// Notes what is wrong in the token from `start`, and says where to go on.
    fn mistake(&mut self, mistake: Mistake, start: usize, at: usize) -> usize {
        self.mistakes += 1;
        let rest = &self.text[start..];
        let line_end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
        let one = self.text[at..].chars().next().map_or(1, char::len_utf8);
        match mistake {
            Mistake::Unclosed => {
                let span = self.span(start, line_end);
                let help = "a string ends on its line; a line break in it is written \\n";
                self.problem(
                    span,
                    "this string is not closed",
                    "its `\"` is missing",
                    Some(help),
                );
                line_end
            }
            Mistake::Escape => {
                let two = self.text[at..]
                    .chars()
                    .take(2)
                    .map(char::len_utf8)
                    .sum::<usize>();
                let span = self.span(at, at + two);
                let help = "a backslash itself is written \\\\";
                let label = "one of \\\" \\\\ \\n \\r \\t is expected";
                self.problem(span, "there is no such escape", label, Some(help));
                self.behind_string(at + two, line_end)
            }
            Mistake::Quote => {
                let span = self.span(at, at + one);
                let help = "put the whole word in quotes, and write a quote in it as \\\"";
                self.problem(
                    span,
                    "a quote begins or ends a word, and has a space on its other side",
                    "this is in the middle of one",
                    Some(help),
                );
                match self.text[at..].starts_with('"') {
                    true => self.behind_string(at + 1, line_end),
                    false => at,
                }
            }
            Mistake::Control => {
                let span = self.span(at, at + one);
                let code = self.text[at..].chars().next().unwrap_or_default();
                let message = format!("a control character, {}", code.escape_unicode());
                self.problem(span, message, "this cannot be seen", None);
                at + one
            }
        }
    }

    /// Behind the quote that closes a string in which something is wrong.
    fn behind_string(&self, from: usize, line_end: usize) -> usize {
        let mut escaped = false;
        for (at, byte) in self.text.bytes().enumerate().take(line_end).skip(from) {
            match byte {
                b'"' if !escaped => return at + 1,
                byte => escaped = byte == b'\\' && !escaped,
            }
        }
        line_end
    }

    fn give_up(&mut self) {
        self.given_up = true;
        self.input.advance(usize::MAX);
    }

    fn problem(&mut self, span: Span, message: impl Into<String>, label: &str, help: Option<&str>) {
        let problem = Problem::new(span, message).label(label);
        self.problems.add(match help {
            Some(help) => problem.help(help),
            None => problem,
        });
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span {
            file: self.file,
            start,
            end: end.min(self.text.len()),
        }
    }
}
