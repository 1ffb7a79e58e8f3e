//! All that is wrong with a configuration, with the text it is about.

use std::fmt;

use super::problem::{Problem, Problems};
use super::source::Sources;

/// All that is wrong with a configuration. As text it is a line for each problem: `thrum.conf:3:5: what is wrong (help)`.
#[derive(Clone, Debug)]
pub struct Report {
    sources: Sources,
    problems: Vec<Problem>,
}

impl Report {
    /// What was noted about these files.
    pub fn new(sources: Sources, problems: Problems) -> Self {
        let mut problems = problems.into_sorted();
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
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, problem) in self.problems.iter().enumerate() {
            let line_break = if n > 0 { "\n" } else { "" };
            let place = self.sources.place(problem.span);
            write!(f, "{line_break}{place}: {}", problem.message)?;
            if let Some(help) = &problem.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Report {}
