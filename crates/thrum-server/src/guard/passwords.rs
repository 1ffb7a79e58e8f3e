//! Files of users and hashes of their passwords, as `htpasswd` and `thrum passwd` write them: `alice:$argon2id$...`.
//!
//! Hashes are Argon2, bcrypt (`$2y$`), or SHA-512 and SHA-256 crypt (`$6$`, `$5$`). MD5, SHA-1, DES and plain text are not
//! accepted: whoever gets hold of such a file has the passwords.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use sha_crypt::ShaCrypt;
use thiserror::Error;

/// Longer passwords are wrong: hashing takes as long as they are.
pub const LONGEST_PASSWORD: usize = 1024;

/// Users, and hashes of their passwords.
#[derive(Clone, Debug)]
pub struct Users {
    by_name: HashMap<String, usize>,
    hashes: Vec<Hash>,
    random: RandomState,
}

/// A password's hash.
#[derive(Clone, Debug)]
struct Hash {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Argon2,
    Bcrypt,
    ShaCrypt,
}

/// What is wrong with a file of users.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidUsers {
    /// It is not UTF-8.
    #[error("it is not text in UTF-8")]
    NotText,
    /// A line without a colon, or without a name.
    #[error("line {0} is not NAME:HASH")]
    NotALine(usize),
    /// A hash that is not known, or weak.
    #[error(
        "line {0}: the hash of {1} is none of Argon2, bcrypt and SHA-512 crypt; make one with: thrum passwd {1} FILE"
    )]
    UnknownHash(usize, String),
    /// A name in two lines.
    #[error("line {0}: {1} has a line before")]
    Twice(usize, String),
}

/// A name that cannot be written in a file of users.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidUser {
    /// It is empty, or has what separates names from hashes and lines.
    #[error(
        "a user's name has no colon, no control characters, and no # at its beginning; {0:?} does"
    )]
    Name(String),
    /// It is too long, or empty.
    #[error("a password has 1 to {LONGEST_PASSWORD} bytes")]
    Password,
    /// There is no randomness, or no memory.
    #[error("the password cannot be hashed: {0}")]
    Hash(String),
}

impl Users {
    /// Whether it is this user's password.
    ///
    /// It takes its time, on purpose: call it where nobody waits. For a name that is not known it takes as long as for one of
    /// the others.
    pub fn verify(&self, name: &str, password: &str) -> bool {
        let known = self.by_name.get(name).copied();
        // Always the same one for a name, as if it were known.
        let place = (self.random.hash_one(name) as usize).checked_rem(self.hashes.len());
        let Some(other) = place else {
            return false;
        };
        let is_right = self.hashes[known.unwrap_or(other)].verify(password);
        is_right & known.is_some()
    }
}

impl FromStr for Users {
    type Err = InvalidUsers;

    fn from_str(text: &str) -> Result<Self, InvalidUsers> {
        let (mut by_name, mut hashes) = (HashMap::new(), Vec::new());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // What follows a second colon is a comment.
            let mut fields = line.split(':');
            let (Some(name), Some(hash)) = (fields.next(), fields.next()) else {
                return Err(InvalidUsers::NotALine(number));
            };
            if name.is_empty() {
                return Err(InvalidUsers::NotALine(number));
            }
            let unknown = || InvalidUsers::UnknownHash(number, name.to_owned());
            let hash = Hash::parse(hash).ok_or_else(unknown)?;
            if by_name.insert(name.to_owned(), hashes.len()).is_some() {
                return Err(InvalidUsers::Twice(number, name.to_owned()));
            }
            hashes.push(hash);
        }
        Ok(Self {
            by_name,
            hashes,
            random: RandomState::new(),
        })
    }
}

impl Hash {
    fn parse(text: &str) -> Option<Self> {
        let kind = if text.starts_with("$argon2") {
            let hash = argon2::PasswordHash::new(text).ok()?;
            argon2::Params::try_from(&hash).ok()?;
            hash.hash.as_ref()?;
            Kind::Argon2
        } else if text.starts_with("$2") {
            bcrypt::HashParts::from_str(text).ok()?;
            Kind::Bcrypt
        } else {
            let is_sha = text.starts_with("$6$") || text.starts_with("$5$");
            sha_crypt::PasswordHashRef::new(text)
                .ok()
                .filter(|_| is_sha)?;
            Kind::ShaCrypt
        };
        let text = text.to_owned();
        Some(Self { kind, text })
    }

    fn verify(&self, password: &str) -> bool {
        if password.len() > LONGEST_PASSWORD {
            return false;
        }
        let bytes = password.as_bytes();
        match self.kind {
            Kind::Argon2 => Argon2::default()
                .verify_password(bytes, self.text.as_str())
                .is_ok(),
            Kind::Bcrypt => bcrypt::verify(bytes, &self.text).unwrap_or(false),
            Kind::ShaCrypt => ShaCrypt::default()
                .verify_password(bytes, self.text.as_str())
                .is_ok(),
        }
    }
}

