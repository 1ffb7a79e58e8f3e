//! Three requests in sequence, each a line. `three_requests [URL]`, default http://127.0.0.1:8080/.

use thrum::http::{client::Error, get};

#[thrum::main]
async fn main() -> Result<(), Error> {
    let url = std::env::args().nth(1);
    let url = url.as_deref().unwrap_or("http://127.0.0.1:8080/");

    let one = get(url).await?.text().await?;
    let two = get(url).await?.text().await?;
    let three = get(url).await?.text().await?;

    print!("{one}{two}{three}");
    Ok(())
}
