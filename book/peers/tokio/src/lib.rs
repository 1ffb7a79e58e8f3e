//! What the twins share.

use std::error::Error;
use std::str::FromStr;

/// The numbers on the command line.
pub fn numbers<const N: usize>() -> [usize; N] {
    let given: Option<Vec<usize>> = std::env::args()
        .skip(1)
        .map(|word| word.parse().ok())
        .collect();
    given
        .and_then(|given| given.try_into().ok())
        .unwrap_or_else(|| usage())
}

/// A word of the command line.
pub fn argument<T: FromStr>(index: usize) -> T {
    let word = std::env::args().nth(index);
    word.and_then(|word| word.parse().ok())
        .unwrap_or_else(|| usage())
}

fn usage() -> ! {
    eprintln!("usage: as the first line of the source says");
    std::process::exit(2);
}

/// Whatever can go wrong.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;
