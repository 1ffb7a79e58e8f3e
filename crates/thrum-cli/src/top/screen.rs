//! The terminal while it is drawn on: another screen without a cursor, and keys that come one by one.

use std::io::{self, IsTerminal, Read, Write};

use rustix::termios::{self, LocalModes, OptionalActions, Termios};
use thrum_rt::sync::channel::{self, Receiver};

use super::view::Line;

/// The terminal is as it was when this is dropped.
pub(super) struct Screen {
    before: Option<Termios>,
}

impl Screen {
    /// Takes the terminal. A message comes when somebody wants to go.
    pub(super) fn take() -> io::Result<(Self, Receiver<()>)> {
        let (sender, keys) = channel::bounded(1);
        let mut screen = Self { before: None };
        if io::stdin().is_terminal() {
            let before = termios::tcgetattr(io::stdin())?;
            let mut now = before.clone();
            now.local_modes
                .remove(LocalModes::ICANON | LocalModes::ECHO);
            termios::tcsetattr(io::stdin(), OptionalActions::Now, &now)?;
            screen.before = Some(before);
        }
        // It waits for keys until the process ends, which no task may do.
        std::thread::spawn(move || {
            let keys = io::stdin().lock().bytes();
            for key in keys.map_while(Result::ok) {
                if matches!(key, b'q' | b'Q') && sender.try_send(()).is_err() {
                    return;
                }
            }
            // Standard input has ended: signals alone can end it.
            loop {
                std::thread::park();
            }
        });
        screen.write("\x1b[?1049h\x1b[?25l")?;
        Ok((screen, keys))
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        let size = termios::tcgetwinsize(io::stdout()).ok();
        let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
    }

    /// Shows as many lines as there is room for.
    pub(super) fn draw(&mut self, lines: &[Line]) -> io::Result<()> {
        let (columns, rows) = self.size();
        let mut text = String::from("\x1b[H");
        for line in lines.iter().take(rows.saturating_sub(1)) {
            line.write(columns, &mut text);
            // The rest of the line before is not to stay.
            text.pop();
            text.push_str("\x1b[K\n");
        }
        text.push_str("\x1b[J");
        self.write(&text)
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.write("\x1b[?25h\x1b[?1049l");
        if let Some(before) = &self.before {
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}
