//! A Unix socket beside the PID file that takes commands: one line of JSON each way.
//!
//! A successor asks for `listeners` and gets the listening sockets themselves, by `SCM_RIGHTS`; when it serves it says
//! `retire`. Between the two both accept, so no connection is refused; if the successor fails, nothing has changed.
//!
//! Who may command is whoever may open the socket's file, which is its owner's alone, and, as files can be misplaced, only
//! that user and root.

use std::io::{self, BufRead, BufReader, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde_json::Value;

/// Descriptors of one message: the kernel's SCM_MAX_FD.
pub const MOST_DESCRIPTORS: usize = 253;

/// Bytes of a line. Longer ones are refused.
const LINE: usize = 256 * 1024;

/// The socket. Dropping it removes its file, unless a successor has put its own there.
#[derive(Debug)]
pub struct Control {
    path: PathBuf,
    listener: UnixListener,
    inode: u64,
}

impl Control {
    /// The path beside a PID file: `thrum.sock` beside `thrum.pid`.
    pub fn beside(pid_file: &Path) -> PathBuf {
        pid_file.with_extension("sock")
    }

    /// Listens at a path, in the place of whoever did so before: hold the [`PidFile`](super::PidFile) first.
    ///
    /// # Errors
    /// Those of bind(2), chmod(2) and rename(2).
    pub fn bind(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let next = path.with_extension(format!("{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&next);
        let listener = UnixListener::bind(&next)?;
        // Others cannot find it before it is theirs alone: nobody knows the name.
        std::fs::set_permissions(&next, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&next, &path)?;
        let inode = std::fs::symlink_metadata(&path)?.ino();
        Ok(Self {
            path,
            listener,
            inode,
        })
    }

    /// Another descriptor of the socket, to accept with.
    ///
    /// # Errors
    /// When no descriptors are left.
    pub fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if std::fs::symlink_metadata(&self.path).is_ok_and(|there| there.ino() == self.inode) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A conversation with the process that a control socket is of.
#[derive(Debug)]
pub struct Conversation {
    stream: BufReader<UnixStream>,
}

impl Conversation {
    /// Begins one. What is asked is to be answered within `patience`.
    ///
    /// # Errors
    /// `NotFound` or `ConnectionRefused` when no process listens there.
    pub fn connect(path: &Path, patience: Duration) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        Ok(Self {
            stream: BufReader::new(stream),
        })
    }

    /// Sends a command and waits for its answer.
    ///
    /// # Errors
    /// When the process is gone, takes too long, or answers what is no line of JSON.
    pub fn ask(&mut self, command: &Value) -> io::Result<Value> {
        self.say(command)?;
        let mut line = String::new();
        let read = (&mut self.stream).take(LINE as u64).read_line(&mut line)?;
        answer(&line.as_bytes()[..read])
    }

    /// Sends a command whose answer comes with descriptors.
    ///
    /// # Errors
    /// Those of [`ask`](Self::ask).
    pub fn ask_for_descriptors(&mut self, command: &Value) -> io::Result<(Value, Vec<OwnedFd>)> {
        self.say(command)?;
        let stream = self.stream.get_ref();
        let mut line = Vec::new();
        let mut descriptors = Vec::new();
        // The descriptors come with the first byte of the line.
        while !line.ends_with(b"\n") && line.len() < LINE {
            let mut bytes = [0; 4096];
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let received = recvmsg(
                stream,
                &mut [IoSliceMut::new(&mut bytes)],
                &mut ancillary,
                RecvFlags::CMSG_CLOEXEC,
            )?;
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(received) = message {
                    descriptors.extend(received);
                }
            }
            if received.bytes == 0 {
                break;
            }
            line.extend_from_slice(&bytes[..received.bytes]);
        }
        Ok((answer(&line)?, descriptors))
    }

    fn say(&mut self, command: &Value) -> io::Result<()> {
        self.stream.get_mut().write_all(&line_of(command))
    }
}

/// The command in a line that a process was sent; what is wrong with it otherwise, in words for whoever sent it.
///
/// # Errors
/// When it is no object with a `command`.
pub fn command(line: &[u8]) -> Result<(String, Value), String> {
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| format!("this is no line of JSON: {error}"))?;
    match value.get("command").and_then(Value::as_str) {
        Some(command) => Ok((command.to_owned(), value)),
        None => Err("there is no \"command\"".to_owned()),
    }
}

/// A value as a line.
pub fn line_of(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Sends a line with descriptors: duplicates of them come out at the other end.
///
/// # Errors
/// `InvalidInput` beyond [`MOST_DESCRIPTORS`]; `WouldBlock` when the peer has not read what it was sent before.
pub fn send_descriptors(
    stream: impl AsFd,
    answer: &Value,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    if descriptors.len() > MOST_DESCRIPTORS {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let line = line_of(answer);
    let sent = sendmsg(
        stream,
        &[IoSlice::new(&line)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    match sent == line.len() {
        true => Ok(()),
        false => Err(io::ErrorKind::WouldBlock.into()),
    }
}

fn answer(line: &[u8]) -> io::Result<Value> {
    if line.is_empty() {
        let text = "the process has ended the conversation";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
    }
    serde_json::from_slice(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use serde_json::json;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[test]
    fn sockets_change_hands() {
        let folder = tempfile::tempdir().unwrap();
        let path = Control::beside(&folder.path().join("thrum.pid"));
        let control = Control::bind(&path).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let old = thread::spawn({
            let accepting = control.listener().unwrap();
            move || {
                let (stream, _) = accepting.accept().unwrap();
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).unwrap();
                assert_eq!(command(line.as_bytes()).unwrap().0, "listeners");
                send_descriptors(&stream, &json!({"names": ["web"]}), &[listener.as_fd()]).unwrap();
            }
        });
        let mut talk = Conversation::connect(&path, PATIENCE).unwrap();
        let (answer, mut sockets) = talk
            .ask_for_descriptors(&json!({"command": "listeners"}))
            .unwrap();
        old.join().unwrap();
        assert_eq!(answer["names"][0], "web");
        let ours = TcpListener::from(sockets.pop().unwrap());
        assert!(sockets.is_empty());
        let _client = TcpStream::connect(address).unwrap();
        ours.accept().unwrap();
        assert!(talk.ask(&json!({})).is_err(), "the old process is gone");
    }

    #[test]
    fn a_successor_keeps_its_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thrum.sock");
        let old = Control::bind(&path).unwrap();
        let new = Control::bind(&path).unwrap();
        drop(old);
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        Conversation::connect(&path, PATIENCE).unwrap();
        drop(new);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_command_is_said() {
        assert!(
            command(b"reload\n")
                .unwrap_err()
                .contains("no line of JSON")
        );
        assert!(command(b"{}\n").unwrap_err().contains("command"));
        assert_eq!(command(b"{\"command\":\"reload\"}\n").unwrap().0, "reload");
    }
}
