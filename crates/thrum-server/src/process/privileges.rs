//! Going on as another user, for good.

use std::ffi::CString;
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::{Gid, Group, Uid, User, getgroups, getresgid, getresuid};
use nix::unistd::{initgroups, setgroups, setresgid, setresuid, setuid};

/// The user and group that a process is to go on as once it has bound its ports.
///
/// ```no_run
/// use thrum_server::process::Privileges;
///
/// // Ports below 1024 are bound here, then:
/// Privileges::of(Some("www-data"), None)?.drop_to()?;
/// # Ok::<(), thrum_server::process::PrivilegesError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Privileges {
    /// The name, for the groups that the user is in. None when only the group changes.
    user: Option<(CString, Uid)>,
    group: Gid,
}

/// Why a process cannot go on as another user.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrivilegesError {
    /// The system does not know the user.
    #[error("there is no user {0:?} on this system")]
    NoUser(String),
    /// The system does not know the group.
    #[error("there is no group {0:?} on this system")]
    NoGroup(String),
    /// Only root can become somebody else.
    #[error(
        "only root can become another user or group; start as root, or leave user and group out"
    )]
    NotRoot,
    /// The system refused.
    #[error("cannot {0}: {1}")]
    Refused(&'static str, Errno),
    /// It was said to have worked, and has not.
    #[error("the process still has rights that it was to give up")]
    NotDropped,
}

impl Privileges {
    /// Looks up a user and a group, by name or number. Without a group it is the user's own; without a user, only the group
    /// changes.
    ///
    /// # Errors
    /// When the system does not know one of them.
    pub fn of(user: Option<&str>, group: Option<&str>) -> Result<Self, PrivilegesError> {
        let user = user.map(find_user).transpose()?;
        let group = match (group, &user) {
            (Some(group), _) => find_group(group)?,
            (None, Some(user)) => user.gid,
            (None, None) => Gid::effective(),
        };
        let user = user.map(|user| {
            let name = CString::new(user.name).map_err(|_| PrivilegesError::NotDropped)?;
            Ok((name, user.uid))
        });
        Ok(Self {
            user: user.transpose()?,
            group,
        })
    }

    /// Goes on as them, with the groups that the user is in and no others, and checks that there is no way back. It holds for
    /// all threads. Does nothing in a process that is them already.
    ///
    /// # Errors
    /// When this is not root, when the system refuses, or when what was given up is still there. Then the process had better
    /// end: some of it may have been done.
    pub fn drop_to(&self) -> Result<(), PrivilegesError> {
        if self.is_held() {
            return Ok(());
        }
        if !Uid::effective().is_root() {
            return Err(PrivilegesError::NotRoot);
        }
        let refused = |what| move |error| PrivilegesError::Refused(what, error);
        // Groups first: afterwards there is no right to change them. The user last, for the same reason.
        match &self.user {
            Some((name, _)) => initgroups(name, self.group),
            None => setgroups(&[self.group]),
        }
        .map_err(refused("set the supplementary groups"))?;
        setresgid(self.group, self.group, self.group).map_err(refused("set the group"))?;
        if let Some((_, user)) = self.user {
            setresuid(user, user, user).map_err(refused("set the user"))?;
            if !user.is_root() && setuid(Uid::from_raw(0)).is_ok() {
                return Err(PrivilegesError::NotDropped);
            }
        }
        match self.is_held() {
            true => Ok(()),
            false => Err(PrivilegesError::NotDropped),
        }
    }

    /// Gives them a file or folder, as root can. What is theirs already stays.
    ///
    /// # Errors
    /// Those of chown(2).
    pub fn give(&self, path: &Path) -> std::io::Result<()> {
        if self.is_held() {
            return Ok(());
        }
        let user = self.user.as_ref().map(|(_, user)| user.as_raw());
        std::os::unix::fs::chown(path, user, Some(self.group.as_raw()))
    }

    /// Whether the process is them: really, effectively and in what it could go back to.
    fn is_held(&self) -> bool {
        let user = self.user.as_ref().is_none_or(|(_, user)| {
            getresuid().is_ok_and(|now| [now.real, now.effective, now.saved] == [*user; 3])
        });
        let group =
            getresgid().is_ok_and(|now| [now.real, now.effective, now.saved] == [self.group; 3]);
        let root = Gid::from_raw(0);
        let no_more = self.group == root || getgroups().is_ok_and(|all| !all.contains(&root));
        user && group && no_more
    }
}

fn find_user(name: &str) -> Result<User, PrivilegesError> {
    let by_name = User::from_name(name).ok().flatten();
    let by_number = || {
        User::from_uid(Uid::from_raw(name.parse().ok()?))
            .ok()
            .flatten()
    };
    by_name
        .or_else(by_number)
        .ok_or_else(|| PrivilegesError::NoUser(name.to_owned()))
}

fn find_group(name: &str) -> Result<Gid, PrivilegesError> {
    let by_name = Group::from_name(name).ok().flatten();
    let by_number = || {
        Group::from_gid(Gid::from_raw(name.parse().ok()?))
            .ok()
            .flatten()
    };
    let found = by_name.or_else(by_number).map(|group| group.gid);
    found.ok_or_else(|| PrivilegesError::NoGroup(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_groups_are_found_by_name_and_number() {
        let by_name = Privileges::of(Some("root"), None).unwrap();
        assert_eq!(Privileges::of(Some("0"), None).unwrap(), by_name);
        assert_eq!(by_name.group, Gid::from_raw(0));
        let nobody = Privileges::of(Some("nobody"), Some("0")).unwrap();
        assert_eq!(nobody.group, Gid::from_raw(0));
        assert_ne!(nobody.user, by_name.user);
    }

    #[test]
    fn who_is_unknown_is_named() {
        let error = Privileges::of(Some("no such user"), None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no user \"no such user\" on this system"
        );
        let error = Privileges::of(None, Some("no-such-group")).unwrap_err();
        assert_eq!(error, PrivilegesError::NoGroup("no-such-group".to_owned()));
    }

    #[test]
    fn who_one_is_already_needs_no_right() {
        let uid = Uid::current();
        let same = Privileges::of(Some(&uid.to_string()), Some(&Gid::current().to_string()));
        // In a container, a user may have a number and no name.
        if let Ok(same) = same {
            same.drop_to().unwrap();
            assert_eq!(Uid::current(), uid);
        }
    }
}
