//! Numbers: exact where they end, and told where they do not fit.

use proptest::prelude::*;
use thrum_parse::{
    In, Parser, Reason, binary, decimal, float, hexadecimal, octal, scientific, signed, word,
};

fn whole<'a, P: Parser<'a>>(parser: P, text: &'a [u8]) -> Option<P::Output> {
    let mut i = In::whole(text);
    let value = parser.parse(&mut i).ok()?;
    i.rest().is_empty().then_some(value)
}

macro_rules! exact {
    ($($number:ty)+) => {$({
        for number in [<$number>::MIN, <$number>::MAX, 0, 1] {
            let text = number.to_string();
            assert_eq!(whole(signed::<$number>(), text.as_bytes()), Some(number), "{text}");
        }
        // One more in the last digit, or one digit more.
        for number in [<$number>::MIN.to_string(), <$number>::MAX.to_string()] {
            if number == "0" {
                continue;
            }
            let last = number.len() - 1;
            let more = number[last..].parse::<u8>().unwrap() + 1;
            for (text, at) in [(format!("{}{more}", &number[..last]), last), (number.clone() + "0", last + 1)] {
                let stop = signed::<$number>().parse(&mut In::whole(text.as_bytes())).unwrap_err();
                assert_eq!((stop.at(), stop.reason()), (Some(at), Some(Reason::Overflow)), "{text}");
            }
        }
    })+};
}

#[test]
fn integers_are_exact_at_their_limits() {
    exact!(u8 u16 u32 u64 usize i8 i16 i32 i64 i128 isize);
    assert_eq!(whole(signed::<u8>(), b"-0"), Some(0));
    assert_eq!(whole(signed::<u8>(), b"-1"), None);
    let most = u128::MAX.to_string();
    assert_eq!(whole(decimal::<u128>(), most.as_bytes()), Some(u128::MAX));
}

#[test]
fn zeros_in_front_have_an_end() {
    let zeros = |count: usize| [vec![b'0'; count], b"1".to_vec()].concat();
    assert_eq!(whole(decimal::<u8>(), &zeros(63)), Some(1));
    assert_eq!(whole(decimal::<u8>(), &zeros(64)), None);
    assert_eq!(whole(hexadecimal::<u8>(3), &zeros(2)), Some(1));
    assert_eq!(whole(hexadecimal::<u8>(3), &zeros(3)), None);
    assert_eq!(whole(octal::<u8>(2), &zeros(1)), Some(1));
    assert_eq!(whole(binary::<u8>(1), &zeros(1)), None);
}

#[test]
fn only_digits_of_the_base_are_digits() {
    for byte in 0..=255u8 {
        let text = [byte];
        let digit = |base| char::from(byte).to_digit(base);
        assert_eq!(whole(decimal::<u32>(), &text), digit(10));
        assert_eq!(whole(hexadecimal::<u32>(9), &text), digit(16));
        assert_eq!(whole(octal::<u32>(9), &text), digit(8));
        assert_eq!(whole(binary::<u32>(9), &text), digit(2));
    }
}

#[test]
fn what_a_scientific_number_is() {
    for (text, taken) in [
        (&b"0"[..], Some(1)),
        (b"-0.0", Some(4)),
        (b"+12.50e+07x", Some(10)),
        (b"1e5.5", Some(3)),
        (b"1.", Some(1)),
        (b"1.e5", Some(1)),
        (b"1e", Some(1)),
        (b"1e+", Some(1)),
        (b"1.5e-x", Some(3)),
        (b".5", None),
        (b"-", None),
        (b"--1", None),
        (b"e5", None),
        (b"inf", None),
        (b"NaN", None),
        (b"", None),
    ] {
        let mut i = In::whole(text);
        let found = scientific().parse(&mut i).ok().map(<[u8]>::len);
        assert_eq!(found, taken, "{}", text.escape_ascii());
    }
}

#[test]
fn floats_have_a_length_and_a_size() {
    let digits = |count: usize| vec![b'1'; count];
    let most = [b"0.".to_vec(), digits(1022)].concat();
    assert!(whole(float::<f64>(), &most).is_some());
    for text in [
        digits(1025),
        [b"0.".to_vec(), digits(1023)].concat(),
        [b"1e".to_vec(), vec![b'0'; 2000]].concat(),
    ] {
        let stop = float::<f64>().parse(&mut In::partial(&text)).unwrap_err();
        assert_eq!(
            (stop.at(), stop.reason()),
            (Some(1024), Some(Reason::TooLong))
        );
    }
    let reason = |text: &[u8]| {
        float::<f64>()
            .parse(&mut In::whole(text))
            .map_err(|stop| stop.reason())
    };
    assert_eq!(reason(b"1e309"), Err(Some(Reason::Overflow)));
    assert_eq!(reason(&digits(400)), Err(Some(Reason::Overflow)));
    assert_eq!(reason(b"1e-400"), Ok(0.0));
    assert_eq!(
        reason(b"1e99999999999999999999"),
        Err(Some(Reason::Overflow))
    );
}

#[test]
fn words_of_both_orders() {
    let bytes: Vec<u8> = (1..=16).collect();
    assert_eq!(
        whole(word::be::<u128>(), &bytes),
        Some(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10)
    );
    assert_eq!(
        whole(word::le::<u64>(), &bytes[..8]),
        Some(0x0807_0605_0403_0201)
    );
    assert_eq!(
        whole(word::be::<i32>(), &[0xff, 0xff, 0xff, 0xfe]),
        Some(-2)
    );
    assert_eq!(whole(word::be::<f64>(), &1.5f64.to_be_bytes()), Some(1.5));
    let stop = word::be::<u32>()
        .parse(&mut In::whole(&bytes[..3]))
        .unwrap_err();
    assert_eq!(
        (stop.at(), stop.reason()),
        (Some(3), Some(Reason::EndOfInput))
    );
}

proptest! {
    #[test]
    fn integers_are_those_of_the_standard_library(text in "[+-]?[0-9]{1,41}") {
        let bytes = text.as_bytes();
        prop_assert_eq!(whole(signed::<i8>(), bytes), text.parse().ok());
        prop_assert_eq!(whole(signed::<i64>(), bytes), text.parse().ok());
        prop_assert_eq!(whole(signed::<i128>(), bytes), text.parse().ok());
    }

    #[test]
    fn floats_are_those_of_the_standard_library(text in "[+-]?[0-9]{1,20}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?") {
        let finite = |number: f64| number.is_finite().then_some(number);
        prop_assert_eq!(whole(float::<f64>(), text.as_bytes()), text.parse().ok().and_then(finite));
    }

    #[test]
    fn floats_come_back(number: f64) {
        prop_assume!(number.is_finite());
        let text = format!("{number:e}");
        prop_assert_eq!(whole(float::<f64>(), text.as_bytes()).map(f64::to_bits), Some(number.to_bits()));
    }
}

#[test]
fn a_float_that_is_too_long_is_refused_wherever_its_end_is() {
    for digits in [1022, 1023, 1024, 1025, 1026, 3000] {
        for tail in ["", ".5", ".", "e5", "e+5", "e+", ".5e-5", "E-"] {
            let text = "1".repeat(digits) + tail + " ";
            let taken = scientific().parse(&mut In::whole(text.as_bytes()));
            match taken {
                Ok(taken) => assert!(taken.len() <= 1024, "{digits} {tail}"),
                Err(stop) => {
                    assert!(text.len() > 1024, "{digits} {tail}");
                    assert_eq!(
                        (stop.at(), stop.reason()),
                        (Some(1024), Some(Reason::TooLong))
                    );
                }
            }
        }
    }
}
