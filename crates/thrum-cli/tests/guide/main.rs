//! The guide (`guide/`): its commands do what it says they do, its configurations are right, its links lead somewhere. Its
//! programs are tests of the `thrum` crate.

mod page;
mod shell;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use page::{Block, Page};
use shell::Shell;

/// Programs that a machine may lack: pages that use them are skipped then.
const OPTIONAL: &[&str] = &["curl", "redis-server", "redis-cli"];

/// This page is made by `thrum reference`, of parts that are tested where they are written.
const MADE: &str = "configuration.md";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guide/src")
}

/// All pages, by their paths in the guide.
fn pages() -> Vec<Page> {
    fn find(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                find(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    find(&folder(), &mut found);
    found.sort();
    let name = |path: &PathBuf| path.strip_prefix(folder()).unwrap().to_owned();
    found
        .iter()
        .map(|path| Page::new(name(path), fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn commands_and_configurations_do_what_the_guide_says() {
    let mut wrong = Vec::new();
    thread::scope(|scope| {
        let pages = pages();
        let pages = pages
            .into_iter()
            .filter(|page| page.name != Path::new(MADE));
        let running: Vec<_> = pages
            .map(|page| scope.spawn(move || follow(&page)))
            .collect();
        for page in running {
            wrong.extend(
                page.join()
                    .unwrap_or_else(|_| Err("a page panicked".to_owned()))
                    .err(),
            );
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Does what a page says, from its first block to its last.
fn follow(page: &Page) -> Result<(), String> {
    let blocks: Vec<Block> = page.blocks().collect();
    let commands = blocks.iter().filter(|block| block.is_run());
    let used = |program: &&&str| commands.clone().any(|block| block.text.contains(**program));
    if let Some(missing) = OPTIONAL
        .iter()
        .filter(used)
        .find(|program| !is_installed(program))
    {
        skipped(&format!("the guide's {}", page.name.display()), missing);
        return Ok(());
    }
    let mut shell = Shell::new();
    for block in blocks.iter().filter(|block| !block.is("ignore")) {
        let done = match (&*block.language, block.file()) {
            ("console", _) => shell.run(block),
            ("thrum", file) => shell.check(file, &block.text),
            (_, Some(file)) => {
                shell.write(file, &block.text);
                Ok(())
            }
            _ => Ok(()),
        };
        let (name, line) = (page.name.display(), block.line);
        done.map_err(|error| format!("{name}, the block of line {line}: {error}"))?;
    }
    Ok(())
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Notes what could not be tested.
fn skipped(what: &str, program: &str) {
    eprintln!("skipped: {what} ({program} is not installed)");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = fs::OpenOptions::new().append(true).open(list).unwrap();
        std::io::Write::write_all(
            &mut list,
            format!("{what} ({program} is not installed)\n").as_bytes(),
        )
        .unwrap();
    }
}

#[test]
fn the_summary_has_every_page_once() {
    let pages = pages();
    let summary = Path::new("SUMMARY.md");
    let names: BTreeSet<_> = pages.iter().map(|page| page.name.clone()).collect();
    let contents = pages.iter().find(|page| page.name == summary).unwrap();
    let mut listed: Vec<PathBuf> = contents.links().map(|(_, to)| to.into()).collect();
    listed.push(summary.to_owned());
    let distinct: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), distinct.len(), "a page is listed twice");
    assert_eq!(distinct, names);
}

#[test]
fn links_between_pages_lead_somewhere() {
    let pages = pages();
    let mut wrong = Vec::new();
    for page in &pages {
        for (line, link) in page.links() {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => Some(page),
                path => pages.iter().find(|other| other.name == page.beside(path)),
            };
            let leads = target.is_some_and(|to| anchor.is_empty() || to.anchors().contains(anchor));
            if !leads {
                wrong.push(format!("{}:{line}: {link}", page.name.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "these lead nowhere:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_program_is_a_test_of_the_library() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../thrum/src/guide.rs");
    let library = fs::read_to_string(library).unwrap();
    for page in pages() {
        let name = page.name.display().to_string();
        let has_programs = page.blocks().any(|block| block.language == "rust");
        let included = library.contains(&format!("guide/src/{name}\""));
        assert_eq!(
            has_programs, included,
            "{name} in crates/thrum/src/guide.rs"
        );
    }
}
