//! `thrum import mighttpd`: the two files of Mighttpd 2 as one of ours.

use std::fmt::Write;
use std::path::Path;

use thrum_server::config::{format, word};

/// The domain that stands for all.
const ANY: &str = "*";

/// One of ours that does what these two do, with a comment for each thing that has no equal.
pub(super) fn import(conf: &Path, conf_text: &str, route: &Path, route_text: &str) -> String {
    let conf_text = &Conf::parse(conf_text);
    let mut text = format!(
        "# Made by `thrum import mighttpd {} {}`.\n\
         # Look at it, then at what `thrum check` says. Comments say what has no equal.\n\n",
        conf.display(),
        route.display(),
    );
    conf_text.global(&mut text);
    for block in blocks(route_text) {
        conf_text.sites(&block, &mut text);
    }
    // It is made of whole statements, so that it can be laid out.
    format(conf, &text).unwrap_or(text)
}

/// The configuration file.
struct Conf {
    /// As they are written, with the line each is in.
    keys: Vec<(String, String, usize)>,
    /// Lines that are no keys.
    strange: Vec<(String, usize)>,
}

/// Sites of the route file: `[domain domain]`, and what follows.
struct Block {
    domains: Vec<String>,
    lines: Vec<Line>,
}

/// A line of a block.
enum Line {
    Route {
        path: String,
        arrow: Arrow,
        target: String,
    },
    Strange(String, usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrow {
    Files,
    Cgi,
    Proxy,
    Redirect,
}

impl Conf {
    fn parse(text: &str) -> Self {
        let (mut keys, mut strange) = (Vec::new(), Vec::new());
        for (line, number) in lines(text) {
            match line.split_once(':') {
                Some((key, value)) if is_key(key.trim()) => {
                    keys.push((key.trim().to_owned(), value.trim().to_owned(), number));
                }
                _ => strange.push((line.to_owned(), number)),
            }
        }
        Self { keys, strange }
    }

    /// The value of a key. Mighttpd takes the first.
    fn key(&self, name: &str) -> Option<&str> {
        let mut keys = self.keys.iter();
        keys.find(|(key, ..)| key == name)
            .map(|(_, value, _)| value.as_str())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.key(name)?.parse().ok()
    }

    /// What stands outside of all sites: for every key a statement, a comment, or nothing where it goes into the sites.
    fn global(&self, text: &mut String) {
        for (key, value, line) in &self.keys {
            let has_number = value.parse::<u64>().is_ok();
            let note = match key.as_str() {
                "User" | "Group" | "Pid_File" => {
                    let name = key.to_lowercase().replace('_', "-");
                    add(text, format_args!("{name} {}", word(value)));
                    continue;
                }
                "Worker_Processes" | "Connection_Timeout" if !has_number => "this is not a number",
                "Worker_Processes" => {
                    add(text, format_args!("workers {}", value));
                    continue;
                }
                // One timer there is four here.
                "Connection_Timeout" => {
                    add(
                        text,
                        format_args!(
                            "timeouts {{ head {value}s; idle {value}s; body {value}s; write {value}s }}"
                        ),
                    );
                    continue;
                }
                // These go into the sites.
                "Port" | "Tls_Port" | "Service" | "Log_File_Size" | "Log_Backup_Number"
                | "Proxy_Timeout" | "Fd_Cache_Duration" | "Cache_Open_Files"
                    if !has_number =>
                {
                    "this is not a number, and was left out"
                }
                "Service" if self.number("Service") > Some(2) => {
                    "QUIC and HTTP/3 are not spoken; HTTP and HTTPS are"
                }
                "Host" | "Port" | "Tls_Port" | "Tls_Cert_File" | "Tls_Key_File" | "Service"
                | "Log_File" | "Log_File_Size" | "Log_Backup_Number" | "Index_File"
                | "Index_Cgi" | "Status_File_Dir" | "Proxy_Timeout" | "Fd_Cache_Duration"
                | "Routing_File" => continue,
                "Logging" => continue,
                "Tls_Chain_Files" => {
                    "the chain belongs behind the certificate, in one file: cat CERT CHAIN > fullchain.pem"
                }
                "Debug_Mode" => {
                    "the process always stays in the foreground, for systemd or a container to look after"
                }
                "Report_File" => "what it was for is on the admin page and among the metrics",
                "Server_Name" => {
                    "responses have the name thrum; `header Server NAME` in a site says something else"
                }
                "Log_Buffer_Size" | "Log_Flush_Period" => {
                    "the log is written in the background, a few times a second"
                }
                "Cache_Open_Files" => {
                    "how much is kept of a folder is said in its route: file-cache { open-files 1000 }"
                }
                "Quic_Addr" | "Quic_Port" | "Quic_Debug_Dir" | "Quic_Qlog_Dir" => {
                    "QUIC is not spoken"
                }
                _ => "no key of Mighttpd 2 that is known here",
            };
            add(text, format_args!("# line {line}, {key}: {value}: {note}"));
        }
        for (strange, line) in &self.strange {
            add(
                text,
                format_args!("# line {line} is not understood: {strange}"),
            );
        }
    }

    /// The sites of a block: one for HTTP, one for HTTPS, as Service says.
    fn sites(&self, block: &Block, text: &mut String) {
        let service = self.number("Service").unwrap_or(0);
        if service != 1 {
            self.site(block, false, text);
        }
        if service >= 1 {
            self.site(block, true, text);
        }
    }

    fn site(&self, block: &Block, secure: bool, text: &mut String) {
        let (scheme, usual, key, default) = match secure {
            true => ("https", 443, "Tls_Port", 443),
            false => ("http", 80, "Port", 8080),
        };
        let port = self.number(key).unwrap_or(default);
        // `*`, or a preference for a family of addresses: all of them.
        let bind = self
            .key("Host")
            .filter(|host| !host.starts_with(['*', '!']));
        // Mighttpd listens in one place for all names; here, localhost and addresses as names say where.
        let says_where =
            |domain: &String| domain == "localhost" || domain.parse::<std::net::IpAddr>().is_ok();
        let one_place = bind.is_some() || block.domains.iter().any(says_where);
        let suffix = match one_place || port == usual {
            true => String::new(),
            false => format!(":{port}"),
        };
        let any = block.domains.iter().any(|domain| domain == ANY);
        let names: Vec<_> = match any {
            // The others are among all.
            true if secure => vec![format!("https://*{suffix}")],
            true => vec![format!("*:{port}")],
            false => {
                let names = block
                    .domains
                    .iter()
                    .map(|domain| match domain.contains(':') {
                        true => format!("{scheme}://[{domain}]{suffix}"),
                        false => format!("{scheme}://{}{suffix}", word(domain)),
                    });
                names.collect()
            }
        };
        add(text, format_args!("\n{} {{", names.join(", ")));
        if one_place {
            match bind {
                Some(host) if host.contains(':') => {
                    add(text, format_args!("listen [{host}]:{port}"))
                }
                Some(host) => add(text, format_args!("listen {}:{port}", word(host))),
                None => add(text, format_args!("listen :{port}")),
            }
        }
        if secure {
            let certificate = self.key("Tls_Cert_File").unwrap_or("certificate.pem");
            let key = self.key("Tls_Key_File").unwrap_or("key.pem");
            add(
                text,
                format_args!("tls {} {}", word(certificate), word(key)),
            );
            if port == 443 {
                // Mighttpd leads nobody from one to the other.
                add(text, format_args!("redirect-http off"));
            }
        }
        if self.key("Logging") != Some("No") {
            self.log(text);
        }
        if let Some(folder) = self.key("Status_File_Dir") {
            add(text, format_args!("errors {}", word(folder)));
        }
        for line in &block.lines {
            self.route(line, text);
        }
        add(text, format_args!("}}"));
    }

    fn log(&self, text: &mut String) {
        let file = self.key("Log_File").unwrap_or("/var/log/mighty");
        let size = self.number("Log_File_Size").unwrap_or(16 << 20);
        // Here, a log is not put aside for less.
        let size = match size.max(64 << 10) {
            size if size % (1 << 20) == 0 => format!("{}MiB", size >> 20),
            size => size.to_string(),
        };
        let keep = self.number("Log_Backup_Number").unwrap_or(10);
        let file = word(file);
        add(
            text,
            format_args!("log {file} combined {{ rotate {size}; keep {keep} }}"),
        );
    }

    fn route(&self, line: &Line, text: &mut String) {
        let (path, arrow, target) = match line {
            Line::Route {
                path,
                arrow,
                target,
            } => (path, arrow, target),
            Line::Strange(line, number) => {
                add(
                    text,
                    format_args!("# line {number} of the routes is not understood: {line}"),
                );
                return;
            }
        };
        let mut block = Vec::new();
        let mut set = |name: &str, value: String| block.push(format!("{name} {value}"));
        let (arrow, target) = match arrow {
            Arrow::Files => {
                if let Some(index) = self.key("Index_File").filter(|&name| name != "index.html") {
                    set("index", word(index));
                }
                if let Some(seconds) = self.number("Fd_Cache_Duration") {
                    set("file-cache", format!("{{ recheck {seconds}s }}"));
                }
                ("->", target.clone())
            }
            Arrow::Cgi => {
                if let Some(index) = self.key("Index_Cgi").filter(|&name| name != "index.cgi") {
                    set("index", word(index));
                }
                ("=>", target.clone())
            }
            Arrow::Proxy => {
                if let Some(seconds) = self.number("Proxy_Timeout").filter(|&n| n > 0) {
                    set("timeout", format!("{seconds}s"));
                }
                (">>", upstream(target))
            }
            Arrow::Redirect => ("<<", location(target)),
        };
        let block = match block.is_empty() {
            true => String::new(),
            false => format!(" {{ {} }}", block.join("; ")),
        };
        // A dollar in a path is one, and in a value it is not.
        let path = word(path).replace("$$", "$");
        add(
            text,
            format_args!("{path} {arrow} {}{block}", word(&target)),
        );
    }
}

/// `[host][:port]/path` with both said.
fn upstream(target: &str) -> String {
    let slash = target.find('/').unwrap_or(target.len());
    let (authority, path) = target.split_at(slash);
    let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    format!("{host}:{port}{path}")
}

/// Mighttpd writes the place of a redirect without its scheme.
fn location(target: &str) -> String {
    match target.strip_prefix("//") {
        Some(rest) => format!("http://{rest}"),
        None => target.to_owned(),
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (line, number) in lines(text) {
        let domains = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'));
        if let Some(domains) = domains {
            let mut domains: Vec<_> = domains.split_whitespace().map(str::to_owned).collect();
            if domains.is_empty() {
                domains.push(ANY.to_owned());
            }
            blocks.push(Block {
                domains,
                lines: Vec::new(),
            });
            continue;
        }
        let found = route(line).unwrap_or_else(|| Line::Strange(line.to_owned(), number));
        match blocks.last_mut() {
            Some(block) => block.lines.push(found),
            // Before the first block: Mighttpd would refuse it, and any host is the nearest to what may be meant.
            None => blocks.push(Block {
                domains: vec![ANY.to_owned()],
                lines: vec![found],
            }),
        }
    }
    blocks
}

fn route(line: &str) -> Option<Line> {
    let mut words = line.split_whitespace();
    let path = words.next().filter(|path| path.starts_with('/'))?;
    let arrow = match words.next()? {
        "->" => Arrow::Files,
        "=>" => Arrow::Cgi,
        ">>" => Arrow::Proxy,
        "<<" => Arrow::Redirect,
        _ => return None,
    };
    let target = words.next()?;
    words.next().is_none().then(|| Line::Route {
        path: path.to_owned(),
        arrow,
        target: target.to_owned(),
    })
}

/// The lines that say something, without comments, and their numbers.
fn lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let lines = text.lines().enumerate();
    lines
        .map(|(number, line)| {
            (
                line.split('#').next().unwrap_or_default().trim(),
                number + 1,
            )
        })
        .filter(|(line, _)| !line.is_empty())
}

fn is_key(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_letter)
}

fn add(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}
