//! From statements to what has been checked against the tables.

use super::checked::{RouteConfig, SiteConfig};
use super::environment::{Environment, expand};
use super::load::INCLUDE;
use super::nearest::nearest;
use super::problem::{Problem, Problems, Span};
use super::schema::{Arity, Kind, Setting, Tables};
use super::settings::{Entry, Settings};
use super::source::Sources;
use super::syntax::{Block, Statement, Word};
use super::value::Value;

/// Checks statements, and notes what is wrong with them.
pub(super) struct Checker<'a> {
    pub(super) tables: &'a Tables,
    pub(super) sources: &'a Sources,
    pub(super) environment: Environment<'a>,
    pub(super) problems: &'a mut Problems,
}

/// Where a statement stands, for messages.
#[derive(Clone, Copy)]
enum Scope {
    Global,
    Site,
    Route,
    Block(&'static str),
}

impl Checker<'_> {
    /// A whole configuration, without what something is wrong with: routes, and sites for settings of theirs; nothing of it for
    /// what stands outside of them.
    pub(super) fn config(&mut self, statements: &[Statement]) -> (Settings, Vec<SiteConfig>) {
        let mut global = self.empty(self.tables.global.to_vec(), Span::default());
        let (mut sites, mut is_sound) = (Vec::new(), true);
        for statement in statements {
            let word = &statement.words[0];
            let before = self.problems.noted();
            if find(&global.tables, &word.text).is_some() {
                self.setting(&mut global, statement, Scope::Global);
            } else if is_route(statement) {
                let problem = Problem::new(
                    statement.words_span(),
                    "a route stands outside of all sites",
                )
                .help("put it into a site's block: example.com { … }, or :8080 { … } for any host");
                self.problems.add(problem);
            } else if let Some(block) = &statement.block {
                match nearest(&word.text, with_block(&global.tables)) {
                    Some(_) => self.unknown(&global.tables, statement, Scope::Global),
                    None => {
                        sites.extend(self.site(statement, block));
                        continue;
                    }
                }
            } else {
                self.unknown(&global.tables, statement, Scope::Global);
            }
            is_sound &= self.problems.noted() == before;
        }
        if !is_sound {
            global.entries.clear();
            sites.clear();
        }
        (global, sites)
    }

    fn site(&mut self, statement: &Statement, block: &Block) -> Option<SiteConfig> {
        let tables = [self.tables.site, self.tables.route].concat();
        let mut settings = self.empty(tables, block.span);
        let mut routes = Vec::new();
        for statement in block.statements().filter(|statement| is_route(statement)) {
            routes.extend(self.route(statement));
        }
        let before = self.problems.noted();
        for statement in block.statements().filter(|statement| !is_route(statement)) {
            self.setting(&mut settings, statement, Scope::Site);
        }
        let names = self.names(statement);
        (self.problems.noted() == before).then_some(SiteConfig {
            names,
            settings,
            routes,
        })
    }

    /// `example.com, www.example.com`
    fn names(&mut self, statement: &Statement) -> Vec<Value> {
        let (mut names, mut is_named) = (Vec::new(), false);
        let mut comma = true;
        for word in &statement.words {
            if !comma && !word.text.starts_with(',') {
                let problem =
                    Problem::new(word.span, "the names of a site have commas between them")
                        .label("a comma is missing before this");
                self.problems.add(problem);
            }
            let raw = self.sources.text(word.span);
            let mut start = word.span.start;
            // In quotes, a comma is one of the name's.
            let between = |char| char == ',' && !word.quoted;
            for part in raw.split(between) {
                let span = Span {
                    start,
                    end: start + part.len(),
                    ..word.span
                };
                start = span.end + 1;
                if part.is_empty() {
                    continue;
                }
                is_named = true;
                let text = if word.quoted { &word.text } else { part };
                names.extend(self.value(text, span));
            }
            comma = word.text.ends_with(',');
        }
        if !is_named && !statement.broken {
            let problem = Problem::new(statement.words_span(), "a site needs a name");
            self.problems.add(problem);
        }
        names
    }

