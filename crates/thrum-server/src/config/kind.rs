//! What is a value of each kind, and what is said to whoever wrote something else.

use std::fs::File;
use std::io;
use std::net::IpAddr;

use http::{HeaderName, Uri};

use super::schema::Kind;
use super::value::{self, Value};

/// What is wrong with a value.
pub(super) struct Misfit {
    /// A sentence without a full stop.
    pub(super) message: String,
    /// A few words of what was expected.
    pub(super) label: String,
    pub(super) help: Option<String>,
}

impl Kind {
    /// What it is, in a few words: `a time, such as 10s`.
    pub fn expected(self) -> String {
        let text = match self {
            Self::Text(_) => "a text",
            Self::Switch => "`on` or `off`",
            Self::Count(least, u64::MAX) => return format!("a whole number from {least}"),
            Self::Count(least, most) => return format!("a whole number from {least} to {most}"),
            Self::Size => "a size: 512, 16KiB, 10MiB or 1GiB",
            Self::Duration => "a time: 250ms, 10s, 5m, 1h or 7d",
            Self::DurationOrOff => "a time: 250ms, 10s, 5m, 1h or 7d; or `off`",
            Self::SizeOrOff => "a size: 512, 16KiB, 10MiB or 1GiB; or `off`",
            Self::Rate => "so many in a time: 10/s, 300/m or 1000/h",
            Self::Choice(words) => return format!("one of: {}", words.join(", ")),
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Path => "a path",
            Self::Address => "an address: HOST:PORT, :PORT, [IPV6]:PORT, PORT or unix:/PATH",
            Self::Url => "a URL: http://… or https://…",
            Self::Network => "an address or a network, 192.0.2.7 or 10.0.0.0/8, or `all`",
            Self::Header => "the name of a header field",
            Self::Status => "a status code from 100 to 599",
        };
        text.to_owned()
    }

    /// Whether the value is one. Looks at the disk where it is to be there.
    pub(super) fn check(self, value: &Value) -> Result<(), Misfit> {
        let text = value.text();
        let fits = match self {
            Self::Text(_) => true,
            Self::Switch => value::switch(text).is_some(),
            Self::Count(least, most) => text
                .parse()
                .is_ok_and(|count: u64| (least..=most).contains(&count)),
            Self::Size => value::size(text).is_some(),
            Self::SizeOrOff => text == "off" || value::size(text).is_some(),
            Self::Duration => value::duration(text).is_some(),
            Self::DurationOrOff => text == "off" || value::duration(text).is_some(),
            Self::Rate => value::rate(text).is_some(),
            Self::Choice(words) => words.contains(&text),
            Self::File => return file(value),
            Self::Folder => return folder(value),
            Self::Path => !text.is_empty() && !text.contains('\0'),
            Self::Address => is_address(text),
            Self::Url => is_url(text),
            Self::Network => value::network(text).is_some(),
            Self::Header => HeaderName::from_bytes(text.as_bytes()).is_ok(),
            Self::Status => text
                .parse()
                .is_ok_and(|status: u16| (100..=599).contains(&status)),
        };
        if fits {
            return Ok(());
        }
        let help = match self {
            Self::Choice(words) => super::nearest::nearest(text, words.iter().copied())
                .map(|word| format!("did you mean `{word}`?")),
            Self::Duration | Self::DurationOrOff if text.parse::<u64>().is_ok() => {
                Some(format!("a time has a unit: {text}s is {text} seconds"))
            }
            Self::Switch => match text {
                "true" | "yes" | "1" => Some("write `on`".to_owned()),
                "false" | "no" | "0" => Some("write `off`".to_owned()),
                _ => None,
            },
            _ => None,
        };
        Err(Misfit {
            message: format!("`{text}` is not {}", self.noun()),
            label: format!("expected {}", self.expected()),
            help,
        })
    }

    /// What it is called: `a time`.
    fn noun(self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Switch => "`on` or `off`",
            Self::Count(..) => "a number that fits here",
            Self::Size | Self::SizeOrOff => "a size",
            Self::Duration | Self::DurationOrOff => "a time",
            Self::Rate => "a rate",
            Self::Choice(_) => "known here",
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Path => "a path",
            Self::Address => "an address to listen at or connect to",
            Self::Url => "an absolute URL",
            Self::Network => "an address or a network",
            Self::Header => "the name of a header field",
            Self::Status => "a status code",
        }
    }
}

fn file(value: &Value) -> Result<(), Misfit> {
    let path = value.path();
    let result = match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => Err("is a folder".to_owned()),
        // Opening what is no regular file may wait, or take something away.
        Ok(metadata) if !metadata.is_file() => Ok(()),
        Ok(_) => File::open(&path).map(drop).map_err(reason),
        Err(error) => Err(reason(error)),
    };
    result.map_err(|what| Misfit {
        message: format!("the file {} {what}", value.text()),
        label: "a file that can be read is expected".to_owned(),
        help: begins_at(value),
    })
}

fn folder(value: &Value) -> Result<(), Misfit> {
    let path = value.path();
    let result = match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err("is not a folder".to_owned()),
        Err(error) => Err(reason(error)),
    };
    result.map_err(|what| Misfit {
        message: format!("the folder {} {what}", value.text()),
        label: "a folder is expected".to_owned(),
        help: begins_at(value),
    })
}

/// Where a relative path begins, for those who expected another place.
fn begins_at(value: &Value) -> Option<String> {
    let relative = std::path::Path::new(value.text()).is_relative();
    relative.then(|| "a relative path begins at the folder of the configuration file".to_owned())
}

fn reason(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

/// `HOST:PORT`, `:PORT`, `[IPV6]:PORT`, `PORT` or `unix:/PATH`.
fn is_address(text: &str) -> bool {
    if let Some(path) = text.strip_prefix("unix:") {
        return path.starts_with('/') && path.len() > 1;
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let is_host = match host.strip_prefix('[') {
        Some(rest) => rest
            .strip_suffix(']')
            .is_some_and(|address| address.parse::<IpAddr>().is_ok_and(|it| it.is_ipv6())),
        None => {
            let name =
                |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
            host.bytes().all(name)
        }
    };
    is_port && is_host
}

fn is_url(text: &str) -> bool {
    // What captures stand for is not known yet, and `{` is not a character of URLs.
    let plain = text.replace(['{', '}'], "");
    plain.parse::<Uri>().is_ok_and(|url| {
        matches!(url.scheme_str(), Some("http" | "https"))
            && url.host().is_some_and(|host| !host.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in [
            "80",
            ":80",
            "127.0.0.1:0",
            "[::1]:443",
            "host-1.example:8080",
            "unix:/run/a.sock",
        ] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "",
            ":",
            "host",
            "::1:80",
            "[::1]",
            "[127.0.0.1]:80",
            ":65536",
            "unix:a",
            ":+8",
            "a b:1",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn urls() {
        assert!(is_url("https://example.com/new/"));
        assert!(is_url("https://{host}/{path}") && is_url("http://[::1]:3000"));
        for bad in [
            "/new/",
            "example.com",
            "ftp://example.com/",
            "https://",
            "https://a b/",
        ] {
            assert!(!is_url(bad), "{bad}");
        }
    }
}
