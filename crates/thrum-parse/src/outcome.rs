//! The three results of a parser that is called by hand.

use std::num::NonZeroU32;

use crate::explanation::explained;
use crate::stop::{Need, Stop};
use crate::{ByteSet, Explanation, In, Level, Parser};

/// What came of a parser: a value, the wish for more input, or what is wrong in words.
#[derive(Clone, Debug)]
pub enum Outcome<'a, T> {
    /// It matched.
    Done {
        /// The value.
        value: T,
        /// The bytes behind what matched.
        rest: &'a [u8],
    },
    /// The input is right as far as it goes, and it does not go far enough.
    Partial {
        /// What would bring it further.
        need: Needed,
        /// Whether it would match if this were the end of the input.
        end_allowed: bool,
    },
    /// The input is wrong, whatever may follow.
    Failed(Explanation),
}

/// What a parser waits for. See [`Need`], which is this in 4 bytes.
#[derive(Clone, Debug)]
pub enum Needed {
    /// At least this many more bytes.
    Bytes(NonZeroU32),
    /// A byte that is not in this set, which the run is made of that the end cut short. Or the end of the input.
    Until(&'static ByteSet),
    /// A byte that ends what the end of the buffer cut short, whichever that is. Or the end of the input.
    More,
}

/// Runs `parser` for its value and, where there is none, once more to say why. Meant for people and tests: to parse in a
/// loop, call [`Parser::parse`] and look at the [`Stop`].
///
/// ```
/// use thrum_parse::{In, Needed, Outcome, byte, decimal, run, terminated};
///
/// let line = terminated(decimal::<u8>(), byte(b'\n'));
/// assert!(matches!(run(line, In::partial(b"42\n!")), Outcome::Done { value: 42, rest: b"!" }));
/// let Outcome::Partial { need: Needed::Until(digits), end_allowed } = run(line, In::partial(b"4")) else {
///     panic!("more digits may come");
/// };
/// assert_eq!((digits.to_string().as_str(), end_allowed), ("[0-9]", false));
/// let Outcome::Failed(why) = run(line, In::partial(b"4x")) else {
///     panic!("an x is wrong");
/// };
/// assert_eq!(why.to_string(), "1:2: expected '\\n', found 'x'\n  4x\n   ^");
/// ```
pub fn run<'a, P: Parser<'a>>(parser: P, input: In<'a>) -> Outcome<'a, P::Output> {
    let mut i = input.clone();
    let need = match parser.parse(&mut i) {
        Ok(value) => {
            return Outcome::Done {
                value,
                rest: i.rest(),
            };
        }
        Err(Stop::Need(need)) => need,
        Err(_) => {
            return match explained(&parser, input) {
                Ok((value, rest)) => Outcome::Done { value, rest },
                Err(why) => Outcome::Failed(*why),
            };
        }
    };
    let (buffer, start) = (input.buffer(), input.position());
    let mut ended = In::starting(buffer, start, true, Level::best());
    Outcome::Partial {
        need: match (need, i.run_cut_short()) {
            (Need::Bytes(count), _) => Needed::Bytes(count),
            (Need::EndOfRun, Some(set)) => Needed::Until(set),
            (Need::EndOfRun, None) => Needed::More,
        },
        end_allowed: parser.parse(&mut ended).is_ok(),
    }
}
