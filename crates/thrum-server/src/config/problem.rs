//! What is wrong with a configuration, and where.

/// One of the files that a configuration was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FileId(pub(crate) u16);

/// A place in a file: bytes from `start` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, as a sentence without a full stop: `the folder /srv/www does not exist`.
    pub message: String,
    /// The offending text.
    pub span: Span,
    /// What stands under it: what was expected, in a few words. May be empty.
    pub label: String,
    /// What to do about it, the nearest valid word for example.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at a place.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            span,
            label: String::new(),
            help: None,
        }
    }

    /// Says in a few words what was expected at the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Says what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// All that is wrong, collected while going on as well as it can be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    found: Vec<Problem>,
    /// How often something was noted, again or not.
    noted: usize,
}

impl Problems {
    /// Notes a problem, once: what stands in a site is looked at for each of its routes.
    pub fn add(&mut self, problem: Problem) {
        self.noted += 1;
        if !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    /// Notes what went wrong at a place, if it did.
    pub fn check<T, E: std::fmt::Display>(
        &mut self,
        span: Span,
        result: Result<T, E>,
    ) -> Option<T> {
        result
            .map_err(|error| self.add(Problem::new(span, error.to_string())))
            .ok()
    }

    /// How often something was noted so far: as often as before when what was looked at meanwhile is sound.
    pub(super) fn noted(&self) -> usize {
        self.noted
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What was noted, in the order of the text; what was noted twice, as where a site's setting is read for each of its routes,
    /// once.
    pub fn into_sorted(mut self) -> Vec<Problem> {
        self.found
            .sort_by_key(|problem| (problem.span.file.0, problem.span.start));
        self.found.dedup();
        self.found
    }
}
