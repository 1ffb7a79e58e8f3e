//! Flags of other load generators, explained in thrum's.

use Ours::{Is, Made, None as Nothing};

/// One flag of another tool.
struct Flag {
    tool: &'static str,
    names: &'static [&'static str],
    ours: Ours,
    /// What else is to be known: a sentence, or nothing.
    note: &'static str,
}

/// What stands for a foreign flag.
enum Ours {
    /// Words of a command line; `{}` is the value, `{s}` the value in seconds.
    Is(&'static str),
    /// Words made of the value, and what they look like.
    Made(fn(&str) -> Option<String>, &'static str),
    /// Nothing does; the note says why.
    None,
}

const fn flag(
    tool: &'static str,
    names: &'static [&'static str],
    ours: Ours,
    note: &'static str,
) -> Flag {
    Flag {
        tool,
        names,
        ours,
        note,
    }
}

const URL: &str = "The URL says it, as the last word: http://HOST:PORT/PATH.";
const ALWAYS: &str = "Always on.";

#[rustfmt::skip]
static FLAGS: &[Flag] = &[
    // httperf 0.9: its long options may be cut short.
    flag("httperf", &["--server"], Nothing, URL),
    flag("httperf", &["--port"], Nothing, URL),
    flag("httperf", &["--uri"], Nothing, URL),
    flag("httperf", &["--ssl"], Nothing, "The URL says it: https://."),
    flag("httperf", &["--server-name"], Is("--header 'Host: {}'"), ""),
    flag("httperf", &["--num-conns"], Is("--requests {}"),
        "thrum counts requests, not connections: with --num-calls, multiply. Its --rate counts requests a second, too."),
    flag("httperf", &["--num-calls"], Is("--session {}"), "After so many requests there is a new connection."),
    flag("httperf", &["--burst-length"], Is("--burst {}"), ""),
    flag("httperf", &["--max-piped-calls"], Is("--in-flight {}"), ""),
    flag("httperf", &["--max-connections"], Is("--connections {}"), ""),
    flag("httperf", &["--period"], Made(period, "--rate R --arrivals constant|poisson"),
        "A rate is the reciprocal of a period, of requests here."),
    flag("httperf", &["--wsess"], Made(sessions, "--requests N1xN2 --session N2 --think X"), ""),
    flag("httperf", &["--wsesslog"], Made(session_log, "--urls FILE --think X"),
        "A line of the file is `[METHOD] PATH`, without think= and contents=."),
    flag("httperf", &["--wlog"], Made(url_log, "--urls FILE"),
        "The file has a URL a line, not a NUL after each: tr '\\0' '\\n' makes one of the other."),
    flag("httperf", &["--wset"], Made(file_set, "a URL with {random:0..N}"), ""),
    flag("httperf", &["--add-header"], Is("--header {}"), "One header field each, without \\n; repeat the flag."),
    flag("httperf", &["--session-cookie", "--session-cookies"], Is("--cookies"), ""),
    flag("httperf", &["--think-timeout"], Is("--timeout {s}"), "One time limit holds for all of a request."),
    flag("httperf", &["--failure-status"], Is("--expect-status"), "It takes what is right, not what is wrong."),
    flag("httperf", &["--myaddr"], Is("--from {}"), ""),
    flag("httperf", &["--hog"], Nothing, "All ports are used; --from adds local addresses when 28,000 do not suffice."),
    flag("httperf", &["--client"], Nothing, "Each machine counts for itself."),
    flag("httperf", &["--runtime"], Is("--duration {s}"), ""),
    flag("httperf", &["--periodic-stats"], Is("--csv FILE"), "The live view shows each second, too."),
    flag("httperf", &["--print-reply", "--print-request"], Nothing, "curl -v shows one exchange."),
    flag("httperf", &["--http-version"], Is("--http2"), "For 2; without it HTTP/1.1 is spoken."),
    flag("httperf", &["--retry-on-failure"], Nothing, "What fails is counted and not asked again."),

    // wrk 4 and wrk2.
    flag("wrk", &["--latency"], Nothing, ALWAYS),
    flag("wrk", &["-s", "--script"], Nothing,
        "There are no scripts: templates such as {n}, {random:1..100} and {uuid} in URL, headers and body, --urls and \
         --think do most of what they are for."),
    flag("wrk2", &["-R"], Is("--rate {}"), ""),
    flag("wrk2", &["-L"], Nothing, ALWAYS),
    flag("wrk2", &["-U", "--u_latency"], Nothing, "With --rate both are shown: `service` is the uncorrected one."),
    flag("wrk2", &["-B", "--batch_latency"], Is("--burst N"), ""),

    // ab.
    flag("ab", &["-k"], Nothing, "Connections are kept; --session 1 takes a new one for each request."),
    flag("ab", &["-s"], Is("--timeout {s}"), ""),
    flag("ab", &["-e", "-g"], Is("--csv {}"), ""),
    flag("ab", &["-i"], Is("--method HEAD"), ""),
    flag("ab", &["-C"], Is("--header 'Cookie: {}'"), ""),
    flag("ab", &["-A"], Is("--header 'Authorization: Basic ...'"), "In base64: printf '%s' USER:PASSWORD | base64."),
    flag("ab", &["-u"], Is("--method PUT --body-file {}"), ""),
    flag("ab", &["-m"], Is("--method {}"), ""),
    flag("ab", &["-l"], Nothing, "Answers may differ in length; --expect-body says otherwise."),

    // hey and oha.
    flag("hey and oha", &["-z"], Is("--duration {}"), ""),
    flag("hey and oha", &["-q"], Is("--rate {}"), "For all connections together, as oha has it; hey's is for each of them."),
    flag("hey and oha", &["-m"], Is("--method {}"), ""),
    flag("hey and oha", &["-D"], Is("--body-file {}"), ""),
    flag("hey and oha", &["-T"], Is("--header 'Content-Type: {}'"), ""),
    flag("hey and oha", &["-A"], Is("--header 'Accept: {}'"), ""),
    flag("hey and oha", &["-a"], Is("--header 'Authorization: Basic ...'"), "In base64: printf '%s' USER:PASSWORD | base64."),
    flag("hey and oha", &["-host", "--host"], Is("--header 'Host: {}'"), ""),
    flag("hey and oha", &["-disable-keepalive", "--disable-keepalive"], Is("--session 1"), ""),
    flag("hey and oha", &["-disable-compression", "--disable-compression"], Nothing, "None is asked for, unless by --header."),
    flag("hey and oha", &["-disable-redirects", "--redirect"], Nothing, "Redirects are not followed: they are answers."),
    flag("hey", &["-cpus"], Is("--threads {}"), ""),
    flag("hey", &["-h2"], Is("--http2"), ""),
    flag("hey", &["-o"], Is("--csv FILE"), ""),
    flag("oha", &["--no-tui"], Is("--quiet"), ""),
    flag("oha", &["-o", "--output"], Is("--json {}"), ""),
    flag("oha", &["-j", "--output-format"], Is("--json FILE"), ""),
    flag("oha", &["--burst-rate"], Is("--burst {}"), ""),
    flag("oha", &["--burst-delay"], Is("--think {}"), ""),
    flag("oha", &["--latency-correction"], Nothing, "Always on with --rate."),
    flag("oha", &["--unix-socket"], Is("--unix {}"), ""),
    flag("oha", &["--urls-from-file"], Is("--urls {}"), ""),
    flag("oha", &["--rand-regex-url"], Nothing, "A URL may have templates: {n}, {random:1..100}, {uuid}."),
];

/// Explains a flag that thrum does not have, in thrum's flags, if it is one of httperf, wrk, wrk2, ab, hey or oha. The
/// flag is as it was written, `--num-conns`, `--num-conns=100` or `-k`; `value` is the word after it, if there is one.
///
/// Where tools differ on a flag there is a line for each of them.
///
/// ```
/// let told = thrum_load::foreign::explain("--wsess", Some("10,5,2")).unwrap();
/// assert_eq!(told, "httperf's `--wsess 10,5,2` is `--requests 50 --session 5 --think 2s`.");
/// ```
pub fn explain(flag: &str, value: Option<&str>) -> Option<String> {
    let (name, value) = match flag.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (flag, value),
    };
    let mut found: Vec<_> = with_name(name).collect();
    if found.is_empty() {
        found = cut_short(name);
    }
    let lines: Vec<_> = found.iter().map(|flag| line(flag, name, value)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn with_name(name: &str) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(move |flag| flag.names.contains(&name))
}

/// The one flag of httperf that begins so.
fn cut_short(name: &str) -> Vec<&'static Flag> {
    let begins = |flag: &&Flag| flag.names.iter().any(|whole| whole.starts_with(name));
    let found: Vec<_> = FLAGS
        .iter()
        .filter(|flag| flag.tool == "httperf" && name.len() > "--x".len())
        .filter(begins)
        .collect();
    if found.len() == 1 { found } else { Vec::new() }
}

