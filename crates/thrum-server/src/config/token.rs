//! The configuration's words: where one begins and ends, and what it says.

use thrum_parse::{
    ByteSet, In, Need, Parsed, Parser, Reason, Stop, byte, choice, class, dispatch, end_of_line,
    many_count, skip, tag, take_while, take_while1,
};

/// What a line is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word that has no quotes.
    Bare,
    /// A string, with its escapes replaced.
    Quoted(String),
    /// `{` at the start of a word.
    Open,
    /// `}` that no `{` of its word asked for.
    Close,
    /// The end of a line.
    Newline,
    /// `;`
    Semicolon,
    /// From `#` to the end of the line.
    Comment,
}

/// What may be wrong inside of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// A string without its closing quote on its line.
    Unclosed,
    /// A backslash before something that is no escape.
    Escape,
    /// A quote inside of a bare word, or right behind a string.
    Quote,
    /// A control character.
    Control,
}

impl Mistake {
    const ALL: [Self; 4] = [Self::Unclosed, Self::Escape, Self::Quote, Self::Control];

    /// Which one a parser stopped for.
    pub(super) fn of(stop: Stop) -> Self {
        let number = match stop {
            Stop::Fail { reason, .. } | Stop::Cut { reason, .. } => reason,
            Stop::Need(_) => return Self::Control,
        };
        let mut all = Self::ALL.into_iter();
        all.find(|&mistake| Reason::from(mistake) == number)
            .unwrap_or(Self::Control)
    }
}

impl From<Mistake> for Reason {
    fn from(mistake: Mistake) -> Self {
        Self::Grammar(mistake as u8)
    }
}

/// What a bare word may have anywhere: all that is visible but `{`, `}`, `;`, `"` and `\`, and all beyond ASCII.
static PLAIN: ByteSet = ByteSet::new()
    .range(b'!', b'~')
    .range(0x80, 0xff)
    .without(b"{};\"\\");

/// What a string may have as it is.
static LITERAL: ByteSet = ByteSet::new()
    .range(b' ', b'~')
    .range(0x80, 0xff)
    .with(b"\t")
    .without(b"\"\\");

