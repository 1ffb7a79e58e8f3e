//! A reverse proxy. `proxy ADDRESS UPSTREAM..`: `proxy 127.0.0.1:8080 127.0.0.1:3000 127.0.0.1:3001`.

use std::error::Error;

use thrum::http::serve;
use thrum::net::TcpListener;
use thrum_server::config::Config;
use thrum_server::site::{App, Kept, Sites, TABLES};

#[thrum::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or("usage: proxy ADDRESS UPSTREAM..")?;
    let upstreams: Vec<_> = arguments.collect();
    let text = format!(
        "http://{address} {{\n    / >> {}\n}}\n",
        upstreams.join(" ")
    );
    let config = Config::parse(&text, &TABLES)?;
    let sites = Sites::build(&config, &Kept::default());
    let sites = sites.map_err(|problems| format!("{problems:?}"))?;
    let endpoint = sites
        .endpoints()
        .next()
        .ok_or("there is no site")?
        .0
        .clone();
    let app = App::new(sites);
    let listener = TcpListener::bind(&*address).await?;
    println!("http://{}/", listener.local_addr()?);
    serve(listener, app.at(endpoint)).await?;
    Ok(())
}
