//! From a file's path to the statements of all its files: `include FILE|GLOB` stands for what is in them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::environment::{Environment, expand};
use super::problem::{FileId, Problem, Problems, Span};
use super::source::Sources;
use super::syntax::{self, Block, Item, Statement};

/// The word that stands for other files. It can be written wherever a statement can.
pub(super) const INCLUDE: &str = "include";

/// How many bytes a file may have, and all of them together.
const MAX_FILE: u64 = 1 << 20;
const MAX_ALL: usize = 16 << 20;
/// How many files may include one another in a row, and how many includes there may be.
const MAX_DEPTH: usize = 16;
const MAX_INCLUDES: usize = 1000;

/// Reads files.
pub(super) struct Loader<'a> {
    pub(super) sources: Sources,
    pub(super) problems: Problems,
    environment: Environment<'a>,
    /// Files that were read, by their real path.
    known: HashMap<PathBuf, FileId>,
    /// The files that are being read, each included by the one before.
    reading: Vec<PathBuf>,
    includes: usize,
    bytes: usize,
}

impl<'a> Loader<'a> {
    pub(super) fn new(environment: Environment<'a>) -> Self {
        Self {
            sources: Sources::default(),
            problems: Problems::default(),
            environment,
            known: HashMap::new(),
            reading: Vec::new(),
            includes: 0,
            bytes: 0,
        }
    }

    /// The statements of a text that was not read from a file.
    pub(super) fn text(&mut self, name: &Path, text: &str) -> Vec<Statement> {
        let file = self.sources.add(name, text.to_owned());
        let items = syntax::parse(text, file, &mut self.problems);
        self.resolve(items)
    }

    /// The statements of the first file.
    pub(super) fn file(&mut self, path: &Path) -> Vec<Statement> {
        match read(path) {
            Ok((real, text)) => self.read(path, real, text),
            Err(error) => {
                // There has to be a place that the problem is at.
                let file = self.sources.add(path, String::new());
                let span = Span {
                    file,
                    ..Span::default()
                };
                let message = format!("the file {} {error}", path.display());
                self.problems.add(Problem::new(span, message));
                Vec::new()
            }
        }
    }

    fn read(&mut self, path: &Path, real: PathBuf, text: String) -> Vec<Statement> {
        let file = match self.known.get(&real) {
            Some(&file) => file,
            None => {
                self.bytes += text.len();
                let file = self.sources.add(path, text.clone());
                self.known.insert(real.clone(), file);
                file
            }
        };
        self.reading.push(real);
        let items = syntax::parse(&text, file, &mut self.problems);
        let statements = self.resolve(items);
        self.reading.pop();
        statements
    }

    /// Without comments, and with what includes stand for.
    fn resolve(&mut self, items: Vec<Item>) -> Vec<Statement> {
        let mut statements = Vec::new();
        for item in items {
            let Item::Statement(mut statement) = item else {
                continue;
            };
            if statement
                .words
                .first()
                .is_some_and(|word| word.text == INCLUDE)
            {
                statements.extend(self.include(&statement));
                continue;
            }
            if let Some(block) = &mut statement.block {
                let inside = self.resolve(std::mem::take(&mut block.items));
                *block = Block {
                    items: inside.into_iter().map(Item::Statement).collect(),
                    ..block.clone()
                };
            }
            statements.push(statement);
        }
        statements
    }

    fn include(&mut self, statement: &Statement) -> Vec<Statement> {
        let ([_, word], None) = (&statement.words[..], &statement.block) else {
            if !statement.broken {
                let problem = Problem::new(statement.words_span(), "include takes one value")
                    .label("a file, or a pattern for several")
                    .help("for example: include sites/*.conf");
                self.problems.add(problem);
            }
            return Vec::new();
        };
        let text = match expand(&word.text, self.environment) {
            Ok(text) => text,
            Err(error) => {
                let problem = Problem::new(word.span, error.message).help(error.help);
                self.problems.add(problem);
                return Vec::new();
            }
        };
        let asking = self.sources.file(word.span.file);
        let paths = match matching(asking.folder(), asking.path(), &text) {
            Ok(paths) => paths,
            Err(error) => {
                let message = format!("the pattern {text} cannot be used: {}", error.msg);
                self.problems.add(Problem::new(word.span, message));
                return Vec::new();
            }
        };
        let files = paths.iter().map(|path| self.included(path, word.span));
        files.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn included(&mut self, path: &Path, asked: Span) -> Vec<Statement> {
        self.includes += 1;
        let problem = match read(path) {
            Err(error) => format!("the file {} {error}", path.display()),
            Ok((real, _)) if self.reading.contains(&real) => {
                format!("the file {} includes itself", path.display())
            }
            Ok(_) if self.reading.len() > MAX_DEPTH => {
                format!("more than {MAX_DEPTH} files include one another")
            }
            Ok(_) if self.includes > MAX_INCLUDES => {
                format!("more than {MAX_INCLUDES} files are included")
            }
            Ok((_, text)) if self.bytes + text.len() > MAX_ALL => {
                format!("all files together have more than {} MiB", MAX_ALL >> 20)
            }
            Ok((real, text)) => return self.read(path, real, text),
        };
        self.problems
            .add(Problem::new(asked, problem).label("included here"));
        Vec::new()
    }
}

/// The files that are meant, sorted by name. A pattern may match none; a name is there in any case.
fn matching(folder: &Path, asking: &Path, text: &str) -> Result<Vec<PathBuf>, glob::PatternError> {
    let whole = folder.join(text);
    if !text.contains(['*', '?', '[']) {
        return Ok(vec![as_named(&whole, folder, asking)]);
    }
    let folder_pattern = glob::Pattern::escape(&folder.to_string_lossy());
    let pattern = Path::new(&folder_pattern).join(text);
    let found = glob::glob(&pattern.to_string_lossy())?.flatten();
    let files = found.filter(|path| !path.is_dir());
    Ok(files.map(|path| as_named(&path, folder, asking)).collect())
}

/// A file in the folder of the one that asks for it is named the way that one is.
fn as_named(path: &Path, folder: &Path, asking: &Path) -> PathBuf {
    match (path.strip_prefix(folder), asking.parent()) {
        (Ok(inside), Some(parent)) => parent.join(inside),
        _ => path.to_owned(),
    }
}

/// The real path and the text. The error says it in a few words.
fn read(path: &Path) -> Result<(PathBuf, String), String> {
    let read = || {
        let real = path.canonicalize()?;
        let mut bytes = Vec::new();
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        Ok((real, bytes))
    };
    let (real, bytes) = read().map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        _ => format!("cannot be read: {error}"),
    })?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("has more than {} MiB", MAX_FILE >> 20));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("is not UTF-8 in line {line}")
    })?;
    Ok((real, text))
}
