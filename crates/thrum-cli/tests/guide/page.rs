//! A page of Markdown, as far as its tests need to understand it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

pub(crate) struct Page {
    /// Its path in the guide.
    pub(crate) name: PathBuf,
    text: String,
}

/// A block of code.
pub(crate) struct Block {
    /// The line that it begins in.
    pub(crate) line: usize,
    pub(crate) language: String,
    attributes: Vec<String>,
    pub(crate) text: String,
}

impl Block {
    /// Whether it has that word behind its language.
    pub(crate) fn is(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|one| one == attribute)
    }

    /// Where a reader is to write it.
    pub(crate) fn file(&self) -> Option<&str> {
        self.attributes
            .iter()
            .find_map(|one| one.strip_prefix("file="))
    }

    /// Whether it has commands that are run.
    pub(crate) fn is_run(&self) -> bool {
        self.language == "console" && !self.is("ignore")
    }
}

impl Page {
    pub(crate) fn new(name: PathBuf, text: String) -> Self {
        Self { name, text }
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> {
        let mut lines = self.text.lines().zip(1..);
        std::iter::from_fn(move || {
            let (info, line) =
                lines.find_map(|(text, line)| Some((text.strip_prefix("```")?, line)))?;
            let mut words = info.split(',').map(|word| word.trim().to_owned());
            let language = words.next().unwrap_or_default();
            let inner = lines.by_ref().map(|(text, _)| text);
            let inner = inner.take_while(|text| !text.starts_with("```"));
            Some(Block {
                line,
                language,
                attributes: words.collect(),
                text: inner.map(|text| format!("{text}\n")).collect(),
            })
        })
    }

    /// Its lines outside of blocks.
    fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut in_block = false;
        self.text.lines().zip(1..).filter_map(move |(text, line)| {
            let is_fence = text.starts_with("```");
            in_block ^= is_fence;
            (!in_block && !is_fence).then_some((line, text))
        })
    }

    /// Where it links to, each with its line.
    pub(crate) fn links(&self) -> impl Iterator<Item = (usize, &str)> {
        self.prose().flat_map(|(line, text)| {
            // What stands between backticks is no link: of the parts between them every other one.
            let outside = text.split('`').step_by(2);
            let links = outside.flat_map(|part| part.split("](").skip(1));
            links.filter_map(move |rest| Some((line, rest.split_once(')')?.0)))
        })
    }

    /// The names of its headings, as mdBook makes them.
    pub(crate) fn anchors(&self) -> BTreeSet<String> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let headings = self.prose().filter(|(_, text)| text.starts_with('#'));
        let names = headings.map(|(_, text)| {
            let text = text.trim_start_matches('#').trim().to_lowercase();
            let kept = text
                .chars()
                .map(|one| if one.is_whitespace() { '-' } else { one });
            kept.filter(|one| one.is_alphanumeric() || ['-', '_'].contains(one))
                .collect()
        });
        names
            .map(|name: String| {
                let before = seen.entry(name.clone()).or_default();
                *before += 1;
                match *before {
                    1 => name,
                    times => format!("{name}-{}", times - 1),
                }
            })
            .collect()
    }

    /// The page that a path in a link of this one means.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        let mut found = self.name.parent().unwrap_or(Path::new("")).to_owned();
        for part in Path::new(path).components() {
            match part {
                Component::ParentDir => {
                    found.pop();
                }
                Component::Normal(name) => found.push(name),
                _ => {}
            }
        }
        found
    }
}
