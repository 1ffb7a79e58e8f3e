//! Man pages and completion scripts.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use support::run;

/// The commands that a help text lists, `help` left out.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let starts = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = starts.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The pages of a command and all below it, whose name is in parts.
fn expect_pages(command: &[&str], found: &mut BTreeSet<String>) {
    found.insert(format!("{}.1", command.join("-")));
    let help = run(&[&command[1..], &["--help"]].concat()).stdout;
    for name in commands(&help) {
        expect_pages(&[command, &[&*name]].concat(), found);
    }
}

#[test]
fn every_command_has_a_page() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("share/man/man1");
    let said = run(&["man", folder.to_str().unwrap()]);
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    let entries = fs::read_dir(&folder).unwrap();
    let names: BTreeSet<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut expected = BTreeSet::new();
    expect_pages(&["thrum"], &mut expected);
    assert!(expected.contains("thrum-import-mighttpd.1"), "{expected:?}");
    assert_eq!(names, expected);
    let page = fs::read_to_string(folder.join("thrum-serve.1")).unwrap();
    assert!(
        page.contains(".SH OPTIONS") && page.contains("\\-\\-listen"),
        "{page}"
    );
    assert!(run(&["man"]).stdout.contains("thrum\\-serve(1)"));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let folder = file.path().join("man1");
    run(&["man", folder.to_str().unwrap()]).expect(1, &["man1 cannot be written"]);
}

#[test]
fn bash_takes_the_completions() {
    let script = run(&["completions", "bash"]).stdout;
    let ask = "COMP_WORDS=(thrum serve --lis); COMP_CWORD=2; _thrum thrum --lis serve; echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["--norc", "-c", &format!("{script}\n{ask}")])
        .output()
        .unwrap();
    let (said, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!((&*errors, output.status.code()), ("", Some(0)));
    assert!(
        said.contains("--listen") && said.contains("--listing"),
        "{said}"
    );
}

#[test]
fn other_shells_have_completions_too() {
    for shell in ["elvish", "fish", "powershell", "zsh"] {
        let said = run(&["completions", shell]);
        assert_eq!(said.code(), Some(0), "{}", said.stderr);
        assert!(said.stdout.contains("listing"), "{shell}");
    }
    run(&["completions", "csh"]).expect(2, &["csh"]);
}
