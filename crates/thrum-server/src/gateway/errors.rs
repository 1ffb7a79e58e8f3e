//! What a program says on its standard error: lines for the log.

use std::sync::Arc;

/// Bytes of a line; what is longer becomes several.
const LINE: usize = 1024;

/// Lines that one program may write while it answers one request.
const LINES: u32 = 200;

/// Takes what a program says piece by piece, and logs it line by line.
#[derive(Debug)]
pub(crate) struct ErrorLines {
    script: Arc<str>,
    line: Vec<u8>,
    lines: u32,
}

impl ErrorLines {
    /// For the program of that name.
    pub(crate) fn new(script: Arc<str>) -> Self {
        Self {
            script,
            line: Vec::new(),
            lines: 0,
        }
    }

    /// Takes some more.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.lines <= LINES {
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let room = LINE - self.line.len();
            let taken = end.unwrap_or(bytes.len()).min(room);
            self.line.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if let Some(rest) = bytes.strip_prefix(b"\n") {
                bytes = rest;
                self.log();
            } else if self.line.len() == LINE {
                self.log();
            }
        }
    }

    fn log(&mut self) {
        let line = self.line.trim_ascii_end();
        if !line.is_empty() {
            self.lines += 1;
            if self.lines > LINES {
                tracing::warn!(script = %self.script, "it says too much: the rest is left out");
            } else {
                // Escaped, so that it cannot look like lines of the log.
                let text = String::from_utf8_lossy(line);
                tracing::warn!(script = %self.script, "{}", text.escape_debug());
            }
        }
        self.line.clear();
    }
}

impl Drop for ErrorLines {
    fn drop(&mut self) {
        if self.lines <= LINES {
            self.log(); // what has no line end
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(pieces: &[&[u8]]) -> String {
        let written = Written::default();
        let writer = written.clone();
        let log = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(log, || {
            let mut lines = ErrorLines::new("/a.cgi".into());
            pieces.iter().for_each(|piece| lines.push(piece));
        });
        let text = written.0.lock().unwrap().clone();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn lines_however_they_come() {
        assert_eq!(
            logged(&[b"one\ntw", b"o\r\n\n", b"\x1b[31m\xff\"", b" end"]),
            " WARN one script=/a.cgi\n WARN two script=/a.cgi\n \
             WARN \\u{1b}[31m\u{fffd}\\\" end script=/a.cgi\n"
        );
    }

    #[test]
    fn no_end_of_it() {
        let text = logged(&[&[b'x'; 3 * LINE + 5]]);
        let lengths: Vec<_> = text.lines().map(|line| line.matches('x').count()).collect();
        assert_eq!(lengths, [LINE, LINE, LINE, 5]);
        let text = logged(&[&b"again\n".repeat(10_000)]);
        assert_eq!(text.lines().count(), LINES as usize + 1);
        assert!(text.lines().last().unwrap().contains("says too much"));
    }
}
