//! Whole configurations, against small tables.

use std::time::Duration;

use super::*;

static TABLES: Tables = Tables {
    global: &[&[
        Setting {
            default: "2",
            ..Setting::new("workers", &[Kind::Count(1, 64)], "How many.", "workers 4")
        },
        Setting {
            block: &[
                Setting {
                    default: "16KiB",
                    ..Setting::new("head", &[Kind::Size], "How large.", "head 16KiB")
                },
                Setting::new("idle", &[Kind::DurationOrOff], "How long.", "idle 60s"),
            ],
            values: &[],
            ..Setting::new("limits", &[], "Limits.", "limits { head 16KiB }")
        },
    ]],
    site: &[&[Setting {
        arity: Arity::OptionalLast,
        ..Setting::new(
            "log",
            &[Kind::Path, Kind::Choice(&["combined", "json"])],
            "The log.",
            "log access.log json",
        )
    }]],
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
        Setting {
            default: "off",
            ..Setting::new("listing", &[Kind::Switch], "A list.", "listing on")
        },
    ]],
    verbs: &[
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
            help: "Asks others.",
            example: "/ >> :3000",
        },
        &Verb {
            word: "respond",
            name: "respond",
            values: &[Kind::Status, Kind::Text("TEXT")],
            arity: Arity::OptionalLast,
            settings: &[],
            help: "Says a text.",
            example: "/ respond 200 hello",
        },
    ],
};

fn environment(name: &str) -> Option<String> {
    (name == "HOST").then(|| "example.org".to_owned())
}

fn good(text: &str) -> Config {
    Config::parse_with(text, &TABLES, &environment).unwrap_or_else(|report| panic!("{report}"))
}

/// What is said, without the file's name.
fn bad(text: &str) -> Vec<String> {
    let report = Config::parse_with(text, &TABLES, &environment).unwrap_err();
    let report = report.to_string().replace("thrum.conf:", "");
    report.lines().map(str::to_owned).collect()
}