/// A text as it is written as a value: as it is if it can be, else in quotes. Dollars are doubled.
pub fn word(text: &str) -> String {
    let text = text.replace('$', "$$");
    let mut input = In::whole(text.as_bytes());
    let is_bare = !text.is_empty() && !text.ends_with('\\');
    if is_bare && token(&mut input) == Ok(Token::Bare) && input.rest().is_empty() {
        return text;
    }
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// Blanks, and backslashes at the end of a line: nothing that ends a statement.
pub(super) fn space(i: &mut In<'_>) -> Parsed<usize> {
    let blank = take_while1(&class::BLANK).value(());
    let continuation = (byte(b'\\'), end_of_line()).value(());
    many_count(0..=usize::MAX, choice((blank, continuation))).parse(i)
}

/// The next token. Space before it has been skipped, and there is at least one byte.
pub(super) fn token(i: &mut In<'_>) -> Parsed<Token> {
    dispatch(|first, i| match first {
        b'\n' | b'\r' => {
            let start = i.position();
            let ended = end_of_line().value(Token::Newline).parse(i);
            // A carriage return alone ends no line.
            ended.map_err(|_| i.fail_at(start, Mistake::Control.into()))
        }
        b';' => skip(1).value(Token::Semicolon).parse(i),
        b'{' => skip(1).value(Token::Open).parse(i),
        b'}' => skip(1).value(Token::Close).parse(i),
        b'#' => take_while(const { &ByteSet::new().with(b"\r\n").not() })
            .value(Token::Comment)
            .parse(i),
        b'"' => quoted.map(Token::Quoted).parse(i),
        _ => bare.value(Token::Bare).parse(i),
    })
    .parse(i)
}

/// `/users/{id}`, `127.0.0.1:80`, `a\b`.
fn bare(i: &mut In<'_>) -> Parsed<()> {
    let start = i.position();
    loop {
        take_while(&PLAIN).parse(i)?;
        match i.rest() {
            [b'{', rest @ ..] => match braces(rest) {
                Some(length) => i.advance(1 + length),
                None => break,
            },
            [b'\\', b'\n', ..] | [b'\\', b'\r', b'\n', ..] => break,
            [b'\\', ..] => i.advance(1),
            [b'"', ..] => return Err(i.fail(Mistake::Quote.into())),
            _ => break,
        }
    }
    match i.position() > start {
        true => Ok(()),
        false => Err(i.fail(Mistake::Control.into())),
    }
}

/// How long it is up to the brace that closes one that was just opened, which must come before the word ends.
fn braces(rest: &[u8]) -> Option<usize> {
    let mut open = 1;
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            byte if !PLAIN.contains(byte) => return None,
            _ => {}
        }
        if open == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// `"a \"string\""`, on one line.
fn quoted(i: &mut In<'_>) -> Parsed<String> {
    let start = i.position();
    byte(b'"').parse(i)?;
    let mut text = Vec::new();
    loop {
        text.extend_from_slice(take_while(&LITERAL).parse(i)?);
        match i.rest() {
            [b'"', ..] => break,
            [b'\\', ..] => text.push(escape.parse(i)?),
            [] | [b'\n' | b'\r', ..] => return Err(i.fail_at(start, Mistake::Unclosed.into())),
            _ => return Err(i.fail(Mistake::Control.into())),
        }
    }
    i.advance(1);
    if i.next_byte() == Some(b'"') || i.next_byte().is_some_and(|next| PLAIN.contains(next)) {
        return Err(i.fail(Mistake::Quote.into()));
    }
    // The file is UTF-8, and escapes stand for ASCII.
    String::from_utf8(text).map_err(|_| i.short(Need::EndOfRun))
}

fn escape(i: &mut In<'_>) -> Parsed<u8> {
    choice((
        tag(b"\\n").value(b'\n'),
        tag(b"\\r").value(b'\r'),
        tag(b"\\t").value(b'\t'),
        tag(b"\\\"").value(b'"'),
        tag(b"\\\\").value(b'\\'),
    ))
    .must(Mistake::Escape)
    .parse(i)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Token, &str)> {
        let mut i = In::whole(text.as_bytes());
        let mut found = Vec::new();
        loop {
            space(&mut i).unwrap();
            let start = i.position();
            if i.rest().is_empty() {
                return found;
            }
            let token = token(&mut i).unwrap();
            found.push((token, &text[start..i.position()]));
        }
    }

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn braces_belong_to_a_word_when_they_are_balanced_in_it() {
        assert_eq!(words("/users/{id} -> /srv"), ["/users/{id}", "->", "/srv"]);
        assert_eq!(words("{ limit 200}"), ["{", "limit", "200", "}"]);
        assert_eq!(words("a{b{c}}d}"), ["a{b{c}}d", "}"]);
        assert_eq!(words("example.com{"), ["example.com", "{"]);
        assert_eq!(words("a{b c}"), ["a", "{", "b", "c", "}"]);
        assert_eq!(words("{root}"), ["{", "root", "}"]);
    }

    #[test]
    fn what_ends_a_statement() {
        assert_eq!(words("a;b # c; d\ne"), ["a", ";", "b", "# c; d", "\n", "e"]);
        assert_eq!(words("a#b /c#d"), ["a#b", "/c#d"]);
        assert_eq!(words("a \\\n  b\\\r\nc"), ["a", "b", "c"]);
        assert_eq!(words("a\\b \\"), ["a\\b", "\\"]);
    }

    #[test]
    fn strings() {
        let quoted = |text: &str| match &tokens(text)[..] {
            [(Token::Quoted(text), _)] => text.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(quoted(r#""a { b; # c""#), "a { b; # c");
        assert_eq!(quoted(r#""\"\\\n\t" "#), "\"\\\n\t");
        assert_eq!(quoted("\"größe\""), "größe");
        assert_eq!(quoted("\"\""), "");
    }

    #[test]
    fn words_are_written_as_they_are_read() {
        assert_eq!(word("/users/{id}"), "/users/{id}");
        assert_eq!(word("a b"), "\"a b\"");
        assert_eq!(word("\"\\\n"), r#""\"\\\n""#);
        for quoted in ["", "{id}", "a;b", "#a", "a{", "a\\", "a b"] {
            assert!(word(quoted).starts_with('"'), "{quoted}");
        }
        assert_eq!(word("$x"), "$$x");
    }

    #[test]
    fn mistakes_are_where_they_are() {
        let mistake = |text: &str| {
            let stop = token(&mut In::whole(text.as_bytes())).unwrap_err();
            (Mistake::of(stop), stop.at().unwrap())
        };
        assert_eq!(mistake("\"abc\nd"), (Mistake::Unclosed, 0));
        assert_eq!(mistake(r#""a\qb""#), (Mistake::Escape, 2));
        assert_eq!(mistake(r#""a"b"#), (Mistake::Quote, 3));
        assert_eq!(mistake(r#"a"b""#), (Mistake::Quote, 1));
        assert_eq!(mistake("\0"), (Mistake::Control, 0));
        assert_eq!(mistake("\r"), (Mistake::Control, 0));
    }
}
