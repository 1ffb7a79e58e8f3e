//! TLS over a socket: rustls does the protocol, this moves the bytes, and never waits.
//!
//! It stands on rustls' unbuffered API. What is received is read into memory of the thread, decrypted there and copied to
//! the reader; what is sent is encrypted into memory of the thread and handed to the kernel. A session itself holds bytes
//! only while it must: part of a record, what the reader had no room for, what the kernel did not take. An idle one holds
//! none. rustls' buffered API keeps 4 KiB to read into for each connection, 6.4 KiB in all against 2.3, and reads no more
//! than that in one call; but it would spare a copy of what is sent, from rustls' record to ours.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::CommonState;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, UnbufferedStatus, WriteTraffic,
};

use super::Info;
use crate::wire::{Socket, would_block};

/// Bytes received that may wait for more: the largest handshake message, such as a chain of certificates, is shorter.
const MOST_RECEIVED: usize = 64 * 1024;

/// Bytes that are encrypted at a time, and so at most wait for the kernel to take them, but for the overhead of records.
const MOST_SEALED: usize = 64 * 1024;

/// What records add to their contents: header, type, nonce and tag, for each 16 KiB or less; and a key update ahead.
const OVERHEAD: usize = 512;

thread_local! {
    static RECEIVED: RefCell<Vec<u8>> = RefCell::new(vec![0; MOST_RECEIVED]);
    static SEALED: RefCell<Vec<u8>> = RefCell::new(vec![0; MOST_SEALED + OVERHEAD]);
    static PLAIN: RefCell<Vec<u8>> = RefCell::new(vec![0; MOST_SEALED]);
}

/// One side's end of a TLS connection. It knows no socket: each method is handed the one it belongs to.
pub(crate) struct Session {
    side: Side,
    /// Received and not decrypted: part of a record, unless `unread`.
    received: Vec<u8>,
    /// There may be whole records in `received`.
    unread: bool,
    /// Decrypted and not read.
    plain: Waiting,
    /// Encrypted and not taken by the kernel.
    sealed: Waiting,
    /// The peer has said that it sends no more.
    peer_ended: bool,
    /// We have said so.
    ended: bool,
    failed: Option<rustls::Error>,
    info: Option<Arc<Info>>,
}

enum Side {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

macro_rules! each {
    ($side:expr, $connection:ident => $call:expr) => {
        match $side {
            Side::Client($connection) => $call,
            Side::Server($connection) => $call,
        }
    };
}

impl Session {
    pub(super) fn client(connection: UnbufferedClientConnection) -> Self {
        Self::new(Side::Client(connection))
    }

    pub(super) fn server(connection: UnbufferedServerConnection) -> Self {
        Self::new(Side::Server(connection))
    }

    fn new(side: Side) -> Self {
        Self {
            side,
            received: Vec::new(),
            unread: false,
            plain: Waiting::default(),
            sealed: Waiting::default(),
            peer_ended: false,
            ended: false,
            failed: None,
            info: None,
        }
    }

    /// What was agreed on. `None` before the handshake is done.
    pub(crate) fn info(&self) -> Option<&Arc<Info>> {
        self.info.as_ref()
    }

    pub(super) fn set_info(&mut self, info: Info) {
        self.info = Some(Arc::new(info));
    }

    /// What rustls knows of the connection.
    pub(super) fn state(&self) -> &CommonState {
        each!(&self.side, connection => connection)
    }

    /// Agrees with the peer on keys. It fails with [`rustls::Error`] inside, if that is what it fails with; then
    /// [`say_why`](Self::say_why).
    pub(super) fn poll_handshake(
        &mut self,
        socket: &Socket,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let received = self.receive(socket, &mut []);
            let waits = match received {
                Ok(_) => false,
                Err(error) if would_block(&error) => true,
                Err(error) => return Poll::Ready(Err(error)),
            };
            while let Err(error) = self.send_sealed(socket) {
                match would_block(&error) {
                    true => ready!(socket.poll_writable(cx))?,
                    false => return Poll::Ready(Err(error)),
                }
            }
            if !self.state().is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            if waits {
                ready!(socket.poll_readable(cx))?;
            }
        }
    }

    /// Tells the peer by an alert why the handshake failed, if it takes it at once.
    pub(super) fn say_why(&mut self, socket: &Socket) {
        let _ = self.send_sealed(socket);
    }

    /// Has it tell the peer something else, in records of its own making.
    pub(super) fn say_instead(&mut self, records: &[u8]) {
        self.sealed = Waiting::default();
        self.sealed.append(records);
    }

    /// What was received and rustls has not taken yet.
    pub(super) fn unprocessed(&self) -> &[u8] {
        &self.received
    }

