//! What the twins share.

/// The numbers on the command line.
pub fn numbers<const N: usize>() -> [usize; N] {
    let given: Option<Vec<usize>> = std::env::args()
        .skip(1)
        .map(|word| word.parse().ok())
        .collect();
    given
        .and_then(|given| given.try_into().ok())
        .unwrap_or_else(|| {
            eprintln!("usage: as many numbers as the first line of the source says");
            std::process::exit(2);
        })
}