    fn route(&mut self, statement: &Statement) -> Option<RouteConfig> {
        let before = self.problems.noted();
        let path = self.literal(&statement.words[0]);
        let words = self.tables.verbs.iter().map(|verb| verb.word);
        let Some(word) = statement.words.get(1) else {
            if !statement.broken {
                let list = words.collect::<Vec<_>>().join("  ");
                let problem = Problem::new(statement.words_span(), "this route does nothing")
                    .label("what is done must follow")
                    .help(format!("one of: {list}"));
                self.problems.add(problem);
            }
            return None;
        };
        let Some(&verb) = self.tables.verbs.iter().find(|verb| verb.word == word.text) else {
            let help = match nearest(&word.text, words.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of: {}", words.collect::<Vec<_>>().join("  ")),
            };
            let problem = Problem::new(word.span, format!("a route cannot `{}`", word.text))
                .label("expected what the route does")
                .help(help);
            self.problems.add(problem);
            return None;
        };
        let wanted = Wanted {
            name: verb.word,
            kinds: verb.values,
            arity: verb.arity,
            example: verb.example,
        };
        let values = self.values(&statement.words[2..], word.span, statement.broken, wanted);
        let tables = [&[verb.settings], self.tables.route].concat();
        let span = statement
            .block
            .as_ref()
            .map_or(statement.span, |block| block.span);
        let mut settings = self.empty(tables, span);
        for statement in statement.block.iter().flat_map(Block::statements) {
            self.setting(&mut settings, statement, Scope::Route);
        }
        (self.problems.noted() == before).then_some(RouteConfig {
            path,
            verb,
            values,
            settings,
            span: statement.span,
        })
    }

    /// Adds what a statement sets.
    fn setting(&mut self, settings: &mut Settings, statement: &Statement, scope: Scope) {
        let word = &statement.words[0];
        let Some(setting) = find(&settings.tables, &word.text) else {
            return self.unknown(&settings.tables, statement, scope);
        };
        if let Some(first) = settings.written(setting.name)
            && !setting.repeats
        {
            let message = format!(
                "`{}` is already set in line {}",
                setting.name,
                self.sources.place(first.span()).line
            );
            let problem = Problem::new(word.span, message)
                .label("a second time")
                .help("one of them has to go");
            self.problems.add(problem);
        }
        let wanted = Wanted {
            name: setting.name,
            kinds: setting.values,
            arity: setting.arity,
            example: setting.example,
        };
        let values = self.values(&statement.words[1..], word.span, statement.broken, wanted);
        let block = self.block(setting, statement);
        settings.entries.push(Entry {
            setting,
            name: word.span,
            values,
            block,
        });
    }

    fn block(&mut self, setting: &'static Setting, statement: &Statement) -> Option<Settings> {
        if setting.block.is_empty() {
            if let Some(block) = &statement.block {
                let message = format!("`{}` has no block", setting.name);
                let open = Span {
                    end: block.span.start + 1,
                    ..block.span
                };
                let problem = Problem::new(open, message)
                    .label("only values are expected")
                    .help(format!("for example: {}", setting.example));
                self.problems.add(problem);
            }
            return None;
        }
        let span = statement
            .block
            .as_ref()
            .map_or(statement.span, |block| block.span);
        let mut settings = self.empty(vec![setting.block], span);
        for statement in statement.block.iter().flat_map(Block::statements) {
            self.setting(&mut settings, statement, Scope::Block(setting.name));
        }
        Some(settings)
    }