    /// Whether [`try_read`](Self::try_read) has something to say without the socket.
    pub(crate) fn has_read_ahead(&self) -> bool {
        !self.plain.is_empty() || self.unread || self.peer_ended || self.failed.is_some()
    }

    /// Reads what is there. 0: the peer has said that this is all.
    pub(crate) fn try_read(&mut self, socket: &Socket, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.plain.is_empty() {
            let count = buffer.len().min(self.plain.bytes().len());
            buffer[..count].copy_from_slice(&self.plain.bytes()[..count]);
            self.plain.consume(count);
            return Ok(count);
        }
        if self.peer_ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.receive(socket, buffer);
        if !self.sealed.is_empty() {
            // Should it fail, the next write will.
            let _ = self.send_sealed(socket);
            if self.sealed.bytes().len() > 2 * MOST_SEALED {
                let text = "the peer asks for TLS messages that it does not take";
                return Err(io::Error::other(text));
            }
        }
        read
    }

    /// Writes some of the bytes. What it says that it took may still be [held back](Self::holds_back); until that is out,
    /// it takes no more.
    pub(crate) fn try_write(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        more: bool,
    ) -> io::Result<usize> {
        self.send_sealed(socket)?;
        let bytes = &bytes[..bytes.len().min(MOST_SEALED)];
        SEALED.with_borrow_mut(|memory| {
            let sealed = self.seal(memory, |traffic, memory| traffic.encrypt(bytes, memory))?;
            self.send(socket, &memory[..sealed], more)?;
            Ok(bytes.len())
        })
    }