#[test]
fn a_configuration() {
    let config = good(
        "workers 3 # a comment\nlimits { idle off }\n\
         example.com, www.example.com,$HOST {\n  log access.log\n  timeout 5s; allow 10.0.0.0/8 ::1\n\
         allow 192.0.2.7\n\
         /users/{id} >> 127.0.0.1:3000 unix:/run/app \\\n :3001 { timeout 1m; limit 200}\n\
         /$HOME respond 200 \"it costs $$5; { }\"\n}\n:8080 { }",
    );
    assert_eq!(config.global.count("workers"), 3);
    let limits = config.global.written("limits").unwrap().block().unwrap();
    assert_eq!(limits.size("head"), 16 << 10);
    assert_eq!(limits.duration_or_off("idle"), None);

    let [site, other] = &config.sites[..] else {
        panic!()
    };
    let names = |site: &SiteConfig| {
        site.names
            .iter()
            .map(|name| name.text().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(site),
        ["example.com", "www.example.com", "example.org"]
    );
    assert_eq!(names(other), [":8080"]);
    assert_eq!(site.settings.text("log"), Some("access.log"));
    assert_eq!(site.settings.duration("timeout"), Duration::from_secs(5));
    assert_eq!(site.settings.networks("allow").len(), 3);

    let [proxy, respond] = &site.routes[..] else {
        panic!()
    };
    assert_eq!(
        (proxy.path.text(), proxy.verb.name),
        ("/users/{id}", "proxy")
    );
    assert_eq!(proxy.values.len(), 3);
    assert_eq!(proxy.settings.count("limit"), 200);
    assert_eq!(proxy.settings.duration("timeout"), Duration::from_secs(60));
    assert_eq!(respond.path.text(), "/$HOME");
    assert_eq!(respond.values[1].text(), "it costs $5; { }");
    assert_eq!(
        respond.settings.duration("timeout"),
        Duration::from_secs(10)
    );
    assert_eq!(
        config.sources.place(respond.span).to_string(),
        "thrum.conf:9:1"
    );
}

#[test]
fn all_mistakes_at_once() {
    let said = bad(
        "wokers 3\nexample.com {\n  timeout 10\n  / >>\n  /a => x\n  listing true\n  limit 3\n",
    );
    assert_eq!(
        said,
        [
            "1:1: `wokers` is not a setting outside of sites (did you mean `workers`?)",
            "2:13: this block is not closed",
            "3:11: `10` is not a time (a time has a unit: 10s is 10 seconds)",
            "4:5: `>>` takes one value or more (for example: / >> :3000)",
            "5:6: a route cannot `=>` (did you mean `>>`?)",
            "6:11: `true` is not `on` or `off` (write `on`)",
            "7:3: `limit` is not a setting of a site (it belongs into the block of a route with `>>`: / >> :3000 { limit … })",
        ]
    );
}

#[test]
fn where_things_belong() {
    let said = bad(
        "timeout 10s\n/ respond 200\nworkers 1; workers 2\nexample.com { workers 3; api respond 200 }",
    );
    assert!(said[0].contains("belongs into a site"), "{said:?}");
    assert!(said[1].contains("outside of all sites"), "{said:?}");
    assert!(said[2].contains("already set in line 3"), "{said:?}");
    assert!(said[3].contains("stands outside of all sites"), "{said:?}");
    assert!(said[4].contains("begins with a slash: /api"), "{said:?}");
    assert_eq!(said.len(), 5);
}

#[test]
fn what_is_no_word_is_one_mistake_only() {
    assert_eq!(
        bad("a.b { / respond \"200\n / respond 200 \"a\\qb\" }"),
        [
            "1:17: this string is not closed (a string ends on its line; a line break in it is written \\n)",
            "2:18: there is no such escape (a backslash itself is written \\\\)"
        ]
    );
    assert_eq!(bad("workers 1\n}"), ["2:1: this `}` closes nothing"]);
    assert!(bad("{ }")[0].contains("nothing stands before"));
    assert!(bad("workers \"1\"2")[0].contains("a quote begins or ends a word"));
    assert!(bad("limits { } workers 2")[0].contains("a block ends its statement"));
    assert!(bad("workers 1\0")[0].contains("\\u{0}"));
}

#[test]
fn nesting_has_a_limit() {
    let said = bad(&"a {".repeat(100_000));
    assert!(
        said.iter().any(|line| line.contains("more than 16 blocks")),
        "{said:?}"
    );
    assert!(said.len() < 20, "{said:?}");
}

#[test]
fn unset_variables_are_mistakes() {
    assert_eq!(
        bad("workers $NONE"),
        [
            "1:9: the environment's variable NONE is not set (set it, or write what else holds: ${NONE:-default}; $$ is a dollar)"
        ]
    );
    assert_eq!(good("workers ${NONE:-7}").global.count("workers"), 7);
}

#[test]
fn files_are_included() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    let main = write("main.conf", "include sites/*.conf\ninclude none/*.conf");
    write("sites/b.conf", "b.com { include ../common }");
    write("sites/a.conf", "a.com { include \"../common\" }");
    write("common", "log here.log; / respond 200");
    let config = Config::read(&main, &TABLES).unwrap();
    let names: Vec<_> = config
        .sites
        .iter()
        .map(|site| site.names[0].text())
        .collect();
    assert_eq!(names, ["a.com", "b.com"]);
    assert_eq!(config.sites[1].routes.len(), 1);
    let log = config.sites[1].settings.path("log").unwrap();
    assert_eq!(log.file_name().unwrap(), "here.log");
    let beside = log.parent().unwrap().canonicalize().unwrap();
    assert_eq!(beside, folder.path().canonicalize().unwrap());
    assert_eq!(config.sources.iter().count(), 4);

    write("common", "log here.log; include main.conf\ninclude nothing");
    let said = Config::read(&main, &TABLES).unwrap_err().to_string();
    assert!(said.contains("main.conf includes itself"), "{said}");
    assert!(said.contains("nothing does not exist"), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");

    let missing = Config::read(&folder.path().join("no.conf"), &TABLES).unwrap_err();
    assert!(
        missing.to_string().ends_with("no.conf does not exist"),
        "{missing}"
    );
}

#[test]
fn includes_that_multiply_end() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..20 {
        let text = format!("include {}\n", n + 1).repeat(10);
        std::fs::write(folder.path().join(n.to_string()), text).unwrap();
    }
    std::fs::write(folder.path().join("20"), "").unwrap();
    let report = Config::read(&folder.path().join("0"), &TABLES).unwrap_err();
    let said = report.to_string();
    assert!(
        said.contains("more than 16 files") || said.contains("more than 1000"),
        "{said}"
    );
}

#[test]
fn files_and_folders_have_to_be_there() {
    static FILES: Tables = Tables {
        global: &[&[
            Setting::new("key", &[Kind::File], "A key.", "key a.pem"),
            Setting::new("root", &[Kind::Folder], "A folder.", "root www"),
        ]],
        site: &[],
        route: &[],
        verbs: &[],
    };
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.conf");
    std::fs::write(&main, "key main.conf; root .").unwrap();
    let config = Config::read(&main, &FILES).unwrap();
    assert_eq!(config.global.path("key"), Some(main.clone()));
    std::fs::write(&main, "key .; root main.conf\n").unwrap();
    let said = Config::read(&main, &FILES).unwrap_err().to_string();
    assert!(
        said.contains("is a folder") && said.contains("is not a folder"),
        "{said}"
    );
}
