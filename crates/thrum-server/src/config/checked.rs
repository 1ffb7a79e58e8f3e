//! A configuration that has been checked against the tables of what may stand where.

use super::problem::Span;
use super::schema::Verb;
use super::settings::Settings;
use super::value::Value;

/// A whole configuration, all files of it.
#[derive(Clone, Debug)]
pub struct Config {
    /// What stands outside of all sites.
    pub global: Settings,
    /// The sites, in written order.
    pub sites: Vec<SiteConfig>,
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
