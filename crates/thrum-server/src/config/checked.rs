//! A configuration that has been checked against the tables of what may stand where.

use std::path::Path;

use super::check::Checker;
use super::environment::{self, Environment};
use super::load::Loader;
use super::problem::{Problem, Span};
use super::report::Report;
use super::schema::{Tables, Verb};
use super::settings::Settings;
use super::source::Sources;
use super::syntax::Statement;
use super::value::Value;

/// A whole configuration, all files of it.
#[derive(Clone, Debug)]
pub struct Config {
    /// What stands outside of all sites.
    pub global: Settings,
    /// The sites, in written order.
    pub sites: Vec<SiteConfig>,
    /// The files that it was read from.
    pub sources: Sources,
}

/// A site: its names, what holds for all of it, and its routes.
#[derive(Clone, Debug)]
pub struct SiteConfig {
    /// `example.com`, `http://example.com`, `*.example.com`, `:8080`, `127.0.0.1:3000`, `unix:/run/thrum.sock`.
    pub names: Vec<Value>,
    /// What holds for all of it.
    pub settings: Settings,
    /// Its routes, in written order: the first that matches answers.
    pub routes: Vec<RouteConfig>,
}

/// A route: a path, what is done, and to what.
#[derive(Clone, Debug)]
pub struct RouteConfig {
    /// The path pattern: `/api/`, `/users/{id}`, `/files/{*rest}`.
    pub path: Value,
    /// What is done.
    pub verb: &'static Verb,
    /// What follows the verb.
    pub values: Vec<Value>,
    /// What stands in its block.
    pub settings: Settings,
    /// The statement.
    pub span: Span,
}

impl Config {
    /// Reads a text as if it were a file `thrum.conf` in the current folder.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(text: &str, tables: &Tables) -> Result<Self, Report> {
        Self::parse_with(text, tables, &environment::process)
    }

    /// Reads a file, and those that it includes. It blocks for as long as the disk does.
    ///
    /// # Errors
    /// All that is wrong with it, or why it cannot be read.
    pub fn read(path: &Path, tables: &Tables) -> Result<Self, Report> {
        unless_wrong(Self::read_sound(path, tables))
    }

    /// Reads a file, and those that it includes, and says what is wrong with it. What that is about is not in the
    /// configuration: routes; for what stands in a site besides routes, the site; for what stands outside of sites, all of it.
    /// So more can be tried of the rest, to find all mistakes at once.
    pub fn read_sound(path: &Path, tables: &Tables) -> (Self, Report) {
        let mut loader = Loader::new(&environment::process);
        let statements = loader.file(path);
        Self::check(loader, &statements, tables, &environment::process)
    }

    /// What was found wrong later, with the text it is about.
    pub fn report(&self, problems: Vec<Problem>) -> Report {
        Report::new(self.sources.clone(), problems)
    }

    pub(super) fn parse_with(
        text: &str,
        tables: &Tables,
        environment: Environment<'_>,
    ) -> Result<Self, Report> {
        let mut loader = Loader::new(environment);
        let statements = loader.text(Path::new("thrum.conf"), text);
        unless_wrong(Self::check(loader, &statements, tables, environment))
    }

    fn check(
        loader: Loader<'_>,
        statements: &[Statement],
        tables: &Tables,
        environment: Environment<'_>,
    ) -> (Self, Report) {
        let (sources, mut problems) = (loader.sources, loader.problems);
        let is_well_formed = problems.is_empty();
        let mut checker = Checker {
            tables,
            sources: &sources,
            environment,
            problems: &mut problems,
        };
        let (mut global, mut sites) = checker.config(statements);
        if !is_well_formed {
            // Nobody knows what a brace that is missing has put where.
            global.entries.clear();
            sites.clear();
        }
        let config = Self {
            global,
            sites,
            sources,
        };
        let report = config.report(problems.into_sorted());
        (config, report)
    }
}

fn unless_wrong((config, report): (Config, Report)) -> Result<Config, Report> {
    match report.problems() {
        [] => Ok(config),
        _ => Err(report),
    }
}
