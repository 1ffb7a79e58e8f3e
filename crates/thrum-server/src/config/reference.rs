//! The reference page: what may stand where, from the same tables that configurations are checked against.

use std::fmt::Write;

use super::schema::{Arity, Kind, Setting, Tables, Verb};

const HEAD: &str = "\
# The configuration

This page is made by `thrum reference` from the tables that configurations are checked against.

A configuration is a file of statements. A statement is a line: a word, its values, and perhaps a block of further
statements between `{` and `}`.

```thrum
workers 4                                    # a setting, outside of all sites

example.com, www.example.com {               # a site: its names, and what holds for it
    timeout 10s                              # a setting for all of its routes
    /api/ >> 127.0.0.1:3000 { timeout 1m }   # a route: a path, what is done, to what, and settings of its own
    /     -> /srv/www
}
```

- A statement ends with its line, or with `;`. A `\\` at the end of a line joins the next one to it.
- `#` at the start of a word begins a comment, up to the end of the line.
- A value with spaces, `;`, or a `{` at its start is written in quotes: `\"two words\"`. In quotes, `\\\"` is a quote, `\\\\` a
  backslash, `\\n`, `\\r` and `\\t` are control characters. A string ends on its line. Braces inside of a word are part of it as
  long as they are balanced: `/users/{id}`.
- `$NAME` and `${NAME}` in a value, or in the name of a site, stand for a variable of the environment, which has to be
  set; `${NAME:-default}` says what holds when it is not set or empty. `$$` is a dollar.
- `include FILE` stands for what is in another file, `include sites/*.conf` for several, in the order of their names. It may
  stand wherever a statement may. Files and folders with relative paths are looked up from the folder of the file that
  names them.
- A setting is written once in a block, unless it says that it repeats. What a route does not set holds as its site sets
  it, else by default.
- Routes are tried in the order they are written; the first that matches answers. A path matches whole segments: `/api/` is
  for all that is beneath it, `{name}` stands for one segment, `{*rest}` for all that is left.

`thrum check FILE` finds every mistake, `thrum fmt FILE` lays a file out, `thrum config FILE` prints what holds in the end and
where it comes from.
";

/// The reference page, as Markdown.
pub fn reference(tables: &Tables) -> String {
    let mut page = Page {
        text: HEAD.to_owned(),
    };
    page.values(tables);
    page.section("Outside of all sites", tables.global);
    page.section("In a site", tables.site);
    page.section("In a site, and in the block of any route", tables.route);
    page.heading(2, "What a route does");
    for verb in tables.verbs {
        page.verb(verb);
    }
    page.text
}

struct Page {
    text: String,
}

impl Page {
    /// The kinds of values that are used, each once.
    fn values(&mut self, tables: &Tables) {
        let mut named: Vec<(&str, String)> = Vec::new();
        let mut note = |kind: Kind| {
            if let Some(name) = placeholder(kind)
                && !named.iter().any(|(known, _)| *known == name)
            {
                named.push((name, kind.expected()));
            }
        };
        fn of_settings(settings: &[Setting], note: &mut dyn FnMut(Kind)) {
            for setting in settings {
                setting.values.iter().for_each(|&kind| note(kind));
                of_settings(setting.block, note);
            }
        }
        let blocks = [tables.global, tables.site, tables.route].concat();
        blocks
            .iter()
            .for_each(|settings| of_settings(settings, &mut note));
        for verb in tables.verbs {
            verb.values.iter().for_each(|&kind| note(kind));
            of_settings(verb.settings, &mut note);
        }
        if named.is_empty() {
            return;
        }
        self.heading(2, "Values");
        self.text.push_str("\n| value | what it is |\n|---|---|\n");
        for (name, what) in named {
            let name = name.replace('|', "\\|");
            self.add(format_args!("| `{name}` | {what} |\n"));
        }
    }

    fn section(&mut self, title: &str, tables: &[&[Setting]]) {
        let mut settings = tables.iter().copied().flatten().peekable();
        if settings.peek().is_some() {
            self.heading(2, title);
        }
        settings.for_each(|setting| self.setting(setting, 3));
    }

    fn setting(&mut self, setting: &Setting, level: usize) {
        self.heading(level, &format!("`{}`", setting.name));
        let mut usage = usage(setting.name, setting.values, setting.arity);
        if !setting.block.is_empty() {
            usage.push_str(" { … }");
        }
        let default = match setting.default {
            "" => String::new(),
            default => format!("Default: `{default}`. "),
        };
        let repeats = if setting.repeats {
            "It may be written more than once. "
        } else {
            ""
        };
        self.text_and_example(
            &usage,
            setting.help,
            &format!("{default}{repeats}"),
            setting.example,
        );
        for inner in setting.block {
            // Headings end at six.
            self.setting(inner, (level + 1).min(6));
        }
    }

    fn verb(&mut self, verb: &Verb) {
        let title = match verb.word == verb.name {
            true => format!("`{}`", verb.word),
            false => format!("`{}` {}", verb.word, verb.name),
        };
        self.heading(3, &title);
        let usage = usage(&format!("/PATH {}", verb.word), verb.values, verb.arity);
        self.text_and_example(&usage, verb.help, "", verb.example);
        for setting in verb.settings {
            self.setting(setting, 4);
        }
    }

    fn text_and_example(&mut self, usage: &str, help: &str, more: &str, example: &str) {
        let more = more.trim_end();
        let gap = if more.is_empty() { "" } else { " " };
        self.add(format_args!(
            "\n`{usage}`\n\n{help}{gap}{more}\n\n```thrum\n{example}\n```\n"
        ));
    }

    fn heading(&mut self, level: usize, title: &str) {
        self.add(format_args!("\n{} {title}\n", "#".repeat(level)));
    }

    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }
}

/// `log PATH [common|combined|json]`
fn usage(head: &str, kinds: &[Kind], arity: Arity) -> String {
    let mut usage = head.to_owned();
    for (n, &kind) in kinds.iter().enumerate() {
        let value = match (placeholder(kind), kind) {
            (Some(name), _) => name.to_owned(),
            (None, Kind::Text(name)) => name.to_owned(),
            (None, Kind::Switch) => "on|off".to_owned(),
            (None, Kind::Choice(words)) => words.join("|"),
            (None, Kind::Count(least, u64::MAX)) => format!("{least}…"),
            (None, Kind::Count(least, most)) => format!("{least}…{most}"),
            (None, _) => "VALUE".to_owned(),
        };
        let is_last = n + 1 == kinds.len();
        usage.push_str(&match arity {
            Arity::OptionalLast if is_last => format!(" [{value}]"),
            Arity::Many if is_last => format!(" {value}…"),
            Arity::Any if is_last => format!(" [{value}…]"),
            _ => format!(" {value}"),
        });
    }
    usage
}

/// What stands for a value of the kind, if there is a line on it under "Values".
fn placeholder(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Text(_) | Kind::Switch | Kind::Choice(_) | Kind::Count(..) => None,
        Kind::Size => Some("SIZE"),
        Kind::SizeOrOff => Some("SIZE|off"),
        Kind::Duration => Some("TIME"),
        Kind::DurationOrOff => Some("TIME|off"),
        Kind::Rate => Some("RATE"),
        Kind::File => Some("FILE"),
        Kind::Folder => Some("FOLDER"),
        Kind::Path => Some("PATH"),
        Kind::Address => Some("ADDRESS"),
        Kind::Url => Some("URL"),
        Kind::Network => Some("NETWORK"),
        Kind::Header => Some("HEADER"),
        Kind::Status => Some("STATUS"),
    }
}
