//! Configurations as files, and next to each what comes of it. `THRUM_BLESS=1 cargo test` writes the results anew: look at
//! the difference before it is committed.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use thrum_server::config::{self, Arity, Config, Kind, Setting, Tables, Verb};

/// What the files may say. Small, so that they change only when the language does.
static TABLES: Tables = Tables {
    global: &[&[
        Setting {
            default: "2",
            ..Setting::new("workers", &[Kind::Count(1, 64)], "How many.", "workers 4")
        },
        Setting::new("user", &[Kind::Text("NAME")], "Who.", "user www"),
        Setting {
            values: &[],
            block: &[
                Setting {
                    default: "16KiB",
                    ..Setting::new("head", &[Kind::Size], "How large.", "head 16KiB")
                },
                Setting {
                    default: "60s",
                    ..Setting::new("idle", &[Kind::DurationOrOff], "How long.", "idle 60s")
                },
            ],
            ..Setting::new("limits", &[], "Limits.", "limits { head 16KiB }")
        },
    ]],
    site: &[&[
        Setting {
            arity: Arity::OptionalLast,
            ..Setting::new(
                "log",
                &[Kind::Path, Kind::Choice(&["common", "combined", "json"])],
                "The log.",
                "log access.log json",
            )
        },
        Setting::new("certificate", &[Kind::File], "TLS.", "certificate cert.pem"),
    ]],
    route: &[&[
        Setting {
            default: "10s",
            ..Setting::new("timeout", &[Kind::Duration], "How long.", "timeout 10s")
        },
        Setting {
            repeats: true,
            arity: Arity::Many,
            ..Setting::new("allow", &[Kind::Network], "Who may.", "allow 10.0.0.0/8")
        },
        Setting::new("rate", &[Kind::Rate], "How often.", "rate 10/s"),
        Setting {
            repeats: true,
            ..Setting::new(
                "header",
                &[Kind::Header, Kind::Text("VALUE")],
                "A header field.",
                "header X-Frame-Options DENY",
            )
        },
    ]],
    verbs: &[
        &Verb {
            word: "->",
            name: "files",
            values: &[Kind::Path],
            arity: Arity::Exact,
            settings: &[
                Setting {
                    default: "off",
                    ..Setting::new("listing", &[Kind::Switch], "A list.", "listing on")
                },
                Setting {
                    default: "index.html",
                    arity: Arity::Many,
                    ..Setting::new("index", &[Kind::Text("NAME")], "Indexes.", "index a.html")
                },
            ],
            help: "Files.",
            example: "/ -> /srv/www",
        },
        &Verb {
            word: "=>",
            name: "cgi",
            values: &[Kind::Path],
            arity: Arity::Exact,
            settings: &[],
            help: "Programs.",
            example: "/cgi-bin/ => /srv/cgi",
        },
        &Verb {
            word: ">>",
            name: "proxy",
            values: &[Kind::Address],
            arity: Arity::Many,
            settings: &[Setting::new(
                "limit",
                &[Kind::Count(1, 1000)],
                "How many.",
                "limit 200",
            )],
            help: "Another server.",
            example: "/ >> 127.0.0.1:3000",
        },
        &Verb {
            word: "<<",
            name: "redirect",
            values: &[Kind::Url, Kind::Status],
            arity: Arity::OptionalLast,
            settings: &[],
            help: "Elsewhere.",
            example: "/old/ << https://example.com/new/ 301",
        },
    ],
};

#[test]
fn mistakes() {
    each("mistakes", |name, text| {
        let report = Config::parse(text, &TABLES).expect_err(&format!("{name} has mistakes"));
        // The same, for machines: checked here, so that the file stays readable.
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(json.as_array().unwrap().len(), report.problems().len());
        for (problem, line) in json
            .as_array()
            .unwrap()
            .iter()
            .zip(report.to_string().lines())
        {
            let place = format!("thrum.conf:{}:{}: ", problem["line"], problem["column"]);
            assert!(line.starts_with(&place), "{line} is not at {place}");
        }
        assert!(report.render(true).contains("\u{1b}["));
        report.render(false)
    });
}

#[test]
fn layout() {
    each("layout", |_, text| {
        let once = config::format(Path::new("thrum.conf"), text).unwrap();
        let twice = config::format(Path::new("thrum.conf"), &once).unwrap();
        assert_eq!(once, twice);
        once
    });
}

#[test]
fn effective() {
    each("effective", |_, text| {
        let config = Config::parse(text, &TABLES).unwrap_or_else(|report| panic!("{report}"));
        let effective = config.effective();
        let text = effective.to_string();
        // It is a configuration that says the same.
        let again =
            Config::parse(&text, &TABLES).unwrap_or_else(|report| panic!("{report}\n{text}"));
        let values = |text: &str| {
            let lines = text
                .lines()
                .map(|line| line.split(" #").next().unwrap_or("").trim_end());
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(values(&again.effective().to_string()), values(&text));
        text + "\n" + &effective.to_json()
    });
}

/// Holds what comes of each file against what is next to it.
fn each(folder: &str, result: impl Fn(&str, &str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(folder);
    let entries = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|e| e == "conf"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let bless = std::env::var_os("THRUM_BLESS").is_some();
    let mut wrong = String::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let found = result(&name, &fs::read_to_string(&file).unwrap());
        let golden = file.with_extension("out");
        if bless {
            fs::write(&golden, &found).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if found != expected {
            writeln!(wrong, "{name}: expected\n{expected}\nbut it is\n{found}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn reference() {
    let page = config::reference(&TABLES);
    for part in [
        "### `limits`\n\n`limits { … }`",
        "#### `head`\n\n`head SIZE`\n\nHow large. Default: `16KiB`.",
        "`log PATH [common|combined|json]`",
        "`allow NETWORK…`\n\nWho may. It may be written more than once.",
        "### `>>` proxy\n\n`/PATH >> ADDRESS…`",
        "| `TIME` | a time: 250ms, 10s, 5m, 1h or 7d |",
    ] {
        assert!(page.contains(part), "{part} is missing in\n{page}");
    }
}
