//! Fetches URLs, all at once, and tells of each its status, size and time. `fetch [-i] [-o FILE] URL...`: `-i` shows the
//! heads too, `-o` keeps the body of the only URL. Proxies are those of the environment.

use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use thrum::TaskSet;
use thrum::http::Client;
use thrum::http::client::Proxies;
use thrum_examples::{arguments, wrong};

const USAGE: &str = "usage: fetch [-i] [-o FILE] URL...";

#[thrum::main]
async fn main() -> ExitCode {
    let (mut shows_head, mut output, mut urls) = (false, None, Vec::new());
    let mut arguments = arguments(USAGE, usize::MAX).into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-i" => shows_head = true,
            "-o" => {
                output = Some(
                    arguments
                        .next()
                        .unwrap_or_else(|| wrong(USAGE, "-o wants a file")),
                )
            }
            option if option.starts_with('-') => wrong(USAGE, &format!("{option:?} is no option")),
            _ => urls.push(argument),
        }
    }
    if urls.is_empty() || (output.is_some() && urls.len() > 1) {
        wrong(USAGE, "one URL, or several without -o");
    }
    let proxies = Proxies::from_env().unwrap_or_else(|error| wrong(USAGE, &error.to_string()));
    let client = Client::builder().proxies(proxies).build();

    let mut fetches = TaskSet::new();
    for url in urls {
        let (client, output) = (client.clone(), output.clone());
        fetches.spawn(async move { fetch(&client, &url, output, shows_head).await });
    }
    let mut code = ExitCode::SUCCESS;
    while let Some(fetched) = fetches.join_next().await {
        match fetched.map_err(io::Error::other).flatten() {
            Ok(report) => print!("{report}"),
            Err(error) => {
                eprintln!("{error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

async fn fetch(
    client: &Client,
    url: &str,
    output: Option<String>,
    shows_head: bool,
) -> io::Result<String> {
    let start = Instant::now();
    let mut response = client.get(url).await?;
    let head = start.elapsed();
    let mut file = output.map(File::create).transpose()?;
    let mut size = 0;
    while let Some(chunk) = response.chunk().await? {
        size += chunk.len();
        if let Some(file) = &mut file {
            file.write_all(&chunk)?;
        }
    }
    let (url, status, version) = (response.url(), response.status(), response.version());
    let all = start.elapsed();
    let mut report = format!("{status}  {size} bytes  {head:.1?} {all:.1?}  {version:?}  {url}\n");
    if shows_head {
        for (name, value) in response.headers() {
            report += &format!("  {name}: {}\n", value.as_bytes().escape_ascii());
        }
    }
    Ok(report)
}
