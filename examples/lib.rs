//! What the programs read from their command lines. A wrong argument is answered with the usage text and exit code 2.

use std::net::{SocketAddr, ToSocketAddrs};

/// The numbers that a program is given, all of them above zero; those left out have a default.
pub fn numbers<const N: usize>(usage: &str, defaults: [usize; N]) -> [usize; N] {
    let arguments = arguments(usage, N);
    let mut numbers = defaults;
    for (number, argument) in numbers.iter_mut().zip(arguments) {
        *number = match argument.parse() {
            Ok(given @ 1..) => given,
            _ => wrong(usage, &format!("{argument:?} is not a number above zero")),
        };
    }
    numbers
}

/// The address that a server is to listen on, its only argument.
pub fn address(usage: &str, default: &str) -> SocketAddr {
    let argument = arguments(usage, 1).pop();
    socket_address(usage, argument.as_deref().unwrap_or(default))
}

/// The address that an argument is.
pub fn socket_address(usage: &str, argument: &str) -> SocketAddr {
    match argument.to_socket_addrs().map(|mut found| found.next()) {
        Ok(Some(address)) => address,
        Ok(None) => wrong(usage, &format!("{argument:?} has no address")),
        Err(error) => wrong(usage, &format!("{argument:?} is not an address: {error}")),
    }
}

/// All that a program is given, at most so many.
pub fn arguments(usage: &str, most: usize) -> Vec<String> {
    let utf8 = |word: std::ffi::OsString| match word.into_string() {
        Ok(word) => word,
        Err(word) => wrong(usage, &format!("{word:?} is not UTF-8")),
    };
    let arguments: Vec<_> = std::env::args_os().skip(1).map(utf8).collect();
    if arguments
        .iter()
        .any(|word| word == "--help" || word == "-h")
    {
        println!("{usage}");
        std::process::exit(0);
    }
    if let Some(surplus) = arguments.get(most) {
        wrong(usage, &format!("{surplus:?} is one argument too many"));
    }
    arguments
}

/// Ends the program: it was called in a wrong way.
pub fn wrong(usage: &str, what: &str) -> ! {
    eprintln!("{what}\n{usage}");
    std::process::exit(2);
}
