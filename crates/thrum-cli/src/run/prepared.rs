//! A configuration, and all that can be made of it without changing the world.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use thrum_http::tls::Identity;
use thrum_server::config::{Config, Problems, Report};
use thrum_server::error_log::ErrorLogConfig;
use thrum_server::process::{Certificates, ProcessSettings};
use thrum_server::site::{Endpoint, Kept, Sites, TABLES};

use crate::error::Failure;

pub(crate) struct Prepared {
    pub(crate) config: Config,
    pub(super) settings: ProcessSettings,
    pub(super) sites: Sites,
    pub(super) certificates: Certificates,
    /// Those in files.
    pub(super) identities: Vec<Identity>,
}

impl Prepared {
    /// Reads a configuration, and tries all that can be wrong with it.
    pub(crate) fn read(path: &Path, kept: &Kept) -> Result<Self, Failure> {
        let wrong = |report: Report| Failure::Config(Box::new(report));
        let (config, report) = Config::read_sound(path, &TABLES);
        let mut problems = Problems::default();
        for problem in report.problems() {
            problems.add(problem.clone());
        }
        let settings = ProcessSettings::of(&config.global, path, &mut problems);
        let certificates = Certificates::of(&config, &mut problems);
        ErrorLogConfig::of(&config.global, &mut problems);
        let sites = Sites::build(&config, kept);
        let sites = match sites {
            Ok(sites) if problems.is_empty() => sites,
            sites => {
                for problem in sites.err().unwrap_or_default() {
                    problems.add(problem);
                }
                return Err(wrong(config.report(problems.into_sorted())));
            }
        };
        let files = certificates.files.iter();
        let identities = files.map(|(chain, key)| Identity::from_files(chain, key));
        let identities: Result<_, _> = identities.collect();
        Ok(Self {
            identities: identities
                .map_err(|error: thrum_http::tls::Error| Failure::Process(error.to_string()))?,
            config,
            settings,
            sites,
            certificates,
        })
    }

    /// Where it is to be listened, and whether with TLS.
    pub(super) fn endpoints(&self) -> BTreeMap<Endpoint, bool> {
        let endpoints = self.sites.endpoints();
        endpoints
            .map(|(endpoint, secure)| (endpoint.clone(), secure))
            .collect()
    }

    /// The files that it depends on: when one changes, it is read again.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let sources = self.config.sources.iter();
        let mut files: Vec<_> = sources.map(|source| source.path().to_owned()).collect();
        for (chain, key) in &self.certificates.files {
            files.extend([chain.clone(), key.clone()]);
        }
        files
    }
}