    /// Writes some of the bytes. They are gathered first, so that a head and its body go in one record.
    pub(crate) fn try_write_vectored(
        &mut self,
        socket: &Socket,
        buffers: &[IoSlice<'_>],
    ) -> io::Result<usize> {
        let mut filled = buffers.iter().filter(|buffer| !buffer.is_empty());
        if let (Some(only), None) = (filled.next(), filled.next()) {
            return self.try_write(socket, only, false);
        }
        self.send_sealed(socket)?;
        PLAIN.with_borrow_mut(|memory| {
            let mut end = 0;
            for buffer in buffers {
                let count = buffer.len().min(memory.len() - end);
                memory[end..end + count].copy_from_slice(&buffer[..count]);
                end += count;
            }
            self.try_write(socket, &memory[..end], false)
        })
    }

    /// Sends some of a file. 0: it has ended.
    pub(crate) fn try_send_file(
        &mut self,
        socket: &Socket,
        file: &File,
        offset: u64,
        length: usize,
    ) -> io::Result<usize> {
        self.send_sealed(socket)?;
        PLAIN.with_borrow_mut(|memory| {
            let piece = &mut memory[..length.min(MOST_SEALED)];
            match file.read_at(piece, offset)? {
                0 => Ok(0),
                read => self.try_write(socket, &piece[..read], false),
            }
        })
    }

    /// Whether something that was written is not with the kernel yet.
    pub(crate) fn holds_back(&self) -> bool {
        !self.sealed.is_empty()
    }

    /// Hands to the kernel what is held back. `WouldBlock` until all of it is there.
    pub(crate) fn try_flush(&mut self, socket: &Socket) -> io::Result<()> {
        self.send_sealed(socket)
    }

    /// Says that this is all we send (close_notify). `WouldBlock` until it and all before it is with the kernel.
    pub(crate) fn end(&mut self, socket: &Socket) -> io::Result<()> {
        self.send_sealed(socket)?;
        if !self.ended && !self.state().is_handshaking() && self.failed.is_none() {
            let mut memory = vec![0; OVERHEAD];
            let close_notify =
                |traffic: &mut dyn Seal, memory: &mut [u8]| traffic.queue_close_notify(memory);
            let sealed = self.seal(&mut memory, close_notify)?;
            self.ended = true;
            self.send(socket, &memory[..sealed], false)?;
        }
        self.send_sealed(socket)
    }

    #[cfg(test)]
    pub(super) fn held_back(&self) -> usize {
        self.sealed.memory.capacity()
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        let memory = [&self.received, &self.plain.memory, &self.sealed.memory];
        memory.iter().all(|memory| memory.capacity() == 0)
    }

    /// Reads from the socket until there is something decrypted, into `buffer` first and then into `plain`. During the
    /// handshake it does one step. 0: the peer has said that this is all.
    fn receive(&mut self, socket: &Socket, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = &self.failed {
            return Err(failure(error.clone()));
        }
        let result = RECEIVED.with_borrow_mut(|memory| {
            let (mut start, mut end) = (0, self.received.len());
            memory[..end].copy_from_slice(&self.received);
            let result = loop {
                let mut sink = Sink::new(buffer, &mut self.plain, true);
                let waiting = &mut memory[start..end];
                let progress = each!(
                    &mut self.side,
                    connection => advance(connection, waiting, &mut sink, &mut self.sealed, |_| ())
                );
                let (filled, full) = (sink.filled, sink.is_full());
                start += progress.used;
                self.peer_ended |= progress.peer_ended;
                if let Err(error) = progress.result {
                    break Err(Failed::Tls(error));
                }
                self.unread = full && start < end;
                if filled > 0 || full || self.peer_ended {
                    break Ok(filled);
                }
                // What the handshake has to say goes out before more is read.
                if !self.sealed.is_empty() && self.state().is_handshaking() {
                    break Err(Failed::Io(ErrorKind::WouldBlock.into()));
                }
                memory.copy_within(start..end, 0);
                (start, end) = (0, end - start);
                // About as much as there is room for: what is read too early is copied away and back.
                let most = (end + (buffer.len() + OVERHEAD).max(4096)).min(memory.len());
                if end == most {
                    break Err(Failed::Io(invalid("a TLS message is too large")));
                }
                match socket.try_read(&mut memory[end..most]) {
                    Ok(0) => break Err(Failed::Io(truncated())),
                    Ok(read) => end += read,
                    Err(error) => break Err(Failed::Io(error)),
                }
            };
            // Idle, it holds no memory.
            match start == end {
                true => self.received = Vec::new(),
                false => {
                    self.received.clear();
                    self.received.extend_from_slice(&memory[start..end]);
                }
            }
            result
        });
        result.map_err(|failed| match failed {
            Failed::Io(error) => error,
            Failed::Tls(error) => {
                self.failed = Some(error.clone());
                failure(error)
            }
        })
    }

    /// Has rustls encrypt something into `memory`; how many bytes it came to.
    fn seal(
        &mut self,
        memory: &mut Vec<u8>,
        mut write: impl FnMut(&mut dyn Seal, &mut [u8]) -> Result<usize, EncryptError>,
    ) -> io::Result<usize> {
        if let Some(error) = &self.failed {
            return Err(failure(error.clone()));
        }
        if self.ended {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let mut write = |traffic: &mut dyn Seal| match write(traffic, memory) {
            Err(EncryptError::InsufficientSize(error)) => {
                memory.resize(error.required_size, 0);
                write(traffic, memory)
            }
            result => result,
        };
        let mut sink = Sink::new(&mut [], &mut self.plain, false);
        let progress = each!(
            &mut self.side,
            connection => advance(connection, &mut self.received, &mut sink, &mut self.sealed, &mut write)
        );
        self.received.drain(..progress.used);
        self.peer_ended |= progress.peer_ended;
        match progress.result {
            Ok(Some(sealed)) => sealed.map_err(|error| io::Error::other(error.to_string())),
            Ok(None) => Err(ErrorKind::NotConnected.into()),
            Err(error) => {
                self.failed = Some(error.clone());
                Err(failure(error))
            }
        }
    }

    /// Hands encrypted bytes to the kernel, and keeps what it does not take.
    fn send(&mut self, socket: &Socket, sealed: &[u8], more: bool) -> io::Result<()> {
        // What came up meanwhile goes first.
        if !self.sealed.is_empty() {
            self.sealed.append(sealed);
            return match self.send_sealed(socket) {
                Err(error) if would_block(&error) => Ok(()),
                result => result,
            };
        }
        let sent = match more {
            true => socket.try_write_more(sealed),
            false => socket.try_write(sealed),
        };
        let sent = match sent {
            Err(error) if would_block(&error) => 0,
            result => result?,
        };
        self.sealed.append(&sealed[sent..]);
        Ok(())
    }

    fn send_sealed(&mut self, socket: &Socket) -> io::Result<()> {
        while !self.sealed.is_empty() {
            let sent = socket.try_write(self.sealed.bytes())?;
            self.sealed.consume(sent);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("info", &self.info)
            .field("held_back", &self.sealed.bytes().len())
            .finish_non_exhaustive()
    }
}

/// The two kinds of connections, as one.
trait Connection {
    type Data;

    fn state(&self) -> &CommonState;

    fn process<'c, 'i>(
        &'c mut self,
        received: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data>;
}

impl Connection for UnbufferedClientConnection {
    type Data = ClientConnectionData;

    fn state(&self) -> &CommonState {
        self
    }

    fn process<'c, 'i>(
        &'c mut self,
        received: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(received)
    }
}

impl Connection for UnbufferedServerConnection {
    type Data = ServerConnectionData;

    fn state(&self) -> &CommonState {
        self
    }

    fn process<'c, 'i>(
        &'c mut self,
        received: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(received)
    }
}

/// Encrypting, for a connection of either kind.
trait Seal {
    fn encrypt(&mut self, bytes: &[u8], memory: &mut [u8]) -> Result<usize, EncryptError>;

    fn queue_close_notify(&mut self, memory: &mut [u8]) -> Result<usize, EncryptError>;
}

impl<D> Seal for WriteTraffic<'_, D> {
    fn encrypt(&mut self, bytes: &[u8], memory: &mut [u8]) -> Result<usize, EncryptError> {
        self.encrypt(bytes, memory)
    }

    fn queue_close_notify(&mut self, memory: &mut [u8]) -> Result<usize, EncryptError> {
        self.queue_close_notify(memory)
    }
}

/// How far rustls came.
struct Progress<R> {
    /// Bytes of what was received that it is done with.
    used: usize,
    /// The peer has said that it sends no more.
    peer_ended: bool,
    /// What was written, if it could be.
    result: Result<Option<R>, rustls::Error>,
}

/// Has rustls work through what was received, until it waits or the sink is full, and then write, if it may.
///
/// It must be handed all that it is not done with, each time: it remembers where in it a message is that goes on.
fn advance<C: Connection, R>(
    connection: &mut C,
    received: &mut [u8],
    sink: &mut Sink<'_>,
    sealed: &mut Waiting,
    write: impl FnOnce(&mut dyn Seal) -> R,
) -> Progress<R> {
    let (mut used, mut peer_ended, mut failed) = (0, false, None);
    let written = loop {
        // Of a connection that failed, only the alert that tells of it is of interest.
        if failed.is_some() && !connection.state().wants_write() {
            break None;
        }
        let status = connection.process(&mut received[used..]);
        used += status.discard;
        match status.state {
            Ok(ConnectionState::EncodeTlsData(mut data)) => {
                sealed.append_with(|memory| match data.encode(memory) {
                    Ok(encoded) => Ok(encoded),
                    Err(EncodeError::InsufficientSize(error)) => Err(error.required_size),
                    Err(EncodeError::AlreadyEncoded) => Ok(0),
                });
            }
            // It is in `sealed`, whose order is kept.
            Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
            Err(error) => failed = Some(error),
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(Ok(record)) = traffic.next_record() {
                    used += record.discard;
                    sink.take(record.payload);
                }
                if sink.is_full() {
                    break None;
                }
            }
            Ok(ConnectionState::PeerClosed) => peer_ended = true,
            Ok(ConnectionState::WriteTraffic(mut traffic)) => break Some(write(&mut traffic)),
            // It waits for the peer, or both have ended. Early data is not agreed to.
            Ok(_) => break None,
        }
    };
    Progress {
        used,
        peer_ended,
        result: failed.map_or(Ok(written), Err),
    }
}

/// Where decrypted bytes go: to the reader, and what it has no room for to `rest`.
struct Sink<'a> {
    buffer: &'a mut [u8],
    filled: usize,
    rest: &'a mut Waiting,
    /// It can be full. Else it takes all that there is.
    bounded: bool,
}

impl<'a> Sink<'a> {
    fn new(buffer: &'a mut [u8], rest: &'a mut Waiting, bounded: bool) -> Self {
        Self {
            buffer,
            filled: 0,
            rest,
            bounded,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let space = &mut self.buffer[self.filled..];
        let (fits, rest) = bytes.split_at(bytes.len().min(space.len()));
        space[..fits.len()].copy_from_slice(fits);
        self.filled += fits.len();
        self.rest.append(rest);
    }

    fn is_full(&self) -> bool {
        self.bounded
            && (!self.rest.is_empty() || self.filled > 0 && self.filled == self.buffer.len())
    }
}

/// Bytes that wait, and memory only while there are any.
#[derive(Default)]
struct Waiting {
    memory: Vec<u8>,
    start: usize,
}

impl Waiting {
    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..]
    }

    fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    fn append(&mut self, bytes: &[u8]) {
        self.memory.extend_from_slice(bytes);
    }

    /// Appends what `write` puts into the memory that it is given, of the size that it asks for with its error.
    fn append_with(&mut self, mut write: impl FnMut(&mut [u8]) -> Result<usize, usize>) {
        let end = self.memory.len();
        if let Err(size) = write(&mut []) {
            self.memory.resize(end + size, 0);
            let written = write(&mut self.memory[end..]).unwrap_or(0);
            self.memory.truncate(end + written);
        }
    }

    fn consume(&mut self, count: usize) {
        self.start += count;
        if self.start == self.memory.len() {
            *self = Self::default();
        }
    }
}

/// Why receiving failed.
enum Failed {
    Io(io::Error),
    Tls(rustls::Error),
}

fn failure(error: rustls::Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

fn invalid(text: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

/// Anyone on the path can end a TCP connection, so an end that the peer has not signed is none (RFC 8446 section 6.1).
fn truncated() -> io::Error {
    let text = "the connection ended without a TLS close_notify: it may be cut short";
    io::Error::new(ErrorKind::UnexpectedEof, text)
}
