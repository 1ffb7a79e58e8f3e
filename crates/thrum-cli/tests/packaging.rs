//! What `packaging/` is made of: configurations that are right, commands and files that are there.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::run;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

#[test]
fn the_configurations_are_right() {
    for name in ["packaging/thrum.conf", "packaging/container/thrum.conf"] {
        let root = tempfile::tempdir().unwrap();
        let mut text = read(name);
        for folder in [
            "/run/thrum",
            "/srv/www",
            "/usr/share/thrum/www",
            "/var/log/thrum",
        ] {
            let inside = root.path().join(&folder[1..]);
            fs::create_dir_all(&inside).unwrap();
            text = text.replace(folder, inside.to_str().unwrap());
        }
        let file = root.path().join("thrum.conf");
        fs::write(&file, text).unwrap();
        let said = run(&["check", file.to_str().unwrap()]);
        assert_eq!(said.code(), Some(0), "{name}: {}", said.stderr);
    }
}

#[test]
fn the_unit_and_the_image_run_commands_that_there_are() {
    let unit = read("packaging/thrum.service");
    let lines = unit
        .lines()
        .filter_map(|line| line.strip_prefix("Exec")?.split_once('='));
    let commands: Vec<_> = lines
        .map(|(_, command)| command.split(' ').collect::<Vec<_>>())
        .collect();
    assert_eq!(commands.len(), 2, "{unit}");
    for command in commands {
        assert_eq!(command[0], "/usr/bin/thrum");
        assert_eq!(command[2], "/etc/thrum/thrum.conf");
        assert_eq!(run(&[command[1], "--help"]).code(), Some(0), "{command:?}");
    }
    let image = read("packaging/Containerfile");
    assert!(
        image.contains(r#"CMD ["run", "/etc/thrum/thrum.conf"]"#),
        "{image}"
    );
}

#[test]
fn what_goes_into_them_is_there() {
    let package = read("crates/thrum-cli/Cargo.toml");
    let from_package = package
        .lines()
        .filter_map(|line| line.trim().strip_prefix("[\"../../")?.split('"').next());
    let image = read("packaging/Containerfile");
    let copies = image.lines().filter_map(|line| line.strip_prefix("COPY "));
    let from_image =
        copies.filter_map(|words| words.split(' ').find(|word| !word.starts_with("--")));
    let (mut made, mut kept) = (0, 0);
    for name in from_package.chain(from_image) {
        match name.starts_with("target/") {
            true => made += 1,
            false => {
                kept += 1;
                assert!(repository().join(name).exists(), "{name}");
            }
        }
    }
    assert!(made >= 6 && kept >= 6, "{made} made, {kept} kept");
}
