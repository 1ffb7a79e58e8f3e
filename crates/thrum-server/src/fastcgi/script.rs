//! Which script a path names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::StatusCode;

use crate::files::Files;
use crate::files::path::decode;
use crate::files::root::Root;
use crate::gateway::{Script, decode_path};

/// Where scripts are, and how their names are known.
#[derive(Clone, Debug)]
pub(super) struct Scripts {
    place: Place,
    /// The names of files that answer for a folder.
    pub(super) index: Vec<String>,
    /// What the names of scripts end in.
    pub(super) endings: Vec<String>,
    /// The script for what does not exist.
    pub(super) fallback: Option<String>,
}

#[derive(Clone)]
enum Place {
    /// One application for all paths.
    Anywhere,
    /// A folder that can be looked at.
    Here {
        folder: PathBuf,
        root: Arc<Root>,
        files: Files,
    },
    /// A folder of another machine.
    There(PathBuf),
}

/// What a path names.
pub(super) enum Found {
    Script(Script),
    /// A file that is no script.
    File(Files),
    /// A folder, asked for without its slash.
    Folder,
}

impl Default for Scripts {
    fn default() -> Self {
        Self {
            place: Place::Anywhere,
            index: vec!["index.php".to_owned(), "index.html".to_owned()],
            endings: vec![".php".to_owned()],
            fallback: None,
        }
    }
}

impl Scripts {
    pub(super) fn set_local(&mut self, folder: PathBuf, files: Files) {
        if let Ok(root) = Root::open(&folder) {
            self.place = Place::Here {
                root: Arc::new(root),
                files,
                folder,
            };
        }
    }

    pub(super) fn set_remote(&mut self, folder: PathBuf) {
        self.place = Place::There(folder);
    }

    /// The folder that paths begin at.
    pub(super) fn root(&self) -> &Path {
        match &self.place {
            Place::Anywhere => Path::new("/"),
            Place::Here { folder, .. } | Place::There(folder) => folder,
        }
    }

    /// Goes down a request's path, behind the part that the route takes, to the first script.
    pub(super) fn find(&self, path: &str, mount: &str) -> Result<Found, StatusCode> {
        // A route for one path alone stands for a file in its folder.
        let start = mount.rfind('/').map_or(0, |slash| slash + 1);
        if !path.starts_with(mount) {
            return Err(StatusCode::NOT_FOUND);
        }
        let walk = Walk {
            path,
            start,
            folder: self.root(),
        };
        match &self.place {
            Place::Anywhere => walk.application(mount),
            Place::There(_) => self.guess(&walk),
            Place::Here { root, files, .. } => self.look(&walk, root, files),
        }
    }

    /// Finds what there is.
    fn look(&self, walk: &Walk<'_>, root: &Root, files: &Files) -> Result<Found, StatusCode> {
        let look = |relative: &str| root.look_beneath(relative, RECHECK_MS);
        let mut relative = String::new();
        for step in walk.steps() {
            let (found, end) = step?;
            if self.is_script(&found) && look(&found).is_ok_and(|file| file.is_file()) {
                return walk.script(&found, end);
            }
            relative = found;
        }
        match look(&relative) {
            Ok(metadata) if metadata.is_file() && !walk.path.ends_with('/') => {
                Ok(Found::File(files.clone()))
            }
            Ok(metadata) if metadata.is_dir() && !walk.path.ends_with('/') => Ok(Found::Folder),
            Ok(metadata) if metadata.is_dir() => {
                for name in &self.index {
                    let index = join(&relative, name);
                    match look(&index) {
                        Ok(file) if file.is_file() && self.is_script(name) => {
                            return walk.script_in_folder(&index, name);
                        }
                        Ok(file) if file.is_file() => return Ok(Found::File(files.clone())),
                        _ => {}
                    }
                }
                self.fall_back(walk)
            }
            _ => self.fall_back(walk),
        }
    }

    /// Finds what there would be.
    fn guess(&self, walk: &Walk<'_>) -> Result<Found, StatusCode> {
        let mut relative = String::new();
        for step in walk.steps() {
            let (found, end) = step?;
            if self.is_script(&found) {
                return walk.script(&found, end);
            }
            relative = found;
        }
        match (&self.fallback, self.index.first()) {
            (None, Some(name)) if walk.path.ends_with('/') && self.is_script(name) => {
                walk.script_in_folder(&join(&relative, name), name)
            }
            _ => self.fall_back(walk),
        }
    }

    fn fall_back(&self, walk: &Walk<'_>) -> Result<Found, StatusCode> {
        match &self.fallback {
            Some(script) => walk.other(script),
            None => Err(StatusCode::NOT_FOUND),
        }
    }

    fn is_script(&self, name: &str) -> bool {
        self.endings
            .iter()
            .any(|ending| name.ends_with(ending.as_str()))
    }
}

/// How long it is believed where the folder is, in milliseconds.
const RECHECK_MS: u64 = 1000;

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// A request's path, and where the part that names files starts.
struct Walk<'a> {
    path: &'a str,
    start: usize,
    folder: &'a Path,
}

