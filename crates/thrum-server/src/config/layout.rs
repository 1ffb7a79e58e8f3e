//! Lays a file out: indentation, a column for what follows the first words, comments kept.

use std::path::Path;

use super::problem::Problems;
use super::report::Report;
use super::source::Sources;
use super::syntax::{self, Block, Item, Statement, Word};

const INDENT: usize = 4;
/// Longer lines are broken, and longer blocks are not written on one.
const WIDTH: usize = 100;
/// A longer first word has nobody wait for it.
const WIDEST_FIRST_WORD: usize = 32;

/// The text of a configuration file as it should be laid out: the same statements and comments, in the same order. Laying
/// it out once more changes nothing.
///
/// # Errors
/// What is wrong with its words, strings and braces. What they mean is not looked at.
///
/// ```
/// let text = "example.com { /a/->x\n  / respond 200 {listing on}}";
/// let text = text.replace("->", " -> ");
/// assert_eq!(
///     thrum_server::config::format("thrum.conf".as_ref(), &text).unwrap(),
///     "example.com {\n    /a/ -> x\n    /   respond 200 { listing on }\n}\n"
/// );
/// ```
pub fn format(name: &Path, text: &str) -> Result<String, Report> {
    let (mut sources, mut problems) = (Sources::default(), Problems::default());
    let file = sources.add(name, text.to_owned());
    let items = syntax::parse(text, file, &mut problems);
    if !problems.is_empty() {
        return Err(Report::new(sources, problems.into_sorted()));
    }
    let mut writer = Writer {
        sources: &sources,
        text: String::with_capacity(text.len() * 2),
    };
    writer.items(&items, 0);
    Ok(writer.text)
}

struct Writer<'a> {
    sources: &'a Sources,
    text: String,
}

