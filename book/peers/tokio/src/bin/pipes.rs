//! M one-byte messages through N pipes, a reader task and a writer task each, each read within SECONDS if that is given.
//! pipes N M [SECONDS]

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::time::timeout;
use tokio_twins::argument;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let (pipes, messages): (usize, usize) = (argument(1), argument(2));
    let limit = std::env::args()
        .nth(3)
        .map(|_| Duration::from_secs(argument(3)));
    let each = messages / pipes;
    let ends = (0..pipes)
        .map(|_| pipe::pipe())
        .collect::<Result<Vec<_>, _>>()?;
    let begin = Instant::now();
    let readers: Vec<_> = ends
        .into_iter()
        .map(|(mut writer, mut reader)| {
            tokio::spawn(async move {
                for _ in 0..each {
                    writer.write_all(b"x").await.unwrap();
                }
            });
            tokio::spawn(async move {
                let mut message = [0];
                for _ in 0..each {
                    let read = reader.read_exact(&mut message);
                    match limit {
                        None => read.await.unwrap(),
                        Some(limit) => timeout(limit, read).await.unwrap().unwrap(),
                    };
                }
            })
        })
        .collect();
    for reader in readers {
        reader.await?;
    }
    println!("{:.3} s", begin.elapsed().as_secs_f64());
    Ok(())
}
