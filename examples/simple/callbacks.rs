//! A simple server of callbacks: an event loop, and for each socket what it calls when there is something to read. It reads
//! once, says Pong, closes. `simple_callbacks [ADDRESS]`, default 127.0.0.1:8080.

use std::collections::HashMap;
use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use thrum_examples::address;

const USAGE: &str = "usage: simple_callbacks [ADDRESS]    default 127.0.0.1:8080";
const ANSWER: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\nPong!\r\n";

fn main() -> Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:8080"))?;
    println!("http://{}/", listener.local_addr()?);
    let mut events = EventLoop::new()?;
    events.on_readable(listener, accept)?;
    events.run()
}

fn accept(listener: &mut TcpListener, events: &mut EventLoop) -> Result<Then> {
    // Who has gone meanwhile is not accepted.
    if let Ok((connection, _)) = listener.accept() {
        events.on_readable(connection, answer)?;
    }
    Ok(Then::Wait)
}

fn answer(connection: &mut TcpStream, _: &mut EventLoop) -> Result<Then> {
    let mut request = [0; 4096];
    if connection.read(&mut request)? > 0 {
        connection.write_all(ANSWER)?;
    }
    Ok(Then::Close)
}

/// What is to become of a socket after its callback.
enum Then {
    Wait,
    Close,
}

/// It owns the socket that it is about.
type Callback = Box<dyn FnMut(&mut EventLoop) -> Result<Then>>;

struct EventLoop {
    set: OwnedFd,
    callbacks: HashMap<u64, Callback>,
}

impl EventLoop {
    fn new() -> Result<Self> {
        Ok(EventLoop {
            set: epoll::create(CreateFlags::CLOEXEC)?,
            callbacks: HashMap::new(),
        })
    }

    fn on_readable<S: AsFd + 'static>(
        &mut self,
        mut socket: S,
        callback: fn(&mut S, &mut EventLoop) -> Result<Then>,
    ) -> Result<()> {
        let key = socket.as_fd().as_raw_fd() as u64;
        epoll::add(&self.set, &socket, EventData::new_u64(key), EventFlags::IN)?;
        let callback: Callback = Box::new(move |events| callback(&mut socket, events));
        self.callbacks.insert(key, callback);
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        let mut ready = Vec::with_capacity(256);
        loop {
            ready.clear();
            epoll::wait(&self.set, spare_capacity(&mut ready), None)?;
            for event in &ready {
                let key = event.data.u64();
                // It may add callbacks, so it is not among them meanwhile.
                if let Some(mut callback) = self.callbacks.remove(&key)
                    && let Ok(Then::Wait) = callback(self)
                {
                    self.callbacks.insert(key, callback);
                }
            }
        }
    }
}
