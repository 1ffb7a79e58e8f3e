//! The files that a configuration was read from, and places in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::problem::{FileId, Span};

/// The files that a configuration was read from: a [`Span`] is a place in one of them.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Arc<Source>>,
}

/// A file, as it was read.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    folder: Arc<Path>,
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
}

/// A place as people write it: `thrum.conf:3:5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file, as it was named.
    pub file: &'a Path,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl Sources {
    /// Adds a file.
    pub(super) fn add(&mut self, path: &Path, text: String) -> FileId {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let lines = std::iter::once(0)
            .chain(ends.map(|(at, _)| at + 1))
            .collect();
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.into());
        let id = FileId(u16::try_from(self.files.len()).unwrap_or(u16::MAX));
        self.files.push(Arc::new(Source {
            folder: whole.parent().unwrap_or(Path::new("/")).into(),
            path: path.into(),
            text,
            lines,
        }));
        id
    }

    /// All of them, in the order they were read.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().map(|file| &**file)
    }

    /// The file that a place is in.
    ///
    /// # Panics
    /// If the file is of another configuration.
    pub fn file(&self, id: FileId) -> &Source {
        &self.files[usize::from(id.0)]
    }

    /// The text of a place.
    ///
    /// # Panics
    /// If the place is of another configuration.
    pub fn text(&self, span: Span) -> &str {
        let text = &self.file(span.file).text;
        text.get(span.start..span.end).unwrap_or_default()
    }

    /// Where a place begins.
    ///
    /// # Panics
    /// If the place is of another configuration.
    pub fn place(&self, span: Span) -> Place<'_> {
        let file = self.file(span.file);
        let line = file.lines.partition_point(|&start| start <= span.start);
        let line_start = file.lines[line - 1];
        let before = file.text.get(line_start..span.start).unwrap_or_default();
        Place {
            file: &file.path,
            line,
            column: before.chars().count() + 1,
        }
    }
}

impl Source {
    /// Its path, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The folder it is in, where relative paths in it begin.
    pub(super) fn folder(&self) -> &Arc<Path> {
        &self.folder
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}
