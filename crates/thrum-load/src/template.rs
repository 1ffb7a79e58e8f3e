//! Text with places that are filled anew for each request: `{n}`, `{random:1..100}`, `{uuid}`.

use std::fmt::Write as _;

/// A text with places to fill. Braces around anything else are just braces, so that JSON needs no escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The number of the request, from 0.
    Number,
    /// A number from the first to the last.
    Random(u64, u64),
    /// A random UUID, version 4 (RFC 9562).
    Uuid,
}

/// What places are filled with.
pub(crate) struct Values<'a> {
    pub(crate) number: u64,
    pub(crate) random: &'a mut fastrand::Rng,
}

impl Template {
    pub(crate) fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        let mut plain = String::new();
        while let Some(open) = rest.find('{') {
            let (before, after) = rest.split_at(open);
            plain.push_str(before);
            match after[1..]
                .split_once('}')
                .and_then(|(name, left)| Some((place(name)?, left)))
            {
                Some((piece, left)) => {
                    if !plain.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    }
                    pieces.push(piece);
                    rest = left;
                }
                None => {
                    plain.push('{');
                    rest = &after[1..];
                }
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Self(pieces)
    }

    /// Whether there is nothing to fill.
    pub(crate) fn is_fixed(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(_)))
    }

    pub(crate) fn fill(&self, values: &mut Values<'_>) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            // Writing to a string cannot fail.
            let _ = match piece {
                Piece::Text(plain) => text.write_str(plain),
                Piece::Number => write!(text, "{}", values.number),
                Piece::Random(from, to) => write!(text, "{}", values.random.u64(from..=to)),
                Piece::Uuid => {
                    let random = values.random.u128(..);
                    let bits = random & !(0xf000 << 64) & !(0xc << 60) | 0x4000 << 64 | 0x8 << 60;
                    let hex = format!("{bits:032x}");
                    let (a, b, c, d) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20]);
                    write!(text, "{a}-{b}-{c}-{d}-{}", &hex[20..])
                }
            };
        }
        text
    }
}

/// The place of that name, if there is one.
fn place(name: &str) -> Option<Piece> {
    match name {
        "n" => Some(Piece::Number),
        "uuid" => Some(Piece::Uuid),
        _ => {
            let (from, to) = name.strip_prefix("random:")?.split_once("..")?;
            let (from, to) = (from.parse().ok()?, to.parse().ok()?);
            (from <= to).then_some(Piece::Random(from, to))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str, number: u64) -> String {
        let mut random = fastrand::Rng::with_seed(7);
        Template::new(text).fill(&mut Values {
            number,
            random: &mut random,
        })
    }

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        assert_eq!(fill("/items/{n}?page={n}", 42), "/items/42?page=42");
        let json = r#"{"id": {n}, "tags": {"a": "{b}"}, "open": "{"}"#;
        assert_eq!(
            fill(json, 1),
            r#"{"id": 1, "tags": {"a": "{b}"}, "open": "{"}"#
        );
        for same in [
            "{random:5..1}",
            "{random:x}",
            "{N}",
            "{",
            "}",
            "",
            "{}",
            "{{}",
        ] {
            assert_eq!(fill(same, 0), same);
            assert!(Template::new(same).is_fixed());
        }
        assert!(!Template::new("{{n}}").is_fixed());
        assert_eq!(fill("{{n}}", 3), "{3}");
    }

    #[test]
    fn random_places_keep_to_their_bounds_and_form() {
        for _ in 0..100 {
            let number: u64 = fill("{random:10..12}", 0).parse().unwrap();
            assert!((10..=12).contains(&number));
        }
        let uuid = fill("{uuid}", 0);
        let groups: Vec<_> = uuid.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12]);
        assert!(uuid[14..].starts_with('4'), "{uuid}");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
    }
}
