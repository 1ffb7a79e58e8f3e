//! Who the sites are: the certificate of each site that is served with TLS, from files or from an authority.

use std::path::PathBuf;

use thrum_http::tls::Identity;

use crate::config::{Arity, Config, Entry, Kind, Problem, Problems, Setting, SiteConfig};
use crate::site::{Host, SiteName};

/// `tls`, in a site.
pub const SITE: &[Setting] = &[Setting {
    arity: Arity::OptionalLast,
    ..Setting::new(
        "tls",
        &[Kind::Text("CERTIFICATE|acme|off"), Kind::Text("KEY")],
        "The site's chain of certificates and its key, two files in PEM form; or acme, to get one from an authority, which is what \
         a name of the wide world does by itself; or off, for plain HTTP on port 80 or the one that is written.",
        "tls /etc/ssl/example.pem /etc/ssl/example.key",
    )
}];

/// The certificates that the sites of a configuration need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificates {
    /// Chain and key, for those that are in files.
    pub files: Vec<(PathBuf, PathBuf)>,
    /// For those that an authority is to be asked for: the names of each.
    pub wanted: Vec<Vec<String>>,
}

/// Whether a site is served with TLS because of what its `tls` says; `None` when its name decides.
pub(crate) fn says_tls(site: &SiteConfig) -> Option<bool> {
    Some(site.settings.written("tls")?.text() != "off")
}

impl Certificates {
    /// Collects them. Files are read, and what is wrong with them is noted.
    pub fn of(config: &Config, problems: &mut Problems) -> Self {
        let mut all = Self::default();
        for site in &config.sites {
            let said = says_tls(site);
            let names = site.names.iter().filter_map(|value| {
                let name: SiteName = value.text().parse().ok()?;
                said.unwrap_or(name.secure).then_some((name, value))
            });
            let names: Vec<_> = names.collect();
            let Some((_, first)) = names.first() else {
                continue;
            };
            match site.settings.written("tls") {
                Some(entry) if entry.text() != "acme" => all.add_files(entry, problems),
                _ => {
                    let mut hosts = Vec::new();
                    for (name, value) in &names {
                        match &name.host {
                            Host::Exact(host) if host != "localhost" && host.contains('.') => {
                                hosts.push(host.clone());
                            }
                            host => problems.add(
                                Problem::new(
                                    value.span(),
                                    format!("no authority gives a certificate for {host} that can be got here"),
                                )
                                .label("needs a certificate of its own")
                                .help("write tls CERTIFICATE KEY in the site, or http:// before the name"),
                            ),
                        }
                    }
                    hosts.sort_unstable();
                    hosts.dedup();
                    // The folder is called by the first name as it was written.
                    let main = first.text().to_ascii_lowercase();
                    if let Some(at) = hosts.iter().position(|host| main.contains(&**host)) {
                        hosts.swap(0, at);
                    }
                    if !hosts.is_empty() {
                        all.wanted.push(hosts);
                    }
                }
            }
        }
        all
    }

    fn add_files(&mut self, entry: &Entry, problems: &mut Problems) {
        let values = entry.values();
        if entry.text() == "off" {
            return;
        }
        let [chain, key] = values else {
            problems.add(
                Problem::new(
                    entry.span(),
                    "tls takes a certificate and a key, acme, or off",
                )
                .label("the key is missing")
                .help("tls /etc/ssl/example.pem /etc/ssl/example.key"),
            );
            return;
        };
        let files = (chain.path(), key.path());
        let read = Identity::from_files(&files.0, &files.1);
        if problems.check(chain.span(), read).is_some() && !self.files.contains(&files) {
            self.files.push(files);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Tables;

    const TABLES: Tables = Tables {
        global: &[],
        site: &[SITE],
        route: &[],
        verbs: &[],
    };

    fn read(text: &str) -> (Certificates, Vec<String>) {
        let config = Config::parse(text, &TABLES).unwrap_or_else(|report| panic!("{report}"));
        let mut problems = Problems::default();
        let all = Certificates::of(&config, &mut problems);
        let problems = problems.into_sorted().into_iter();
        (all, problems.map(|problem| problem.message).collect())
    }

    #[test]
    fn a_name_of_the_wide_world_wants_one() {
        let (all, problems) =
            read("example.com, www.example.com {\n}\nlocalhost:8080 {\n}\n:80 {\n}\n");
        assert_eq!(problems, [""; 0]);
        assert_eq!(all.wanted, [["example.com", "www.example.com"]]);
        assert!(all.files.is_empty());
    }

    #[test]
    fn one_may_say_no() {
        let (all, problems) = read("example.com {\n tls off\n}\nhttp://example.org {\n}\n");
        assert_eq!((all, problems), (Certificates::default(), vec![]));
    }

    #[test]
    fn files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["example.com".to_owned()]).unwrap();
        let (chain, key) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
        std::fs::write(&chain, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let text = |key: &str| format!("example.com {{\n tls {} {key}\n}}\n", chain.display());
        let (all, problems) = read(&text(&key.display().to_string()));
        assert_eq!((all.files.len(), problems.len()), (1, 0));
        let (_, problems) = read(&text("/no/such/key"));
        assert!(problems[0].contains("/no/such/key"), "{problems:?}");
        let (_, problems) = read(&text(""));
        assert!(
            problems[0].contains("a certificate and a key"),
            "{problems:?}"
        );
    }

    #[test]
    fn what_no_authority_gives_is_an_error() {
        let (_, problems) =
            read("*.example.com {\n}\nhttps://localhost {\n}\nhttps://:8443 {\n}\n");
        assert_eq!(problems.len(), 3, "{problems:?}");
    }
}
