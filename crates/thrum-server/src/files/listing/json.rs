//! A directory for programs.

use serde_json::json;

use super::names::{Name, Names};

/// `{"path": .., "entries": [{"name", "type", "size", "modified"}], "omitted": n}`; the size is a file's, in bytes.
pub(super) fn text(names: &Names, uri: &str) -> String {
    let entry = |name: &Name| {
        let modified = format!("{}Z", name.date_and_time().replace(' ', "T"));
        if name.is_directory {
            json!({ "name": name.text, "type": "directory", "modified": modified })
        } else {
            json!({ "name": name.text, "type": "file", "size": name.size, "modified": modified })
        }
    };
    let entries: Vec<_> = names.names.iter().map(entry).collect();
    let mut text = json!({ "path": uri, "entries": entries, "omitted": names.omitted }).to_string();
    text.push('\n');
    text
}