/// An error for a name that cannot be written in a file of users.
///
/// # Errors
/// [`InvalidUser::Name`].
pub fn check_name(name: &str) -> Result<(), InvalidUser> {
    let is_bad = |letter: char| letter == ':' || letter.is_control();
    if name.trim() != name || name.is_empty() || name.starts_with('#') || name.contains(is_bad) {
        return Err(InvalidUser::Name(name.to_owned()));
    }
    Ok(())
}

/// A line of a file of users, with Argon2id and its recommended cost (19 MiB, two passes). It takes some ten milliseconds.
///
/// # Errors
/// For a name or a password that cannot be.
pub fn line(name: &str, password: &str) -> Result<String, InvalidUser> {
    check_name(name)?;
    if password.is_empty() || password.len() > LONGEST_PASSWORD {
        return Err(InvalidUser::Password);
    }
    let hash: argon2::PasswordHash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(|error| InvalidUser::Hash(error.to_string()))?;
    Ok(format!("{name}:{hash}"))
}

/// A file of users with another line for this user, in place of that which there is, or at the end.
///
/// # Errors
/// Those of [`line()`].
pub fn with_user(text: &str, name: &str, password: &str) -> Result<String, InvalidUser> {
    let new = line(name, password)?;
    let is_of_user = |line: &str| {
        line.split_once(':')
            .is_some_and(|(known, _)| known.trim() == name)
    };
    let mut lines: Vec<&str> = text.lines().collect();
    match lines.iter().position(|line| is_of_user(line)) {
        Some(place) => lines[place] = &new,
        None => lines.push(&new),
    }
    Ok(lines.join("\n") + "\n")
}

pub(super) fn parse(content: &[u8]) -> Result<Users, String> {
    let text = std::str::from_utf8(content).map_err(|_| InvalidUsers::NotText.to_string())?;
    text.parse()
        .map_err(|error: InvalidUsers| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cheap(name: &str) -> String {
        let hash = bcrypt::hash("secret", 4).unwrap();
        format!("{name}:{hash}:a comment\n")
    }

    #[test]
    fn hashes_of_other_programs() {
        // openssl passwd -6 -salt saltstring 'Hello world!', and -5
        let six = "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1";
        let five = "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5";
        let text = format!("six:{six}\nfive:{five}\n{}", cheap("bcrypt"));
        let users: Users = text.parse().unwrap();
        for name in ["six", "five"] {
            assert!(users.verify(name, "Hello world!"));
            assert!(!users.verify(name, "Hello world"));
        }
        assert!(users.verify("bcrypt", "secret"));
        assert!(!users.verify("bcrypt", "Secret") && !users.verify("bcrypt", ""));
        assert!(!users.verify("nobody", "secret") && !users.verify("nobody", "Hello world!"));
    }

    #[test]
    fn our_own_lines() {
        let file = with_user(&cheap("bob"), "alice", "rab:bit").unwrap();
        let users: Users = file.parse().unwrap();
        assert!(users.verify("alice", "rab:bit") && users.verify("bob", "secret"));
        let changed = with_user(&file, "bob", "carrot").unwrap();
        let users: Users = changed.parse().unwrap();
        assert_eq!(changed.lines().count(), 2);
        assert!(users.verify("bob", "carrot") && !users.verify("bob", "secret"));
        assert!(!users.verify("alice", &"a".repeat(LONGEST_PASSWORD + 1)));
        for name in ["", "a:b", "#a", "a\nb", " a"] {
            assert_eq!(line(name, "x"), Err(InvalidUser::Name(name.to_owned())));
        }
        assert_eq!(line("a", ""), Err(InvalidUser::Password));
    }

    #[test]
    fn mistakes_have_their_line() {
        let error = |text: &str| text.parse::<Users>().unwrap_err();
        assert!(
            !"\n# nobody\n"
                .parse::<Users>()
                .unwrap()
                .verify("nobody", "x")
        );
        assert_eq!(error("\nalice"), InvalidUsers::NotALine(2));
        assert_eq!(error(":x"), InvalidUsers::NotALine(1));
        for weak in [
            "$apr1$x$y",
            "{SHA}abc",
            "secret",
            "",
            "$argon2id$nonsense",
            "$2y$99$x",
        ] {
            let text = format!("alice:{weak}");
            assert_eq!(
                error(&text),
                InvalidUsers::UnknownHash(1, "alice".into()),
                "{weak}"
            );
        }
        let twice = cheap("bob").repeat(2);
        assert_eq!(error(&twice), InvalidUsers::Twice(2, "bob".into()));
    }
}
