//! M one-byte messages through N pipes, a reader task and a writer task each. pipes N M

use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let [pipes, messages] = tokio_twins::numbers();
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
                    reader.read_exact(&mut message).await.unwrap();
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
