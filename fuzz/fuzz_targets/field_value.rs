//! Header field values: no input makes them panic, and what is read, written, reads as equal.
//!
//! The first byte of the input picks the grammar.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use thrum_parse::http::value::*;

/// Runs the grammar of that number, counting from 0.
macro_rules! grammars {
    ($pick:expr, $value:expr; $($type:ty),+ $(,)?) => {{
        let checks: &[fn(&[u8])] = &[$(|value| {
            match <$type>::parse(value) {
                Ok(read) => {
                    shown(&read);
                    let written = read.to_bytes();
                    assert_eq!(<$type>::parse(&written).as_ref(), Ok(&read), "{}", written.escape_ascii());
                }
                Err(error) => assert!(error.at <= value.len()),
            }
        }),+];
        checks[usize::from($pick) % checks.len()]($value);
    }};
}

fuzz_target!(|input: &[u8]| {
    let Some((&pick, value)) = input.split_first() else {
        return;
    };
    grammars!(pick, value;
        Tokens<'_>,
        Text<'_>,
        Parameters<'_>,
        MediaType<'_>,
        Accept<'_>,
        AcceptCharset<'_>,
        AcceptEncoding<'_>,
        AcceptLanguage<'_>,
        HttpDate,
        EntityTags<'_>,
        IfRange<'_>,
        ByteRanges<'_>,
        ContentRange,
        ContentLength,
        TransferEncoding<'_>,
        Expect<'_>,
        Upgrade<'_>,
        CacheControl<'_>,
        Cookies<'_>,
        SetCookie<'_>,
        Forwarded<'_>,
        XForwardedFor<'_>,
        ContentDisposition<'_>,
        Credentials<'_>,
        Challenges<'_>,
    );
    helpers(value);
});

/// All of a value can be shown.
fn shown(value: &impl Debug) {
    assert!(!format!("{value:?}").is_empty());
}

/// What is computed from values, with the input as one.
fn helpers(value: &[u8]) {
    if let Ok(media_type) = MediaType::parse(value) {
        let boundary = media_type.boundary();
        assert!(boundary.is_none_or(|boundary| (1..=70).contains(&boundary.len())));
        assert!(media_type.is(&media_type.essence()));
        media_type.charset();
    }
    if let Ok(disposition) = ContentDisposition::parse(value)
        && let Some(name) = disposition.filename()
    {
        assert!(!name.contains(['/', '\\', '\0']));
        let attachment = ContentDisposition::attachment(&name);
        let again = ContentDisposition::parse(attachment.as_bytes()).unwrap();
        assert_eq!(again.filename(), Some(name));
    }
    if let Ok(ranges) = ByteRanges::parse(value) {
        for range in ranges.iter().filter_map(|range| range.of(1000)) {
            assert!(range.start < range.end && range.end <= 1000);
        }
    }
    if let Ok(control) = CacheControl::parse(value) {
        assert!(
            control
                .seconds("max-age")
                .is_none_or(|seconds| seconds <= 1 << 31)
        );
    }
    if let Ok(languages) = AcceptLanguage::parse(value)
        && let Some(found) = languages.lookup(["en", "de-CH", "zh-Hant"])
    {
        assert!(!languages.is_empty() && !found.is_empty());
    }
    if let Ok(cookies) = Cookies::parse(value) {
        assert!(cookies.iter().all(|cookie| !cookie.value.contains(&b';')));
    }
}