fn line(flag: &Flag, name: &str, value: Option<&str>) -> String {
    let (tool, note) = (possessive(flag.tool), flag.note);
    let ours = match &flag.ours {
        Is(words) => words
            .replace("{s}", &value.map_or("TIME".to_owned(), seconds))
            .replace("{}", &filled(words, value)),
        Made(make, shape) => value.and_then(make).unwrap_or_else(|| (*shape).to_owned()),
        Nothing => {
            return format!(
                "{tool} `{name}`: {}{}",
                note[..1].to_lowercase(),
                &note[1..]
            );
        }
    };
    // Only what went into ours is the flag's: the next word may be something else.
    let theirs = match value {
        Some(value) if takes_value(&flag.ours) => format!("{name} {}", quoted(value)),
        _ => name.to_owned(),
    };
    let told = format!("{tool} `{theirs}` is `{ours}`.");
    if note.is_empty() {
        told
    } else {
        format!("{told} {note}")
    }
}

fn takes_value(ours: &Ours) -> bool {
    match ours {
        Is(words) => words.contains("{}") || words.contains("{s}"),
        Made(..) => true,
        Nothing => false,
    }
}

fn possessive(tool: &str) -> String {
    format!("{tool}'s")
}

/// What stands for `{}`: within quotes already where the words have them.
fn filled(words: &str, value: Option<&str>) -> String {
    match value {
        Some(value) if words.contains('\'') => value.to_owned(),
        Some(value) => quoted(value),
        None => "VALUE".to_owned(),
    }
}

