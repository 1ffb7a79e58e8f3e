//! `thrum check`, `fmt`, `config`, `init`, `import` and `reference`: the real program, and files.
//!
//! `THRUM_BLESS=1 cargo test` writes the golden files and the reference page anew: look at the difference before it is
//! committed.

mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use support::{Running, run, thrum};
use tempfile::TempDir;

/// A folder with a configuration.
fn with(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("thrum.conf");
    fs::write(&file, text).unwrap();
    (folder, file)
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// Compares with a file of the repository.
#[track_caller]
fn is_golden(file: &Path, found: &str) {
    if std::env::var_os("THRUM_BLESS").is_some() {
        fs::write(file, found).unwrap();
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    let name = file.display();
    assert!(
        expected == found,
        "{name} is not as it should be (THRUM_BLESS=1 writes it):\n{found}"
    );
}

#[test]
fn check_says_that_nothing_is_wrong() {
    let (_folder, file) = with(":8080 { }\nexample.com { listen :8443 }\n");
    let said = run(&["check", path(&file)]);
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    assert!(
        said.stdout.ends_with("2 sites, 0 routes, no mistakes\n"),
        "{}",
        said.stdout
    );
    assert_eq!(
        run(&["check", path(&file), "--format", "json"]).stdout,
        "[]\n"
    );
}

#[test]
fn check_says_what_is_wrong_and_where() {
    let (_folder, file) = with(":8080 {\n    lissten :1\n}\n:8080 { listen nowhere }\n");
    let said = run(&["check", path(&file)]);
    said.expect(
        1,
        &[
            "thrum.conf:2:5",
            "`lissten` is not a setting of a site",
            "did you mean `listen`?",
            "thrum.conf:4:16",
            "2 mistakes",
        ],
    );
    assert!(!said.stderr.contains('\u{1b}'), "{}", said.stderr);

    let said = run(&["check", path(&file), "--format", "json"]);
    assert_eq!(said.code(), Some(1));
    assert_eq!(said.stderr, "");
    for part in [
        "\"line\": 2",
        "\"column\": 5",
        "\"end_column\": 12",
        "\"text\": \"nowhere\"",
    ] {
        assert!(said.stdout.contains(part), "{}", said.stdout);
    }
}

#[test]
fn check_builds_the_sites() {
    let (_folder, file) = with("example.com { }\nexample.com { }\n");
    run(&["check", path(&file)]).expect(1, &["thrum.conf:2:1", "two sites answer for example.com"]);
    let none = file.with_file_name("none.conf");
    run(&["check", path(&none)]).expect(1, &["none.conf does not exist"]);
    run(&["check", "--format", "xml"]).expect(2, &["xml"]);
}

#[test]
fn check_finds_what_is_missing_beside_what_is_misspelt() {
    let (_folder, file) = with(
        ":8080 {\n    /a/ -> nowhere\n    /b/ respont 200\n}\n\
         :8443 {\n    tls no.pem no.key\n    / respond 200 hello\n}\n\
         :8081 {\n    lissten :1\n    / -> nowhere-else\n}\n",
    );
    let said = run(&["check", path(&file)]);
    said.expect(
        1,
        &[
            "thrum.conf:2:",
            "nowhere",
            "thrum.conf:3:",
            "did you mean `respond`?",
            "thrum.conf:6:",
            "no.pem",
            "thrum.conf:10:",
            "4 mistakes",
        ],
    );
}

#[test]
fn config_shows_what_holds() {
    let (_folder, file) = with("${SITE:-example.com} {\n    listen :8443\n}\n");
    let said = run(&["config", path(&file)]);
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    let lines: Vec<_> = said.stdout.lines().map(str::trim).collect();
    let has = |begin: &str, end: &str| {
        lines
            .iter()
            .any(|line| line.starts_with(begin) && line.ends_with(end))
    };
    assert!(
        has("example.com {", "thrum.conf:1, environment: SITE"),
        "{lines:?}"
    );
    assert!(has("listen :8443", "thrum.conf:2"), "{lines:?}");
    assert!(has("redirect-http on", "# default"), "{lines:?}");
    let json = run(&["config", path(&file), "--format", "json"]).stdout;
    assert!(
        json.contains("\"redirect-http\"") && json.contains("\"default\""),
        "{json}"
    );
    fs::write(&file, "{").unwrap();
    run(&["config", path(&file)]).expect(1, &["thrum.conf:1:1"]);
}

#[test]
fn fmt_lays_files_out() {
    let (_folder, file) = with(":8080 {\nlisten :1 # why\n}");
    let laid_out = ":8080 {\n    listen :1 # why\n}\n";
    let said = run(&["fmt", "--check", path(&file)]);
    assert_eq!(
        (said.code(), said.stdout),
        (Some(1), format!("{}\n", path(&file)))
    );
    assert_eq!(run(&["fmt", path(&file)]).code(), Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), laid_out);
    let said = run(&["fmt", "--check", path(&file)]);
    assert_eq!((said.code(), said.stdout.as_str()), (Some(0), ""));

    fs::write(&file, ":8080 {").unwrap();
    run(&["fmt", path(&file)]).expect(1, &["this block is not closed"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), ":8080 {");
    run(&["fmt", "no/such/file"]).expect(1, &["no/such/file cannot be read"]);
}

#[test]
fn fmt_reads_standard_input() {
    let mut child = thrum(&["fmt", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a   { b }").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"a { b }\n");
}

#[test]
fn init_writes_what_can_be_checked() {
    for kind in ["folder", "spa", "proxy", "cgi"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("thrum.conf");
        let said = run(&["init", kind, path(&file)]);
        said.expect(0, &["made ", "thrum.conf"]);
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text, run(&["init", kind, "-"]).stdout);
        let said = run(&["check", path(&file)]);
        assert_eq!(said.code(), Some(0), "{kind}: {}", said.stderr);
        assert_eq!(
            run(&["fmt", "--check", path(&file)]).code(),
            Some(0),
            "{kind}"
        );
        // Nothing is written over.
        run(&["init", kind, path(&file)]).expect(1, &["is there already"]);
    }
}

#[test]
fn mighttpd_is_imported() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/mighttpd");
    for name in ["usual", "small", "secure"] {
        let (conf, route) = (format!("{name}.conf"), format!("{name}.route"));
        let mut import = thrum(&["import", "mighttpd", &conf, &route]);
        import.current_dir(&folder);
        let said = Running::new(import).ended();
        assert_eq!(said.code(), Some(0), "{}", said.stderr);
        is_golden(&folder.join(format!("{name}.out")), &said.stdout);
    }
    run(&["import", "mighttpd", "none.conf", "none.route"])
        .expect(1, &["none.conf cannot be read"]);
}

#[test]
fn the_reference_page_is_current() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guide/src/configuration.md");
    is_golden(&page, &run(&["reference"]).stdout);
}
