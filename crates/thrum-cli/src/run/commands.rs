//! The control socket: each connection is a conversation, a line of JSON each way.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::time::Duration;

use serde_json::{Value, json};
use thrum_http::Server;
use thrum_rt::net::{UnixListener, UnixStream};
use thrum_rt::sync::channel::Sender;
use thrum_rt::sync::oneshot;
use thrum_rt::{TaskSet, select, time};
use thrum_server::process::control::{command, line_of, send_descriptors};

use super::events::Event;

/// How long a conversation may be silent.
const SILENCE: Duration = Duration::from_secs(120);

/// Conversations at once. More wait.
const CONVERSATIONS: usize = 16;

/// Bytes of a command.
const LINE: usize = 4096;

/// What every conversation is told of the process when it asks.
#[derive(Clone)]
pub(super) struct Info {
    pub(super) server: Server,
    /// Number, version, configuration, arguments.
    pub(super) fixed: Value,
}

/// Converses with whoever comes.
pub(super) async fn converse(
    listener: std::os::unix::net::UnixListener,
    info: Info,
    events: Sender<Event>,
) {
    let listener = match UnixListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "no commands can be taken"),
    };
    let mut conversations = TaskSet::new();
    loop {
        select! {
            accepted = listener.accept(), if conversations.len() < CONVERSATIONS => {
                match accepted {
                    Ok((stream, _)) => {
                        let (info, events) = (info.clone(), events.clone());
                        conversations.spawn(async move {
                            if let Err(error) = conversation(stream, info, events).await {
                                tracing::debug!(%error, "a conversation broke off");
                            }
                        });
                    }
                    Err(error) => return tracing::error!(%error, "no more commands can be taken"),
                }
            }
            _ = conversations.join_next(), if !conversations.is_empty() => {}
        }
    }
}

async fn conversation(stream: UnixStream, info: Info, events: Sender<Event>) -> io::Result<()> {
    let peer = stream.peer_cred()?;
    if peer.uid != 0 && peer.uid != rustix::process::geteuid().as_raw() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut successor = false;
    while let Some(line) = line(&stream).await? {
        let (command, _) = match command(&line) {
            Ok(command) => command,
            Err(error) => {
                stream.write_all(&line_of(&failed(&error))).await?;
                continue;
            }
        };
        let answer = match &*command {
            "info" => Ok(info.value()),
            "reload" => reload(&events).await,
            "stop" => told(&events, Event::Stop).await,
            "upgrade" => told(&events, Event::Upgrade).await,
            "retire" if successor => {
                successor = false;
                told(&events, Event::Succeeded).await
            }
            "retire" => told(&events, Event::Retire).await,
            "listeners" => {
                let (sender, receiver) = oneshot::channel();
                let _ = events.send(Event::Listeners(sender)).await;
                let Ok(listeners) = receiver.await else { break };
                let names: Vec<_> = listeners.iter().map(|(name, _)| name).collect();
                let descriptors: Vec<_> = listeners.iter().map(|(_, fd)| fd.as_fd()).collect();
                let answer = json!({"ok": true, "names": names});
                successor = true;
                send_descriptors(&stream, &answer, &descriptors)?;
                continue;
            }
            other => Err(format!(
                "there is no command {other:?}; there are info, reload, upgrade, retire, stop"
            )),
        };
        let answer = answer.unwrap_or_else(|error| failed(&error));
        stream.write_all(&line_of(&answer)).await?;
    }
    if successor {
        let _ = events.send(Event::Abandoned).await;
    }
    Ok(())
}

/// The next line; `None` at the end.
async fn line(stream: &UnixStream) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let mut bytes = [0; 512];
        let read = time::timeout(SILENCE, stream.read(&mut bytes)).await;
        match read.map_err(|_| io::Error::from(ErrorKind::TimedOut)) {
            Ok(Ok(0)) | Err(_) => return Ok(None),
            Ok(Ok(read)) => line.extend_from_slice(&bytes[..read]),
            // It is gone.
            Ok(Err(_)) => return Ok(None),
        }
        if line.ends_with(b"\n") {
            return Ok(Some(line));
        }
        if line.len() > LINE {
            return Err(ErrorKind::InvalidData.into());
        }
    }
}

async fn reload(events: &Sender<Event>) -> Result<Value, String> {
    let (sender, receiver) = oneshot::channel();
    let _ = events.send(Event::Reload(Some(sender))).await;
    let said = receiver
        .await
        .map_err(|_| "the process is ending".to_owned())??;
    Ok(json!({"ok": true, "said": said}))
}

async fn told(events: &Sender<Event>, event: Event) -> Result<Value, String> {
    let told = events.send(event).await;
    told.map_err(|_| "the process is ending".to_owned())?;
    Ok(json!({"ok": true}))
}

fn failed(error: &str) -> Value {
    json!({"ok": false, "error": error})
}

impl Info {
    fn value(&self) -> Value {
        let stats = self.server.stats();
        let mut value = self.fixed.clone();
        value["ok"] = json!(true);
        value["open"] = json!(stats.open);
        value["requests"] = json!(stats.requests);
        value
    }
}
