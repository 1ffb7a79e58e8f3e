//! What went wrong, and in which stage.

use std::borrow::Cow;
use std::{fmt, io};

/// What a source, a stage or a sink answers.
///
/// Code that does other I/O too answers [`io::Result`], or a box of any error: `?` makes those of ours.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, with the name of the source, stage or sink in which it did.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let long = source::reader(&b"a line that is longer\n"[..]);
/// let error = long.pipe(stage::lines(10)).run(sink::count()).await.unwrap_err();
/// assert_eq!(error.to_string(), "lines: longer than 10 bytes");
/// # });
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    stage: Cow<'static, str>,
    cause: Cause,
}

/// Why a pipeline failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The operating system or the other side.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line, frame, value or window is longer than it may be.
    #[error("longer than {limit} {unit}")]
    TooLong {
        /// The most there may be.
        limit: u64,
        /// Of what: `"bytes"`, `"items"`.
        unit: &'static str,
    },
    /// The input is not what it should be; the text says where and how.
    #[error("{0}")]
    Malformed(String),
    /// The source ended before all was there.
    #[error("the input ends too early: {0}")]
    Truncated(&'static str),
    /// Nothing came for this long.
    #[error("nothing came for {0:?}")]
    TimedOut(std::time::Duration),
    /// What the code that was given to a stage says.
    #[error(transparent)]
    Other(#[from] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// An error in the stage of this name.
    pub fn new(stage: impl Into<Cow<'static, str>>, cause: impl Into<Cause>) -> Self {
        Error(Box::new(Inner {
            stage: stage.into(),
            cause: cause.into(),
        }))
    }

    /// More than `limit` bytes.
    pub(crate) fn too_long(stage: &'static str, limit: usize) -> Self {
        let limit = limit as u64;
        Error::new(
            stage,
            Cause::TooLong {
                limit,
                unit: "bytes",
            },
        )
    }

    /// An I/O error with what it is about, a path or a program, in its text.
    pub(crate) fn about(stage: &'static str, what: impl fmt::Display, error: io::Error) -> Self {
        Error::new(
            stage,
            io::Error::new(error.kind(), format!("{what}: {error}")),
        )
    }

    /// What code that was given to the stage `stage` says. One of our own errors stays as it is, and so does a cause.
    pub(crate) fn of_user(
        stage: &'static str,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let error = match error.into().downcast::<Error>() {
            Ok(ours) => return *ours,
            Err(error) => error,
        };
        let cause = error.downcast::<Cause>().map(|cause| *cause);
        let cause = cause.or_else(|error| error.downcast::<io::Error>().map(|io| Cause::Io(*io)));
        Error::new(stage, cause.unwrap_or_else(Cause::Other))
    }

    /// The name of the source, stage or sink.
    pub fn stage(&self) -> &str {
        &self.0.stage
    }

    /// Why it failed.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// The cause alone.
    pub fn into_cause(self) -> Cause {
        self.0.cause
    }

    /// The same in a stage of that name.
    pub(crate) fn in_stage(mut self, name: Cow<'static, str>) -> Self {
        self.0.stage = name;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.stage, self.0.cause)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("stage", &self.0.stage)
            .field("cause", &self.0.cause)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The text of the cause is part of this one's.
        std::error::Error::source(&self.0.cause)
    }
}

/// For `?` in code that answers with [`io::Result`]: an I/O error keeps its kind.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.cause() {
            Cause::Io(cause) => cause.kind(),
            Cause::TooLong { .. } | Cause::Malformed(_) => io::ErrorKind::InvalidData,
            Cause::Truncated(_) => io::ErrorKind::UnexpectedEof,
            Cause::TimedOut(_) => io::ErrorKind::TimedOut,
            Cause::Other(_) => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}
