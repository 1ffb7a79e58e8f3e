//! The command line of `thrum bench`.

use std::net::IpAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use http::{HeaderName, HeaderValue, Method, Uri};
use thrum_load::budget::Budget;
use thrum_load::{Arrivals, ExpectedField, Rate, StatusRange};

const EXAMPLES: &str = "\
Examples:
  thrum bench http://localhost:8080/                       50 connections for 10 s, each asking when it was answered
  thrum bench http://localhost:8080/ --rate 2000           2,000 requests/s, whether the server keeps up or not
  thrum bench http://localhost:8080/ --rate 100..5000      a ramp: when does it fall behind?
  thrum bench http://localhost:8080/ -c 8 --burst 20       20 pipelined requests at a time
  thrum bench https://localhost:8443/ --http2 -p 32        32 streams on each connection
  thrum bench http://localhost:8080/ --urls paths.txt      the paths of a file, one after the other
  thrum bench http://localhost:8080/api -X POST -H 'content-type: application/json' --body '{\"id\": {n}}'
  thrum bench http://localhost:8080/ --report out.html     charts, in one file
  thrum bench http://localhost:8080/ --against http://localhost:8081/
  thrum bench compare before.json after.json               is the difference more than noise?
  thrum bench http://localhost:8080/ --budget p99=5ms,errors=0

In URL, header values, --body and --line, {n} is the number of the request from 0, {random:1..100} a number, {uuid} a UUID.
Ctrl-C ends it and reports; a second one does not.
Exit status: 0, 1 if it cannot run or nothing is answered, 2 for a wrong command line, 3 for a budget that does not hold,
130 after a second Ctrl-C.";

/// What `thrum bench` was asked.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(super) command: Option<BenchCommand>,

    #[command(flatten)]
    pub(super) run: RunArgs,
}

#[derive(Debug, Subcommand)]
pub(super) enum BenchCommand {
    /// Say whether two results differ by more than noise
    Compare(CompareArgs),
}

/// What `thrum bench compare` was asked.
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// Results that --json wrote
    #[arg(value_name = "A.json")]
    pub(super) a: PathBuf,

    /// Those that they are compared with
    #[arg(value_name = "B.json")]
    pub(super) b: PathBuf,

    /// Print it as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Whom to ask: http, https, ws or wss (messages that are echoed), tcp (lines that are answered by lines)
    #[arg(required = true)]
    pub(super) url: Option<Uri>,

    #[command(flatten)]
    pub(super) load: LoadArgs,

    #[command(flatten)]
    pub(super) requests: RequestArgs,

    #[command(flatten)]
    pub(super) connection: ConnectionArgs,

    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(super) struct LoadArgs {
    /// Connections
    #[arg(short, long, value_name = "N", default_value_t = 50)]
    pub(super) connections: usize,

    /// How long it measures, as 30s or 5m [default: 10s, or until --requests are sent]
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(super) duration: Option<Duration>,

    /// Requests in all
    #[arg(short = 'n', long, value_name = "N")]
    pub(super) requests: Option<u64>,

    /// How long it goes on before it measures
    #[arg(short, long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    pub(super) warm_up: Duration,

    /// Requests of a connection under way at once: pipelined over HTTP/1.1, streams over HTTP/2
    #[arg(short = 'p', long, value_name = "N", default_value_t = 1)]
    pub(super) in_flight: usize,

    /// Send so many at once, and the next when all of them are answered
    #[arg(long, value_name = "N")]
    pub(super) burst: Option<usize>,

    /// Requests a second of all connections together (bursts, sessions), due by the clock: 1000, 100..2000, 100,500,1000
    #[arg(short, long, value_name = "RATE")]
    pub(super) rate: Option<Rate>,

    /// How they are spread over time
    #[arg(long, value_enum, default_value_t = Spread::Constant, requires = "rate")]
    pub(super) arrivals: Spread,

    /// Requests on a connection before it is closed and opened anew [default: it is kept]
    #[arg(long, value_name = "N")]
    pub(super) session: Option<u64>,

    /// The pause between an answer and the next request
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0s")]
    pub(super) think: Duration,

    /// Threads that send and receive [default: one for each CPU]
    #[arg(short, long, value_name = "N")]
    pub(super) threads: Option<NonZero<usize>>,

    /// How long a connection, and an answer, is waited for
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub(super) timeout: Duration,

    /// End at the first error
    #[arg(long)]
    pub(super) stop_on_error: bool,
}

/// How arrivals are spread.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Spread {
    /// Evenly
    Constant,
    /// As those of many who know nothing of each other
    Poisson,
}