impl Writer<'_> {
    fn items(&mut self, items: &[Item], indent: usize) {
        let end = items
            .iter()
            .rposition(|item| !matches!(item, Item::EmptyLine));
        let items = &items[..end.map_or(0, |last| last + 1)];
        for group in items.split_inclusive(|item| matches!(item, Item::EmptyLine)) {
            let column = self.column(group, indent);
            for item in group {
                match item {
                    Item::Statement(statement) => self.statement(statement, indent, column),
                    Item::Comment(span) => {
                        let comment = self.sources.text(*span).trim_end();
                        self.line(indent, comment);
                    }
                    Item::EmptyLine => self.text.push('\n'),
                }
            }
        }
    }

    /// How wide the first words are that have something behind them.
    fn column(&self, group: &[Item], indent: usize) -> usize {
        let widths = group.iter().filter_map(|item| match item {
            Item::Statement(statement) if self.is_in_column(statement, indent) => {
                Some(width(&self.word(&statement.words[0])))
            }
            _ => None,
        });
        widths
            .filter(|&width| width <= WIDEST_FIRST_WORD)
            .max()
            .unwrap_or(0)
    }

    /// A route is, and a setting on one line.
    fn is_in_column(&self, statement: &Statement, indent: usize) -> bool {
        let is_line = match &statement.block {
            None => true,
            Some(block) => self.on_one_line(statement, block, indent).is_some(),
        };
        statement.words.len() > 1 && (is_line || statement.words[0].text.starts_with('/'))
    }

    fn statement(&mut self, statement: &Statement, indent: usize, column: usize) {
        let mut pieces: Vec<_> = statement.words.iter().map(|word| self.word(word)).collect();
        if self.is_in_column(statement, indent) {
            let padding = column.saturating_sub(width(&pieces[0]));
            pieces[0].extend(std::iter::repeat_n(' ', padding));
        }
        let block = statement.block.as_ref();
        let short = block.map(|block| self.on_one_line(statement, block, indent));
        match (short, block) {
            (Some(Some(short)), _) => {
                pieces.push(short);
                self.pieces(&pieces, indent);
            }
            (Some(None), Some(block)) => {
                if let Some(last) = pieces.last_mut() {
                    last.push_str(" {");
                }
                self.pieces(&pieces, indent);
                self.comment(block.comment);
                self.items(&block.items, indent + INDENT);
                self.line(indent, "}");
            }
            _ => self.pieces(&pieces, indent),
        }
        self.comment(statement.comment);
    }

    /// A block that was on one line stays there, if there is room.
    fn on_one_line(&self, statement: &Statement, block: &Block, indent: usize) -> Option<String> {
        if self.sources.text(block.span).contains('\n') {
            return None;
        }
        let short = self.short(block);
        let words = statement
            .words
            .iter()
            .map(|word| width(&self.word(word)) + 1);
        (indent + words.sum::<usize>() + width(&short) <= WIDTH).then_some(short)
    }

    fn short(&self, block: &Block) -> String {
        let statements: Vec<_> = block
            .statements()
            .map(|statement| {
                let words = statement.words.iter().map(|word| self.word(word));
                let block = statement.block.as_ref().map(|block| self.short(block));
                words.chain(block).collect::<Vec<_>>().join(" ")
            })
            .collect();
        match statements.is_empty() {
            true => "{ }".to_owned(),
            false => format!("{{ {} }}", statements.join("; ")),
        }
    }

    /// Words on a line, or on several where they are too long for one.
    fn pieces(&mut self, pieces: &[String], indent: usize) {
        let mut used = indent;
        self.indent(indent);
        for (n, piece) in pieces.iter().enumerate() {
            let is_last = n + 1 == pieces.len();
            let room = if is_last { WIDTH } else { WIDTH - 2 };
            if n > 0 && used + 1 + width(piece) > room {
                self.text.push_str(" \\\n");
                used = indent + INDENT;
                self.indent(used);
            } else if n > 0 {
                self.text.push(' ');
                used += 1;
            }
            self.text.push_str(piece);
            used += width(piece);
        }
        self.text.push('\n');
    }

    /// At the end of the line that was just written.
    fn comment(&mut self, comment: Option<super::Span>) {
        if let Some(span) = comment {
            self.text.pop();
            self.text.push(' ');
            let comment = self.sources.text(span).trim_end();
            self.text.push_str(comment);
            self.text.push('\n');
        }
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.indent(indent);
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn indent(&mut self, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    /// As it was written.
    fn word(&self, word: &Word) -> String {
        let raw = self.sources.text(word.span);
        // A backslash at the end of the line would take in the next one.
        match !word.quoted && raw.ends_with('\\') {
            true => format!("\"{}\"", raw.replace('\\', "\\\\")),
            false => raw.to_owned(),
        }
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn laid_out(text: &str) -> String {
        format(Path::new("thrum.conf"), text).unwrap_or_else(|report| panic!("{report}"))
    }

    #[test]
    fn columns_blocks_and_comments() {
        let written = "\n\n# head\nworkers   3 # three\n\n\n\nexample.com,  www.example.com {# first\n\
                       log /var/log/thrum/example.log combined;/cgi-bin/ => /srv/cgi\n\
                       # the api\n/api/   >> 127.0.0.1:3000 127.0.0.1:3001 {timeout 10s;limit 200}\n\
                       /old/ << https://example.com/new/ 301\n\n   /  -> \"/srv/www\" {\nfallback index.html\n\n}\n\n} # end";
        let expected = "\
# head
workers 3 # three

example.com, www.example.com { # first
    log       /var/log/thrum/example.log combined
    /cgi-bin/ => /srv/cgi
    # the api
    /api/     >> 127.0.0.1:3000 127.0.0.1:3001 { timeout 10s; limit 200 }
    /old/     << https://example.com/new/ 301

    / -> \"/srv/www\" {
        fallback index.html
    }
} # end
";
        assert_eq!(laid_out(written), expected);
        assert_eq!(laid_out(expected), expected);
    }

    #[test]
    fn long_lines_are_broken() {
        let addresses = "127.0.0.1:3000 ".repeat(9);
        let text = laid_out(&format!(
            "a.b {{\n / >> {addresses} {{ limit 3; timeout 10s }}\n}}"
        ));
        assert_eq!(text.lines().count(), 7);
        assert!(text.lines().all(|line| line.len() <= WIDTH));
        assert!(text.contains(" \\\n        127"), "{text}");
        assert_eq!(laid_out(&text), text);
        let long = format!("/ x {{ {} }}", "setting value; ".repeat(8));
        assert!(laid_out(&long).starts_with("/ x {\n    setting value\n"));
    }

    #[test]
    fn what_cannot_be_read_is_not_laid_out() {
        let report = format(Path::new("thrum.conf"), "a {\n").unwrap_err();
        assert_eq!(
            report.to_string(),
            "thrum.conf:1:3: this block is not closed"
        );
    }

    /// What a text says: words, blocks and comments.
    fn said(text: &str) -> String {
        fn items(items: &[Item], text: &str, said: &mut String) {
            for item in items {
                match item {
                    Item::Statement(statement) => {
                        let words = statement.words.iter().map(|word| &word.text);
                        said.push_str(&format!("{:?}", words.collect::<Vec<_>>()));
                        if let Some(block) = &statement.block {
                            said.push('{');
                            comment(block.comment, text, said);
                            items_of(block, text, said);
                            said.push('}');
                        }
                        comment(statement.comment, text, said);
                    }
                    Item::Comment(span) => comment(Some(*span), text, said),
                    Item::EmptyLine => {}
                }
            }
        }
        fn items_of(block: &Block, text: &str, said: &mut String) {
            items(&block.items, text, said);
        }
        fn comment(span: Option<super::super::Span>, text: &str, said: &mut String) {
            if let Some(span) = span {
                said.push_str(text[span.start..span.end].trim_end());
            }
        }
        let mut problems = Problems::default();
        let parsed = syntax::parse(text, super::super::FileId::default(), &mut problems);
        assert!(problems.is_empty(), "{text:?}: {problems:?}");
        let mut said = String::new();
        items(&parsed, text, &mut said);
        said
    }

    fn a_text() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            4 => "[a-z/.\\\\$-][a-z/.,:#\\\\$-]{0,12}",
            1 => "[a-z/]\\{[a-z]{0,5}\\}[a-z]?",
            1 => "\"[a-z ;{}#]{0,30}\"",
            1 => Just("\"\\\\\\\"\\n\"".to_owned()),
            1 => Just("ä{ö}\\".to_owned()),
        ];
        let piece = prop_oneof![
            6 => word,
            2 => Just("\n".to_owned()),
            1 => Just("\n\n\n".to_owned()),
            1 => Just(";".to_owned()),
            2 => Just("{".to_owned()),
            2 => Just("}".to_owned()),
            1 => Just("# note  \n".to_owned()),
            1 => Just("\\\n".to_owned()),
            1 => Just("\r\n".to_owned()),
        ];
        let pieces = prop::collection::vec(piece, 0..60);
        pieces.prop_map(|pieces| balanced(&pieces))
    }

    /// With braces that match.
    fn balanced(pieces: &[String]) -> String {
        let mut text = String::new();
        let (mut open, mut after_word) = (0, false);
        for piece in pieces {
            let kept = match piece.as_str() {
                "{" if !after_word || open == 8 => continue,
                "}" if open == 0 => continue,
                "}" => "};",
                other => other,
            };
            match kept {
                "{" => open += 1,
                "};" => open -= 1,
                _ => {}
            }
            after_word = !kept.starts_with(['\n', '\r', ';', '{', '}', '#']) && kept != "\\\n";
            text.push_str(kept);
            text.push(' ');
        }
        text + &"\n}".repeat(open)
    }

    proptest! {
        #[test]
        fn the_layout_keeps_what_is_said_and_stays(text in a_text()) {
            let once = format(Path::new("thrum.conf"), &text);
            let once = once.map_err(|report| TestCaseError::reject(report.to_string()))?;
            prop_assert_eq!(said(&once), said(&text));
            prop_assert_eq!(&laid_out(&once), &once);
        }

        #[test]
        fn any_text_ends_in_a_layout_or_in_problems(text in "\\PC{0,200}") {
            let _ = format(Path::new("thrum.conf"), &text);
        }
    }
}
