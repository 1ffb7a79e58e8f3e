//! A chat, a line each: the first one is a name, the others go to everybody else. `chat [ADDRESS]`, default 127.0.0.1:7001.
//!
//! Whoever reads slowly holds up nobody: the last lines are kept for all together, and one who comes too late for some is
//! told how many.

use std::io;
use std::sync::Arc;

use thrum::net::{TcpListener, TcpStream};
use thrum::sync::broadcast::{self, Receiver, RecvError, Sender};
use thrum_examples::address;

const USAGE: &str = "usage: chat [ADDRESS]    default 127.0.0.1:7001";

/// A client could send a line without end.
const LONGEST: usize = 1024;
/// Lines that are kept for those who have not read them yet.
const KEPT: usize = 256;

/// A line, and whose it is.
type Line = (u64, Arc<str>);

#[thrum::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:7001")).await?;
    println!("{}", listener.local_addr()?);
    let (all, _) = broadcast::channel(KEPT);
    for id in 0.. {
        let (connection, _) = listener.accept().await?;
        let all = all.clone();
        thrum::spawn(async move { join(id, Arc::new(connection), all).await });
    }
    Ok(())
}

async fn join(id: u64, connection: Arc<TcpStream>, all: Sender<Line>) -> io::Result<()> {
    let mut lines = Lines::of(&connection);
    connection.write_all(b"* your name?\n").await?;
    let Some(name) = lines.next().await? else {
        return Ok(());
    };
    let say = |text: String| {
        // It fails when nobody is there to hear it.
        let _ = all.send((id, text.into()));
    };
    let heard = all.subscribe();
    say(format!("* {name} is here\n"));
    let listening = thrum::spawn(listen(id, connection.clone(), heard));
    while let Ok(Some(line)) = lines.next().await {
        say(format!("{name}: {line}\n"));
    }
    listening.abort();
    say(format!("* {name} has left\n"));
    Ok(())
}

/// Writes what the others say.
async fn listen(id: u64, connection: Arc<TcpStream>, mut heard: Receiver<Line>) -> io::Result<()> {
    loop {
        match heard.recv().await {
            Ok((from, _)) if from == id => {}
            Ok((_, line)) => connection.write_all(line.as_bytes()).await?,
            Err(RecvError::Lagged(missed)) => {
                let note = format!("* you missed {missed} lines\n");
                connection.write_all(note.as_bytes()).await?;
            }
            Err(RecvError::Closed) => return Ok(()),
        }
    }
}

/// The lines that a client sends.
struct Lines<'a> {
    connection: &'a TcpStream,
    unread: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn of(connection: &'a TcpStream) -> Self {
        Self {
            connection,
            unread: Vec::new(),
        }
    }

    /// The next line, without what would move the others' cursors; none at the end.
    async fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.unread.iter().position(|&byte| byte == b'\n') {
                let line: Vec<_> = self.unread.drain(..=end).collect();
                let text = String::from_utf8_lossy(&line);
                return Ok(Some(text.chars().filter(|c| !c.is_control()).collect()));
            }
            if self.unread.len() > LONGEST {
                self.connection.write_all(b"* too long\n").await?;
                return Ok(None);
            }
            let mut buffer = [0; LONGEST];
            match self.connection.read(&mut buffer).await? {
                0 => return Ok(None),
                read => self.unread.extend(&buffer[..read]),
            }
        }
    }
}
