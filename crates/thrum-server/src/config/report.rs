//! All that is wrong with a configuration, with the text it is about.

use std::fmt;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, SourceSpan,
};
use serde_json::json;

use super::problem::{Problem, Problems, Span};
use super::source::Sources;

/// Lines are broken to fit.
const WIDTH: usize = 100;

/// All that is wrong with a configuration. As text it is a line for each problem: `thrum.conf:3:5: what is wrong (help)`.
#[derive(Clone, Debug)]
pub struct Report {
    sources: Sources,
    problems: Vec<Problem>,
}

impl Report {
    /// What was noted about these files.
    pub fn new(sources: Sources, problems: impl IntoIterator<Item = Problem>) -> Self {
        let mut all = Problems::default();
        problems.into_iter().for_each(|problem| all.add(problem));
        let mut problems = all.into_sorted();
        // A file may be included more than once.
        problems.dedup();
        Self { sources, problems }
    }

    /// What is wrong, in the order of the text.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The text it is about.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// For people: each problem with its line, the offending text underlined, what was expected there, and what to do.
    pub fn render(&self, colour: bool) -> String {
        let theme = match colour {
            true => GraphicalTheme::unicode(),
            false => GraphicalTheme::unicode_nocolor(),
        };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_links(false)
            .with_width(WIDTH);
        let mut text = String::new();
        for problem in &self.problems {
            // It fails for places outside of the text only; then the words are all there is.
            let mut one = String::new();
            match handler.render_report(&mut one, self.diagnostic(problem).as_ref()) {
                Ok(()) => text.push_str(&one),
                Err(_) => text.push_str(&format!("{}\n", self.line(problem))),
            }
            text.push('\n');
        }
        let count = match self.problems.len() {
            1 => "1 mistake".to_owned(),
            count => format!("{count} mistakes"),
        };
        text + &count + "\n"
    }

    /// For machines: an array of objects with `file`, `line`, `column`, `end_line`, `end_column` (all from 1, the end is
    /// one past the last character), `text`, `message`, `label` and `help` (which may be `null`).
    pub fn to_json(&self) -> String {
        let problems = self.problems.iter().map(|problem| {
            let place = self.sources.place(problem.span);
            let end = self.sources.place(Span {
                start: problem.span.end,
                ..problem.span
            });
            json!({
                "file": place.file.to_string_lossy(),
                "line": place.line,
                "column": place.column,
                "end_line": end.line,
                "end_column": end.column,
                "text": self.sources.text(problem.span),
                "message": problem.message,
                "label": problem.label,
                "help": problem.help,
            })
        });
        format!("{:#}\n", problems.collect::<serde_json::Value>())
    }

    fn diagnostic(&self, problem: &Problem) -> miette::Report {
        let span = problem.span;
        let source = self.sources.file(span.file);
        let label = (!problem.label.is_empty()).then(|| problem.label.clone());
        let at = SourceSpan::new(span.start.into(), span.end.saturating_sub(span.start));
        let mut diagnostic = MietteDiagnostic::new(&problem.message);
        if !source.text().is_empty() {
            diagnostic = diagnostic.with_label(LabeledSpan::new_with_span(label, at));
        }
        if let Some(help) = &problem.help {
            diagnostic = diagnostic.with_help(help);
        }
        let name = source.path().to_string_lossy();
        let source = NamedSource::new(name, source.text().to_owned());
        miette::Report::new(diagnostic).with_source_code(source)
    }

    fn line(&self, problem: &Problem) -> String {
        let place = self.sources.place(problem.span);
        let help = problem.help.iter().map(|help| format!(" ({help})"));
        format!("{place}: {}{}", problem.message, help.collect::<String>())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.problems.iter().map(|problem| self.line(problem));
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

impl std::error::Error for Report {}