impl From<Spread> for Arrivals {
    fn from(spread: Spread) -> Self {
        match spread {
            Spread::Constant => Self::Constant,
            Spread::Poisson => Self::Poisson,
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Requests")]
pub(super) struct RequestArgs {
    /// The method [default: GET, or POST where there is a body]
    #[arg(short = 'X', long)]
    pub(super) method: Option<Method>,

    /// A header field; may be given more than once
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = field)]
    pub(super) header: Vec<(HeaderName, String)>,

    /// The body
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    pub(super) body: Option<String>,

    /// A file that is the body, as it is
    #[arg(long, value_name = "FILE")]
    pub(super) body_file: Option<PathBuf>,

    /// A file of what to ask for in turn; a line is `[METHOD] PATH-or-URL`, # begins a comment
    #[arg(long, value_name = "FILE")]
    pub(super) urls: Option<PathBuf>,

    /// Each connection keeps the cookies that it is given
    #[arg(long)]
    pub(super) cookies: bool,

    /// What is sent to a ws or tcp URL
    #[arg(long, value_name = "TEXT", default_value = "hello", conflicts_with_all = ["body", "body_file", "urls", "method"])]
    pub(super) line: String,

    /// Statuses that are no error: 200, 2xx, 200-299; may be given more than once [default: below 400]
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub(super) expect_status: Vec<StatusRange>,

    /// A header field that answers have: a name, or `name: part of the value`; may be given more than once
    #[arg(long, value_name = "FIELD")]
    pub(super) expect_header: Vec<ExpectedField>,

    /// What the body of each answer contains
    #[arg(long, value_name = "TEXT")]
    pub(super) expect_body: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct ConnectionArgs {
    /// Speak HTTP/1.1 [default: what TLS agrees on, and HTTP/1.1 without]
    #[arg(long)]
    pub(super) http1: bool,

    /// Speak HTTP/2
    #[arg(long, conflicts_with = "http1")]
    pub(super) http2: bool,

    /// Take any certificate
    #[arg(short = 'k', long)]
    pub(super) insecure: bool,

    /// Connect to a Unix socket
    #[arg(long, value_name = "PATH")]
    pub(super) unix: Option<PathBuf>,

    /// Addresses of this machine to connect from in turn, as 127.0.0.2 or 127.0.0.2-127.0.0.20; each has some 28,000
    /// connections to a server
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',', value_parser = addresses)]
    pub(super) from: Vec<Addresses>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(super) struct OutputArgs {
    /// Write the results as JSON to a file, or to standard output (-)
    #[arg(long, value_name = "FILE|-")]
    pub(super) json: Option<PathBuf>,

    /// Write the figures of each second as CSV
    #[arg(long, value_name = "FILE|-")]
    pub(super) csv: Option<PathBuf>,

    /// Write an HdrHistogram log
    #[arg(long, value_name = "FILE|-")]
    pub(super) hdr: Option<PathBuf>,

    /// Write a page with charts
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,

    /// Measure another URL in turns with the first, and compare them
    #[arg(long, value_name = "URL")]
    pub(super) against: Option<Uri>,

    /// How often each is measured
    #[arg(long, value_name = "N", default_value_t = 5, requires = "against")]
    pub(super) rounds: usize,

    /// Fail unless this holds, of the first URL: p99=5ms,errors=0
    #[arg(long, value_name = "BUDGET")]
    pub(super) budget: Option<Budget>,

    /// Print nothing but problems, and what is written to -
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// A time with its unit: `10s`, `500ms`, `2m`, `1h`; seconds where there is none.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit.trim() {
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time is a number with us, ms, s, m or h".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "a time is a number with us, ms, s, m or h".to_owned())?;
    Duration::try_from_secs_f64(number * seconds)
        .ok()
        .filter(|time| *time <= Duration::from_secs(366 * 24 * 3600))
        .ok_or_else(|| "that is more than a year".to_owned())
}

fn field(text: &str) -> Result<(HeaderName, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or("a header field is `name: value`")?;
    let value = value.trim();
    let name = name
        .trim()
        .parse()
        .map_err(|_| format!("{name:?} is no name of a header field"))?;
    HeaderValue::from_str(value)
        .map_err(|_| format!("{value:?} has a character that none may have"))?;
    Ok((name, value.to_owned()))
}

/// Some addresses of this machine.
#[derive(Clone, Debug)]
pub(super) struct Addresses(pub(super) Vec<IpAddr>);

fn addresses(text: &str) -> Result<Addresses, String> {
    let address = |text: &str| {
        let address: Result<IpAddr, _> = text.trim().parse();
        address.map_err(|_| format!("{text:?} is no IP address"))
    };
    let Some((first, last)) = text.split_once('-') else {
        return Ok(Addresses(vec![address(text)?]));
    };
    match (address(first)?, address(last)?) {
        (IpAddr::V4(first), IpAddr::V4(last))
            if first <= last && last.to_bits() - first.to_bits() < 65536 =>
        {
            let all = first.to_bits()..=last.to_bits();
            Ok(Addresses(all.map(|bits| IpAddr::V4(bits.into())).collect()))
        }
        _ => Err(
            "a range goes from one IPv4 address to a higher one, at most 65,536 of them".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, expected) in [
            ("10s", 10.0),
            ("10", 10.0),
            ("1.5s", 1.5),
            ("250ms", 0.25),
            ("2m", 120.0),
            ("1h", 3600.0),
        ] {
            assert_eq!(
                duration(text),
                Ok(Duration::from_secs_f64(expected)),
                "{text}"
            );
        }
        for text in ["", "s", "10 parsecs", "-1s", "1e9h", "1..2"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn fields_and_addresses() {
        assert_eq!(
            field("Accept: a: b").unwrap(),
            (http::header::ACCEPT, "a: b".to_owned())
        );
        assert!(
            field("no colon").is_err()
                && field("a b: c").is_err()
                && field("a: b\r\nc: d").is_err()
        );
        assert_eq!(addresses("127.0.0.1-127.0.1.0").unwrap().0.len(), 256);
        assert_eq!(addresses("::1").unwrap().0.len(), 1);
        assert!(addresses("127.0.0.9-127.0.0.1").is_err() && addresses("0.0.0.0-9.9.9.9").is_err());
    }
}