impl<'a> Walk<'a> {
    /// Each path on the way down: decoded, and where it ends.
    fn steps(&self) -> impl Iterator<Item = Result<(String, usize), StatusCode>> + use<'a> {
        let (mut relative, mut end) = (String::new(), self.start);
        let mut is_first = true;
        self.path[self.start..]
            .split('/')
            .filter_map(move |segment| {
                if !std::mem::take(&mut is_first) {
                    end += 1; // the slash before it
                }
                end += segment.len();
                if segment.is_empty() {
                    return None;
                }
                let Ok(segment) = decode(segment) else {
                    return Some(Err(StatusCode::BAD_REQUEST));
                };
                if segment.starts_with('.') && !(relative.is_empty() && segment == ".well-known") {
                    return Some(Err(StatusCode::NOT_FOUND));
                }
                relative = join(&relative, &segment);
                Some(Ok((relative.clone(), end)))
            })
    }

    /// The script at `relative`, whose name ends at `end` of the path.
    fn script(&self, relative: &str, end: usize) -> Result<Found, StatusCode> {
        Ok(Found::Script(Script {
            name: decoded(&self.path[..end])?,
            file: self.folder.join(relative),
            path_info: decoded(&self.path[end..])?,
        }))
    }

    /// The script of that name in the folder that the path names.
    fn script_in_folder(&self, relative: &str, name: &str) -> Result<Found, StatusCode> {
        Ok(Found::Script(Script {
            name: decoded(self.path)? + name,
            file: self.folder.join(relative),
            path_info: String::new(),
        }))
    }

    /// A script that the path does not name.
    fn other(&self, relative: &str) -> Result<Found, StatusCode> {
        let relative = relative.trim_start_matches('/');
        Ok(Found::Script(Script {
            name: decoded(&self.path[..self.start])? + relative,
            file: self.folder.join(relative),
            path_info: String::new(),
        }))
    }

    /// The one application for all paths beneath the mount.
    fn application(&self, mount: &str) -> Result<Found, StatusCode> {
        // The slash belongs to what follows.
        let end = mount.trim_end_matches('/').len();
        let name = decoded(&self.path[..end])?;
        Ok(Found::Script(Script {
            file: PathBuf::from(&name),
            name,
            path_info: decoded(&self.path[end..])?,
        }))
    }
}

fn decoded(path: &str) -> Result<String, StatusCode> {
    decode_path(path).or(Err(StatusCode::BAD_REQUEST))
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anywhere => f.write_str("Anywhere"),
            Self::Here { folder, .. } => f.debug_tuple("Here").field(folder).finish(),
            Self::There(folder) => f.debug_tuple("There").field(folder).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    fn shown(found: Result<Found, StatusCode>) -> String {
        match found {
            Ok(Found::Script(script)) => {
                let file = script
                    .file
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy();
                format!("{} {file} {}", script.name, script.path_info)
            }
            Ok(Found::File(_)) => "file".to_owned(),
            Ok(Found::Folder) => "folder".to_owned(),
            Err(status) => status.as_str().to_owned(),
        }
    }

    #[test]
    fn scripts_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        create_dir_all(folder.path().join("admin/empty")).unwrap();
        create_dir_all(folder.path().join("plain")).unwrap();
        for name in [
            "index.php",
            "page.php",
            "admin/index.php",
            "a.css",
            "plain/index.html",
            ".env",
        ] {
            write(folder.path().join(name), "").unwrap();
        }
        let mut scripts = Scripts::default();
        scripts.set_local(folder.path().into(), Files::new(folder.path()).unwrap());
        let find = |scripts: &Scripts, path: &str| shown(scripts.find(path, "/"));
        for (path, expected) in [
            ("/", "/index.php index.php "),
            ("/page.php", "/page.php page.php "),
            ("/page.php/a%20b/c.php", "/page.php page.php /a b/c.php"),
            ("/admin/", "/admin/index.php index.php "),
            ("/admin", "folder"),
            ("/a.css", "file"),
            ("/plain/", "file"),
            ("/missing.php", "404"),
            ("/missing", "404"),
            ("/admin/empty/", "404"),
            ("/.env", "404"),
            ("/a.css/x.php", "404"),
            ("/../page.php", "400"),
            ("/page.php/%2e%2e/x", "400"),
        ] {
            assert_eq!(find(&scripts, path), expected, "{path}");
        }
        scripts.fallback = Some("/index.php".to_owned());
        for path in [
            "/missing",
            "/missing.php",
            "/2026/11/post/",
            "/admin/empty/",
        ] {
            assert_eq!(find(&scripts, path), "/index.php index.php ", "{path}");
        }
        assert_eq!(find(&scripts, "/a.css"), "file");
        assert_eq!(
            shown(scripts.find("/blog/page.php/x", "/blog/")),
            "/blog/page.php page.php /x"
        );
        assert_eq!(
            shown(scripts.find("/blog/missing", "/blog/")),
            "/blog/index.php index.php "
        );
        assert_eq!(
            shown(scripts.find("/page.php", "/page.php")),
            "/page.php page.php "
        );
    }

    #[test]
    fn scripts_elsewhere() {
        let mut scripts = Scripts::default();
        scripts.set_remote("/srv/php".into());
        for (path, expected) in [
            ("/", "/index.php index.php "),
            ("/a/", "/a/index.php index.php "),
            ("/a/b.php/c", "/a/b.php b.php /c"),
            ("/a", "404"),
        ] {
            assert_eq!(shown(scripts.find(path, "/")), expected, "{path}");
        }
        scripts.fallback = Some("index.php".to_owned());
        assert_eq!(shown(scripts.find("/a", "/")), "/index.php index.php ");
    }

    #[test]
    fn one_application() {
        let scripts = Scripts::default();
        assert_eq!(shown(scripts.find("/app/x/y", "/app/")), "/app app /x/y");
        assert_eq!(shown(scripts.find("/x", "/")), "  /x");
    }
}
