//! Which program a path names.

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::StatusCode;

use super::CgiError;
use crate::files::path::decode;
use crate::files::root::Root;
use crate::files::{FilesError, node::status};
use crate::gateway::{Script, decode_path};

/// How long it is believed where the folder is, in milliseconds.
const RECHECK_MS: u64 = 1000;

/// Where programs come from.
#[derive(Clone)]
pub(super) enum Target {
    /// Any that is beneath a folder.
    Folder { root: Arc<Root>, path: PathBuf },
    /// This one.
    File(PathBuf),
}

/// What a path names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Script(Program),
    /// A folder, asked for without its slash.
    Folder,
}

/// A program to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) asked: Script,
    /// It writes the whole response, status line and all, as its name says: `nph-...` (RFC 3875 section 5).
    pub(super) whole: bool,
}

impl Target {
    pub(super) fn open(path: &Path) -> Result<Self, CgiError> {
        let fail = |source| CgiError::Target {
            path: path.to_owned(),
            source,
        };
        let absolute = std::path::absolute(path).map_err(fail)?;
        let metadata = std::fs::metadata(&absolute).map_err(fail)?;
        if metadata.is_dir() {
            let root =
                Root::open(&absolute).map_err(|FilesError::Root { source, .. }| fail(source))?;
            return Ok(Self::Folder {
                root: Arc::new(root),
                path: absolute,
            });
        }
        if !is_program(&metadata) {
            return Err(CgiError::NotExecutable(path.to_owned()));
        }
        Ok(Self::File(absolute))
    }

    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Folder { path, .. } => path,
            Self::File(file) => file.parent().unwrap_or(file),
        }
    }

    /// Goes down a request's path, behind the part that the route takes, to the first file.
    pub(super) fn find(
        &self,
        path: &str,
        mount: &str,
        index: &[String],
    ) -> Result<Found, StatusCode> {
        let malformed = |_| StatusCode::BAD_REQUEST;
        let rest = path.strip_prefix(mount).ok_or(StatusCode::NOT_FOUND)?;
        let (root, folder) = match self {
            Self::Folder { root, path } => (root, path),
            Self::File(file) => {
                // The slash belongs to what follows the program's name.
                let name = path[..path.len() - rest.len()].trim_end_matches('/');
                let script = Script {
                    name: decode_path(name).map_err(malformed)?,
                    file: file.clone(),
                    path_info: decode_path(&path[name.len()..]).map_err(malformed)?,
                };
                return Ok(Found::Script(Program::new(script)));
            }
        };
        let mut relative = String::new();
        let mut end = path.len() - rest.len(); // of what was gone down
        for segment in rest.split('/') {
            end += segment.len();
            if !segment.is_empty() {
                let segment = decode(segment).or(Err(StatusCode::BAD_REQUEST))?;
                if segment.starts_with('.') {
                    return Err(StatusCode::NOT_FOUND);
                }
                if !relative.is_empty() {
                    relative.push('/');
                }
                relative.push_str(&segment);
                let metadata = root
                    .look_beneath(&relative, RECHECK_MS)
                    .map_err(|error| status(&error))?;
                if !metadata.is_dir() {
                    let script = Script {
                        name: decode_path(&path[..end]).map_err(malformed)?,
                        file: folder.join(&relative),
                        path_info: decode_path(&path[end..]).map_err(malformed)?,
                    };
                    return runnable(&metadata, script);
                }
            }
            end += 1; // its slash
        }
        if !path.ends_with('/') {
            return Ok(Found::Folder);
        }
        for name in index {
            let relative = if relative.is_empty() {
                name.clone()
            } else {
                format!("{relative}/{name}")
            };
            match root.look_beneath(&relative, RECHECK_MS) {
                Ok(metadata) if !metadata.is_dir() => {
                    let script = Script {
                        name: decode_path(path).map_err(malformed)? + name,
                        file: folder.join(&relative),
                        path_info: String::new(),
                    };
                    return runnable(&metadata, script);
                }
                _ => {}
            }
        }
        Err(StatusCode::NOT_FOUND)
    }
}

fn runnable(metadata: &Metadata, script: Script) -> Result<Found, StatusCode> {
    if !is_program(metadata) {
        tracing::warn!(file = %script.file.display(), "it is no executable file, so it is not run");
        return Err(StatusCode::FORBIDDEN);
    }
    Ok(Found::Script(Program::new(script)))
}

fn is_program(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}

