//! Reading up to an end that the other side chooses, with a limit to how far it may be.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncBufRead, AsyncRead};

/// Sizes of reads of [`read_to_end`]: the first; and the largest, as they double while they come back full.
const FIRST: usize = 4 * 1024;
const LARGEST: usize = 256 * 1024;

/// Appends to `output` what comes up to and including `delimiter`, or up to the end; at most `limit` bytes. Returns how many.
///
/// Dropping the future before it is done loses nothing: what was taken is in `output`, and calling it again goes on from
/// there, with a limit of its own.
///
/// # Errors
/// `FileTooLarge` if the delimiter is not among the first `limit` bytes, which are in `output` then; the reader's own.
pub async fn read_until<R>(
    reader: &mut R,
    delimiter: u8,
    output: &mut Vec<u8>,
    limit: usize,
) -> io::Result<usize>
where
    R: AsyncBufRead + Unpin + ?Sized,
{
    let before = output.len();
    poll_fn(|cx| poll_until(cx, reader, delimiter, output, before, limit)).await?;
    Ok(output.len() - before)
}

/// Goes on reading: `output` has had what came since it was `before` bytes long.
fn poll_until<R>(
    cx: &mut Context<'_>,
    reader: &mut R,
    delimiter: u8,
    output: &mut Vec<u8>,
    before: usize,
    limit: usize,
) -> Poll<io::Result<()>>
where
    R: AsyncBufRead + Unpin + ?Sized,
{
    loop {
        let available = ready!(Pin::new(&mut *reader).poll_fill_buf(cx))?;
        if available.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let left = limit.saturating_sub(output.len() - before);
        if left == 0 {
            return Poll::Ready(Err(too_long(limit)));
        }
        let within = &available[..available.len().min(left)];
        let found = memchr::memchr(delimiter, within);
        let taken = found.map_or(within.len(), |at| at + 1);
        output.extend_from_slice(&within[..taken]);
        Pin::new(&mut *reader).consume(taken);
        if found.is_some() {
            return Poll::Ready(Ok(()));
        }
    }
}

/// Appends to `line` what comes up to and including the line feed, or up to the end; at most `limit` bytes. Returns how
/// many; 0: there are no more lines.
///
/// Dropping the future before it is done loses the part of the line that had come.
///
/// # Errors
/// `FileTooLarge` if the line is longer than `limit` bytes; `InvalidData` if it is not UTF-8; the reader's own. What was read
/// is lost then, and `line` as it was.
pub async fn read_line<R>(reader: &mut R, line: &mut String, limit: usize) -> io::Result<usize>
where
    R: AsyncBufRead + Unpin + ?Sized,
{
    let mut bytes = Vec::new();
    read_until(reader, b'\n', &mut bytes, limit).await?;
    line.push_str(text(&bytes)?);
    Ok(bytes.len())
}

/// The lines of what `reader` gives, each of at most `limit` bytes with its line feed.
pub fn lines<R>(reader: R, limit: usize) -> Lines<R> {
    Lines {
        reader,
        limit,
        partial: Vec::new(),
    }
}

/// What [`lines`] makes.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    limit: usize,
    /// What has come of the next line.
    partial: Vec<u8>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// The next line, without its line feed and a carriage return before that. `None`: there are no more.
    ///
    /// Dropping the future before it is done loses nothing.
    ///
    /// # Errors
    /// `FileTooLarge` if the line is longer than the limit; `InvalidData` if it is not UTF-8; the reader's own. The first two
    /// lose what was read of it.
    pub async fn next_line(&mut self) -> io::Result<Option<String>> {
        let Self {
            reader,
            limit,
            partial,
        } = self;
        let read = poll_fn(|cx| poll_until(cx, reader, b'\n', partial, 0, *limit)).await;
        if let Err(error) = read {
            if error.kind() == io::ErrorKind::FileTooLarge {
                partial.clear();
            }
            return Err(error);
        }
        let bytes = std::mem::take(partial);
        if bytes.is_empty() {
            return Ok(None);
        }
        let line = text(&bytes)?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        Ok(Some(line.strip_suffix('\r').unwrap_or(line).to_owned()))
    }
}

fn text(bytes: &[u8]) -> io::Result<&str> {
    str::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Appends to `output` all that comes up to the end; at most `limit` bytes. Returns how many.
///
/// Dropping the future before it is done loses nothing: what was read is in `output`.
///
/// # Errors
/// `FileTooLarge` if there are more than `limit` bytes; the reader's own. What was read is in `output`.
pub async fn read_to_end<R>(reader: &mut R, output: &mut Vec<u8>, limit: usize) -> io::Result<usize>
where
    R: AsyncRead + Unpin + ?Sized,
{
    let before = output.len();
    let mut room = FIRST;
    poll_fn(|cx| {
        loop {
            let read = output.len() - before;
            // One more than allowed, to tell the end from too much.
            let wanted = room.min((limit - read).saturating_add(1));
            let filled = output.len();
            output.resize(filled + wanted, 0);
            let polled = Pin::new(&mut *reader).poll_read(cx, &mut output[filled..]);
            let more = match &polled {
                Poll::Ready(Ok(more)) => *more,
                _ => 0,
            };
            output.truncate(filled + more.min(limit - read));
            ready!(polled)?;
            if more == 0 {
                return Ok(read).into();
            }
            if more > limit - read {
                return Err(too_long(limit)).into();
            }
            if more == wanted {
                room = (room * 2).min(LARGEST);
            }
        }
    })
    .await
}

fn too_long(limit: usize) -> io::Error {
    let message = format!("more than the {limit} bytes that are allowed");
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}
