//! Header field values: what each grammar takes and refuses, by tables; and what is true of all of them, by properties.

/// Each value reads, is written as the second one, and that reads as equal.
macro_rules! good {
    ($type:ty, $table:expr) => {
        for (value, written) in $table {
            let read = <$type>::parse(value.as_bytes());
            let read = read.unwrap_or_else(|error| panic!("{value:?}: {error}"));
            let bytes = read.to_bytes();
            assert_eq!(String::from_utf8_lossy(&bytes), written, "of {value:?}");
            assert_eq!(<$type>::parse(&bytes).as_ref(), Ok(&read), "of {value:?}");
        }
    };
}

/// Each value is refused for this reason at this byte.
macro_rules! bad {
    ($type:ty, $table:expr) => {
        for (value, fault, at) in $table {
            let error = ValueError { fault, at };
            assert_eq!(
                <$type>::parse(value.as_bytes()).err(),
                Some(error),
                "{value:?}"
            );
        }
    };
}

mod accept;
mod cookies;
mod credentials;
mod date;
mod disposition;
mod forwarded;
mod framing;
mod media_type;
mod properties;
mod syntax;
mod validators;