impl Program {
    fn new(asked: Script) -> Self {
        let name = asked.file.file_name().unwrap_or_default();
        Self {
            whole: name.as_encoded_bytes().starts_with(b"nph-"),
            asked,
        }
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder { path, .. } => f.debug_tuple("Folder").field(path).finish(),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, set_permissions, write};
    use std::io;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_first_file_is_the_program() -> io::Result<()> {
        let outer = tempfile::tempdir()?;
        let folder = outer.path().join("cgi");
        create_dir_all(folder.join("a b/c"))?;
        for name in ["hello", "a b/nph-x", "a b/index.cgi", "../outside"] {
            write(folder.join(name), "#!/bin/sh\n")?;
            set_permissions(folder.join(name), PermissionsExt::from_mode(0o755))?;
        }
        write(folder.join("text"), "")?;
        write(folder.join(".hidden"), "")?;
        symlink("../outside", folder.join("out"))?;
        symlink("a b/nph-x", folder.join("within"))?;
        let target = Target::open(&folder).unwrap();
        let index = ["index.cgi".to_owned()];
        let find = |path: &str| match target.find(path, "/cgi-bin/", &index) {
            Ok(Found::Script(Program { asked, whole })) => {
                let file = asked
                    .file
                    .strip_prefix(&folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                Ok((asked.name, file, asked.path_info, whole))
            }
            Ok(Found::Folder) => Err(301),
            Err(status) => Err(status.as_u16()),
        };
        let script = |name: &str, file: &str, info: &str, whole| {
            Ok((name.to_owned(), file.to_owned(), info.to_owned(), whole))
        };
        for (path, expected) in [
            (
                "/cgi-bin/hello",
                script("/cgi-bin/hello", "hello", "", false),
            ),
            (
                "/cgi-bin/hello/",
                script("/cgi-bin/hello", "hello", "/", false),
            ),
            (
                "/cgi-bin/hello/a%20/.b//c",
                script("/cgi-bin/hello", "hello", "/a /.b//c", false),
            ),
            (
                "/cgi-bin/a%20b/nph-x/y",
                script("/cgi-bin/a b/nph-x", "a b/nph-x", "/y", true),
            ),
            (
                "/cgi-bin//a%20b//nph-x",
                script("/cgi-bin//a b//nph-x", "a b/nph-x", "", true),
            ),
            (
                "/cgi-bin/a%20b/",
                script("/cgi-bin/a b/index.cgi", "a b/index.cgi", "", false),
            ),
            (
                "/cgi-bin/within",
                script("/cgi-bin/within", "within", "", false),
            ),
            ("/cgi-bin/a%20b", Err(301)),
            ("/cgi-bin/", Err(404)),
            ("/cgi-bin/a%20b/c/", Err(404)),
            ("/cgi-bin/nothing", Err(404)),
            ("/cgi-bin/text", Err(403)),
            ("/cgi-bin/.hidden", Err(404)),
            ("/cgi-bin/out", Err(404)),
            ("/cgi-bin/../outside", Err(400)),
            ("/cgi-bin/%2e%2e/outside", Err(400)),
            ("/cgi-bin/hello/../x", Err(400)),
            ("/cgi-bin/hello/a%2fb", Err(400)),
            ("/cgi-bin/hello/a%00", Err(400)),
            ("/other/hello", Err(404)),
        ] {
            assert_eq!(find(path), expected, "{path}");
        }
        Ok(())
    }

    #[test]
    fn one_program_for_all() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("backend");
        write(&file, "#!/bin/sh\n")?;
        assert!(matches!(
            Target::open(&file),
            Err(CgiError::NotExecutable(_))
        ));
        set_permissions(&file, PermissionsExt::from_mode(0o755))?;
        let target = Target::open(&file).unwrap();
        for (path, mount, name, info) in [
            ("/git/a.git/info", "/git/", "/git", "/a.git/info"),
            ("/git/", "/git/", "/git", "/"),
            ("/git", "/git", "/git", ""),
            ("/a%20b", "/", "", "/a b"),
        ] {
            let Ok(Found::Script(program)) = target.find(path, mount, &[]) else {
                panic!("{path} is a script");
            };
            let asked = program.asked;
            assert_eq!(
                (asked.name.as_str(), asked.path_info.as_str()),
                (name, info),
                "{path}"
            );
        }
        assert!(Target::open(Path::new("/nowhere/at/all")).is_err());
        Ok(())
    }
}