    fn unknown(&mut self, here: &[&'static [Setting]], statement: &Statement, scope: Scope) {
        let word = &statement.words[0];
        let text = &word.text;
        let mut problem = Problem::new(
            word.span,
            format!("`{text}` is not a setting {}", scope.place()),
        )
        .label("not known here");
        let names = here.iter().copied().flatten().map(|setting| setting.name);
        let as_written = |settings: &[&'static [Setting]]| find(settings, text).is_some();
        if let Some(near) = nearest(text, names.chain([INCLUDE])) {
            problem = problem.help(format!("did you mean `{near}`?"));
        } else if as_written(self.tables.route) || as_written(self.tables.site) {
            problem = problem.help("it belongs into a site's block");
        } else if as_written(self.tables.global) {
            problem = problem.help("it stands outside of all sites");
        } else if let Some(verb) = self
            .tables
            .verbs
            .iter()
            .find(|verb| find(&[verb.settings], text).is_some())
        {
            problem = problem.help(format!(
                "it belongs into the block of a route with `{}`: {} {{ {text} … }}",
                verb.word, verb.example
            ));
        } else if matches!(scope, Scope::Site) && statement.words.len() > 1 {
            let verb = |word: &Word| self.tables.verbs.iter().any(|verb| verb.word == word.text);
            if verb(&statement.words[1]) {
                problem = problem.help(format!("a route's path begins with a slash: /{text}"));
            }
        }
        self.problems.add(problem);
    }

    /// Checks how many values there are, and what they are.
    fn values(&mut self, words: &[Word], name: Span, broken: bool, wanted: Wanted) -> Vec<Value> {
        let (least, most) = wanted.range();
        if !broken && words.len() < least {
            let missing = wanted.kinds[words.len().min(wanted.kinds.len() - 1)];
            let problem = Problem::new(name, format!("`{}` takes {}", wanted.name, wanted.count()))
                .label(format!("{} must follow", missing.expected()))
                .help(format!("for example: {}", wanted.example));
            self.problems.add(problem);
        }
        if words.len() > most {
            let extra = Span {
                end: words[words.len() - 1].span.end,
                ..words[most].span
            };
            let message = format!("`{}` takes {}", wanted.name, wanted.count());
            let label = if words.len() - most == 1 {
                "this is one too many"
            } else {
                "these are too many"
            };
            let help = format!(
                "for example: {}; a value with spaces needs quotes",
                wanted.example
            );
            self.problems
                .add(Problem::new(extra, message).label(label).help(help));
        }
        let last = wanted.kinds.last().copied();
        let kinds = wanted.kinds.iter().copied().chain(last.into_iter().cycle());
        let mut values = Vec::new();
        for (word, kind) in words.iter().take(most).zip(kinds) {
            let Some(value) = self.value(&word.text, word.span) else {
                continue;
            };
            if let Err(misfit) = kind.check(&value) {
                let problem = Problem::new(word.span, misfit.message).label(misfit.label);
                self.problems.add(match misfit.help {
                    Some(help) => problem.help(help),
                    None => problem,
                });
            }
            values.push(value);
        }
        values
    }

    /// A value with the environment's variables put in.
    fn value(&mut self, text: &str, span: Span) -> Option<Value> {
        match expand(text, self.environment) {
            Ok(text) => Some(Value {
                text,
                span,
                folder: self.sources.file(span.file).folder().clone(),
            }),
            Err(error) => {
                let problem = Problem::new(span, error.message).help(error.help);
                self.problems.add(problem);
                None
            }
        }
    }

    /// A word as it is written: a dollar is one.
    fn literal(&self, word: &Word) -> Value {
        Value {
            text: word.text.clone(),
            span: word.span,
            folder: self.sources.file(word.span.file).folder().clone(),
        }
    }

    fn empty(&self, tables: Vec<&'static [Setting]>, span: Span) -> Settings {
        Settings {
            tables,
            entries: Vec::new(),
            span,
        }
    }
}

impl Scope {
    fn place(self) -> String {
        match self {
            Self::Global => "outside of sites".to_owned(),
            Self::Site => "of a site".to_owned(),
            Self::Route => "of this route".to_owned(),
            Self::Block(name) => format!("of `{name}`"),
        }
    }
}

/// What may follow a word.
#[derive(Clone, Copy)]
struct Wanted {
    name: &'static str,
    kinds: &'static [Kind],
    arity: Arity,
    example: &'static str,
}

impl Wanted {
    fn range(self) -> (usize, usize) {
        let kinds = self.kinds.len();
        match self.arity {
            _ if kinds == 0 => (0, 0),
            Arity::Exact => (kinds, kinds),
            Arity::OptionalLast => (kinds - 1, kinds),
            Arity::Many => (kinds, usize::MAX),
            Arity::Any => (kinds - 1, usize::MAX),
        }
    }

    fn count(self) -> String {
        let values = |count| match count {
            0 => "no value".to_owned(),
            1 => "one value".to_owned(),
            count => format!("{count} values"),
        };
        match self.range() {
            (0, usize::MAX) => "any number of values".to_owned(),
            (least, usize::MAX) => format!("{} or more", values(least)),
            (0, 1) => "one value or none".to_owned(),
            (least, most) if least < most => format!("{least} or {}", values(most)),
            (_, most) => values(most),
        }
    }
}

/// Whether it is meant as a route: its first word begins with a slash.
fn is_route(statement: &Statement) -> bool {
    statement.words[0].text.starts_with('/')
}

fn find(tables: &[&'static [Setting]], name: &str) -> Option<&'static Setting> {
    let mut settings = tables.iter().copied().flatten();
    settings.find(|setting| setting.name == name)
}

/// The names of the settings that have a block.
fn with_block(tables: &[&'static [Setting]]) -> impl Iterator<Item = &'static str> {
    let settings = tables.iter().copied().flatten();
    settings
        .filter(|setting| !setting.block.is_empty())
        .map(|setting| setting.name)
}
