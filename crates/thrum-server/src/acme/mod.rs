//! Certificates from an authority that speaks ACME (RFC 8555), Let's Encrypt for one: ordered, kept, renewed.
//!
//! A [`Keeper`] orders a certificate for each set of names that is wanted, proves by a challenge that the names lead here, keeps
//! account and certificates in a folder, and renews each when two thirds of its life are over, some earlier and some later so that
//! not all come at once. What fails is tried again, first after a minute, at last once a day. Meanwhile everything goes on:
//! a certificate that is not there yet is stood in for by one that nobody trusts, and plain HTTP does not lead to it.
//!
//! The crates for this need another runtime's timers, so the protocol is ours: six kinds of requests. Of the challenges there
//! are `http-01` (a text at port 80) and `tls-alpn-01` (RFC 8737, a certificate at port 443); names with a wildcard need
//! `dns-01`, which there is not: their certificates come from files.

mod account;
mod challenges;
mod front;
mod keeper;
mod protocol;
mod store;

use std::path::PathBuf;

use thrum_http::{Client, client};

pub use challenges::{Challenges, Kind as ChallengeKind};
pub use front::Front;
pub use keeper::Keeper;

use crate::config::{Arity, Kind, Setting, Settings};

const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// Who is asked for certificates, and how.
#[derive(Clone)]
pub struct Authority {
    /// The URL of its directory.
    pub directory: String,
    /// Where it may write to when something is wrong with certificates.
    pub contact: Option<String>,
    /// Where account and certificates are kept. It is made when it is needed, for this user alone.
    pub folder: PathBuf,
    /// How names are proven, the next when one has failed.
    pub challenges: Vec<ChallengeKind>,
    /// What requests are sent with.
    pub client: Client,
}

/// What went wrong with an order.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcmeError {
    /// The authority could not be asked.
    #[error("the authority cannot be reached: {0}")]
    Client(#[from] client::Error),
    /// It said no.
    #[error("the authority refuses: {detail} ({kind}, status {status})")]
    Refused {
        /// Such as `rateLimited`: the last part of the problem's type.
        kind: String,
        /// In words.
        detail: String,
        /// The status.
        status: u16,
        /// Seconds that it wants to be left alone.
        retry_after: Option<u64>,
    },
    /// It does not speak ACME as it is written down.
    #[error("the authority's answer lacks {0}")]
    Malformed(&'static str),
    /// It could not verify a name.
    #[error("the authority could not verify {name} by {challenge}: {detail}")]
    Unverified {
        /// The name.
        name: String,
        /// How.
        challenge: &'static str,
        /// What it says.
        detail: String,
    },
    /// It offers none of the challenges that may be used.
    #[error("the authority offers no challenge for {0} that may be used here")]
    NoChallenge(String),
    /// It was given enough time.
    #[error("the authority has not come to a decision in {0} s")]
    Undecided(u64),
    /// Something with keys or certificates.
    #[error("{0}")]
    Crypto(String),
    /// The folder.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// `acme { .. }`, outside of all sites.
pub const SETTINGS: &[Setting] = &[Setting {
    values: &[],
    block: ACME,
    ..Setting::new(
        "acme",
        &[],
        "How certificates are got for sites that have none of their own, by ACME. Setting this up agrees to the authority's \
         terms of service.",
        "acme { email admin@example.com }",
    )
}];

const ACME: &[Setting] = &[
    Setting {
        default: LETS_ENCRYPT,
        ..Setting::new(
            "directory",
            &[Kind::Url],
            "The authority's directory.",
            "directory https://acme-staging-v02.api.letsencrypt.org/directory",
        )
    },
    Setting::new(
        "email",
        &[Kind::Text("ADDRESS")],
        "Where the authority may write to when something is wrong with certificates.",
        "email admin@example.com",
    ),
    Setting {
        default: "http-01 tls-alpn-01",
        arity: Arity::Many,
        ..Setting::new(
            "challenges",
            &[Kind::Choice(&["http-01", "tls-alpn-01"])],
            "How the authority checks that names lead here: at port 80, at port 443. The next is tried when one has failed.",
            "challenges tls-alpn-01",
        )
    },
    Setting::new(
        "roots",
        &[Kind::File],
        "Authorities that are trusted when the directory is asked, in PEM form, in place of the system's: for an authority \
         of one's own.",
        "roots /etc/ssl/inside.pem",
    ),
];

impl Authority {
    /// Let's Encrypt, with everything kept in a folder.
    pub fn usual(folder: PathBuf) -> Self {
        Self {
            directory: LETS_ENCRYPT.to_owned(),
            contact: None,
            folder,
            challenges: vec![ChallengeKind::Http01, ChallengeKind::TlsAlpn01],
            client: Client::new(),
        }
    }

    /// The authority of an `acme` block, with everything kept in a folder.
    ///
    /// # Errors
    /// When the roots cannot be read.
    pub fn of(acme: &Settings, folder: PathBuf) -> Result<Self, thrum_http::tls::Error> {
        let mut client = Client::builder();
        if let Some(roots) = acme.path("roots") {
            let roots = thrum_http::tls::Roots::from_file(roots)?;
            client = client.tls(thrum_http::tls::Connector::builder().roots(roots).build()?);
        }
        let challenges = acme.texts("challenges").into_iter();
        Ok(Self {
            directory: acme.text("directory").unwrap_or_default().to_owned(),
            contact: acme.text("email").map(str::to_owned),
            folder,
            challenges: challenges.filter_map(ChallengeKind::of).collect(),
            client: client.build(),
        })
    }
}
