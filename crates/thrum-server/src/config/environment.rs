//! `$NAME`, `${NAME}` and `${NAME:-default}` in values.

/// What a variable is, if it is set.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Why a value cannot be made: a sentence without a full stop, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unresolved {
    pub(super) message: String,
    pub(super) help: String,
}

/// The variables of the process. What is not UTF-8 is taken for unset.
pub(super) fn process(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A part of a value.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    Variable {
        name: &'a str,
        default: Option<&'a str>,
    },
}

/// Puts variables into a value. `$$` is a dollar. What a variable says is taken as it is: it cannot bring in words,
/// blocks or further variables.
pub(super) fn expand(text: &str, environment: Environment<'_>) -> Result<String, Unresolved> {
    let mut whole = String::with_capacity(text.len());
    for part in parts(text)? {
        match part {
            Part::Text(text) => whole.push_str(text),
            Part::Variable { name, default } => {
                let set = environment(name);
                // An empty variable counts as unset where there is a default, as in a shell.
                let set = set.filter(|set| !(set.is_empty() && default.is_some()));
                match set.as_deref().or(default) {
                    Some(value) => whole.push_str(value),
                    None => {
                        return Err(Unresolved {
                            message: format!("the environment's variable {name} is not set"),
                            help: format!(
                                "set it, or write what else holds: ${{{name}:-default}}; $$ is a dollar"
                            ),
                        });
                    }
                }
            }
        }
    }
    Ok(whole)
}

/// The names of the variables in a value.
pub(super) fn variables(text: &str) -> Vec<&str> {
    let parts = parts(text).unwrap_or_default();
    let names = parts.into_iter().filter_map(|part| match part {
        Part::Text(_) => None,
        Part::Variable { name, .. } => Some(name),
    });
    names.collect()
}

fn parts(text: &str) -> Result<Vec<Part<'_>>, Unresolved> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        parts.push(Part::Text(before));
        if let Some(behind) = behind.strip_prefix('$') {
            parts.push(Part::Text("$"));
            rest = behind;
            continue;
        }
        let (inside, behind) = match behind.strip_prefix('{') {
            Some(braced) => braced
                .split_once('}')
                .ok_or_else(|| malformed("the `}` of `${` is missing"))?,
            None => behind.split_at(name_length(behind)),
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if name.is_empty() || name_length(name) < name.len() {
            return Err(malformed("no name of a variable stands behind this `$`"));
        }
        parts.push(Part::Variable { name, default });
        rest = behind;
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

fn malformed(message: &str) -> Unresolved {
    Unresolved {
        message: message.to_owned(),
        help: "variables are written $NAME, ${NAME} or ${NAME:-default}; $$ is a dollar".to_owned(),
    }
}

/// How many bytes at the start are those of a name.
fn name_length(text: &str) -> usize {
    let name = |&(at, byte): &(usize, u8)| {
        byte == b'_' || byte.is_ascii_alphabetic() || (at > 0 && byte.is_ascii_digit())
    };
    text.bytes().enumerate().take_while(name).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, Unresolved> {
        expand(text, &|name| match name {
            "HOST" => Some("example.com".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("$HOST { }".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn variables_are_put_in() {
        let good = |text| expanded(text).unwrap();
        assert_eq!(good("https://$HOST/x"), "https://example.com/x");
        assert_eq!(good("${HOST}s $$HOST"), "example.coms $HOST");
        assert_eq!(good("${NONE:-a:-b}${HOST:-x}"), "a:-bexample.com");
        assert_eq!(good("[$EMPTY${EMPTY:-e}${NONE:-}]"), "[e]");
        assert_eq!(good("$NESTED"), "$HOST { }");
        assert_eq!(variables("a${B:-c}$D$$E"), ["B", "D"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let bad = |text| expanded(text).unwrap_err().message;
        assert_eq!(bad("$NONE"), "the environment's variable NONE is not set");
        assert!(bad("${HOST").contains("missing"));
        for text in ["$", "$1", "${}", "${A B}", "a$-"] {
            assert!(bad(text).contains("no name"), "{text}");
        }
    }
}