/// A word of a command line.
fn quoted(value: &str) -> String {
    if value.is_empty()
        || value.contains(|letter: char| {
            letter.is_whitespace() || "'\"\\$`&|;<>(){}*?".contains(letter)
        })
    {
        format!("'{}'", value.replace('\'', r"'\''"))
    } else {
        value.to_owned()
    }
}

/// Seconds are meant where there is no unit.
fn seconds(value: &str) -> String {
    if value.parse::<f64>().is_ok() {
        format!("{value}s")
    } else {
        quoted(value)
    }
}

/// Sessions, requests a session, think time.
fn sessions(value: &str) -> Option<String> {
    let mut parts = value.split(',');
    let (sessions, requests, think) = (parts.next()?, parts.next()?, parts.next()?);
    let (sessions, requests): (u64, u64) = (sessions.parse().ok()?, requests.parse().ok()?);
    let all = sessions.checked_mul(requests)?;
    Some(format!(
        "--requests {all} --session {requests} --think {}",
        seconds(think)
    ))
}

/// Sessions, think time, file.
fn session_log(value: &str) -> Option<String> {
    let mut parts = value.splitn(3, ',');
    let (_, think, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some(format!(
        "--urls {} --think {}",
        quoted(file),
        seconds(think)
    ))
}

/// `y` or `n` (from the beginning again, or not), file.
fn url_log(value: &str) -> Option<String> {
    let (_, file) = value.split_once(',')?;
    Some(format!("--urls {}", quoted(file)))
}

/// How many files.
fn file_set(value: &str) -> Option<String> {
    let count: u64 = value.split(',').next()?.parse().ok()?;
    Some(format!(
        "http://HOST/{{random:0..{}}}",
        count.checked_sub(1)?
    ))
}

/// `[d]T`, `eT`, `uT1,T2` or `vT1,D1,T2,D2...`, in seconds.
fn period(value: &str) -> Option<String> {
    let kind = value.chars().next()?;
    let times = value.trim_start_matches(['d', 'e', 'u', 'v']).split(',');
    let times: Vec<f64> = times.map(|time| time.parse().ok()).collect::<Option<_>>()?;
    let rate = |period: f64| (period > 0.0).then(|| round(1.0 / period));
    match (kind, times.as_slice()) {
        ('v', [_, _, ..]) => {
            let rates: Option<Vec<_>> = times
                .iter()
                .step_by(2)
                .map(|period| rate(*period))
                .collect();
            Some(format!("--rate {}", rates?.join(",")))
        }
        ('u', &[shortest, longest]) => {
            let rate = rate((shortest + longest) / 2.0)?;
            Some(format!("--rate {rate} --arrivals poisson"))
        }
        ('e', &[mean]) => Some(format!("--rate {} --arrivals poisson", rate(mean)?)),
        ('d' | '0'..='9' | '.', &[period]) => Some(format!("--rate {}", rate(period)?)),
        _ => None,
    }
}

/// Without digits that nobody needs.
fn round(rate: f64) -> String {
    let rounded = (rate * 1000.0).round() / 1000.0;
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_of_httperf() {
        let cases = [
            (
                "--num-conns",
                Some("100"),
                "httperf's `--num-conns 100` is `--requests 100`. thrum counts requests",
            ),
            (
                "--num-conn=100",
                None,
                "httperf's `--num-conn 100` is `--requests 100`.",
            ),
            ("--num-calls", Some("5"), "is `--session 5`."),
            (
                "--wsess=10,5,2",
                None,
                "is `--requests 50 --session 5 --think 2s`.",
            ),
            (
                "--wsess=10",
                None,
                "is `--requests N1xN2 --session N2 --think X`.",
            ),
            ("--wsess=99999999999999,99999999999999,1", None, "N1xN2"),
            (
                "--wlog=y,some urls",
                None,
                "is `--urls 'some urls'`. The file has",
            ),
            (
                "--wsesslog=100,0.5,log",
                None,
                "is `--urls log --think 0.5s`.",
            ),
            ("--burst-length", Some("3"), "is `--burst 3`."),
            (
                "--period",
                Some("e0.01"),
                "is `--rate 100 --arrivals poisson`.",
            ),
            ("--period=0.2", None, "is `--rate 5`."),
            ("--period=u1,3", None, "is `--rate 0.5 --arrivals poisson`."),
            ("--period=v1,2,0.5,4", None, "is `--rate 1,2`."),
            (
                "--period=0",
                None,
                "is `--rate R --arrivals constant|poisson`.",
            ),
            (
                "--server",
                Some("H"),
                "httperf's `--server`: the URL says it",
            ),
            (
                "--hog",
                Some("--timeout"),
                "httperf's `--hog`: all ports are used",
            ),
        ];
        for (flag, value, told) in cases {
            let explained = explain(flag, value).unwrap_or_default();
            assert!(explained.contains(told), "{flag}: {explained}");
        }
    }

    #[test]
    fn others() {
        assert_eq!(
            explain("-R", Some("2000")).unwrap(),
            "wrk2's `-R 2000` is `--rate 2000`."
        );
        assert_eq!(
            explain("-z", None).unwrap(),
            "hey and oha's `-z` is `--duration VALUE`."
        );
        assert_eq!(
            explain("-T", Some("text/a b")).unwrap(),
            "hey and oha's `-T 'text/a b'` is `--header 'Content-Type: text/a b'`."
        );
        assert_eq!(
            explain("--latency", None).unwrap(),
            "wrk's `--latency`: always on."
        );
        assert!(
            explain("-k", None)
                .unwrap()
                .starts_with("ab's `-k`: connections are kept")
        );
        let both = explain("-s", Some("30")).unwrap();
        assert_eq!(both.lines().count(), 2, "{both}");
        assert!(both.contains("ab's `-s 30` is `--timeout 30s`."));
    }

    #[test]
    fn nobodys() {
        for flag in ["--frobnicate", "-", "--", "--s", "", "---", "--se"] {
            assert_eq!(explain(flag, None), None, "{flag}");
        }
    }

    #[test]
    fn every_flag_is_explained() {
        for flag in FLAGS {
            for name in flag.names {
                let told = explain(name, None).unwrap();
                assert!(told.contains(flag.tool) && told.ends_with('.'), "{told}");
            }
        }
    }
}
