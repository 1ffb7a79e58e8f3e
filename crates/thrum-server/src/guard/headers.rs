//! `header`: fields of responses that are set, added or removed.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use thrum_http::Body;

use crate::config::{Arity, Entry, Kind, Problem, Setting, Settings};
use crate::site::{Answer, Building, Handler, Layer, Visit};

/// `header`.
pub(crate) static SETTINGS: &[Setting] = &[Setting {
    arity: Arity::OptionalLast,
    repeats: true,
    ..Setting::new(
        "header",
        &[
            Kind::Choice(&["set", "add", "remove"]),
            Kind::Header,
            Kind::Text("VALUE"),
        ],
        "Changes a field of all responses: `set` puts it in place of what is there, `add` next to it, `remove` takes it away. \
         In the order in which they are written.",
        "header set Cache-Control no-store",
    )
}];

pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

/// Rules that change the fields of responses, in order.
///
/// ```
/// use thrum_server::guard::HeaderRules;
///
/// let rules = HeaderRules::default()
///     .set("x-served-by".parse().unwrap(), "thrum".parse().unwrap())
///     .remove("server".parse().unwrap());
/// # let _ = rules;
/// ```
#[derive(Clone, Debug, Default)]
pub struct HeaderRules {
    rules: Vec<(HeaderName, Rule)>,
}

#[derive(Clone, Debug)]
enum Rule {
    Set(HeaderValue),
    Add(HeaderValue),
    Remove,
}

impl HeaderRules {
    /// Puts a field in place of all of that name.
    #[must_use]
    pub fn set(self, name: HeaderName, value: HeaderValue) -> Self {
        self.with(name, Rule::Set(value))
    }

    /// Puts a field next to those of that name.
    #[must_use]
    pub fn add(self, name: HeaderName, value: HeaderValue) -> Self {
        self.with(name, Rule::Add(value))
    }

    /// Removes all fields of that name.
    #[must_use]
    pub fn remove(self, name: HeaderName) -> Self {
        self.with(name, Rule::Remove)
    }

    /// Changes fields.
    pub fn apply(&self, fields: &mut HeaderMap) {
        for (name, rule) in &self.rules {
            match rule {
                Rule::Set(value) => drop(fields.insert(name, value.clone())),
                Rule::Add(value) => drop(fields.try_append(name, value.clone())),
                Rule::Remove => drop(fields.remove(name)),
            }
        }
    }

    /// Changes a handler's responses.
    pub fn around(self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        Arc::new(Changed {
            rules: Arc::new(self),
            handler,
        })
    }

    fn with(mut self, name: HeaderName, rule: Rule) -> Self {
        self.rules.push((name, rule));
        self
    }
}

struct Changed {
    rules: Arc<HeaderRules>,
    handler: Arc<dyn Handler>,
}

impl Handler for Changed {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let rules = self.rules.clone();
        let answer = self.handler.handle(request, visit);
        answer.map(move |response| rules.apply(response.headers_mut()))
    }
}

/// What says where a message ends, or belongs to the connection.
const FRAMING: &[HeaderName] = &[
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

fn build(
    settings: &Settings,
    handler: Arc<dyn Handler>,
    building: &mut Building<'_>,
) -> Arc<dyn Handler> {
    let mut rules = HeaderRules::default();
    for entry in settings.all("header") {
        rules.rules.extend(rule(entry, building));
    }
    match rules.rules.is_empty() {
        true => handler,
        false => rules.around(handler),
    }
}

fn rule(entry: &Entry, building: &mut Building<'_>) -> Option<(HeaderName, Rule)> {
    let [what, written, value @ ..] = entry.values() else {
        return None;
    };
    let name: HeaderName = building
        .problems
        .check(written.span(), written.text().parse())?;
    if FRAMING.contains(&name) {
        let message = format!("{name} says where a message ends, which the server decides");
        building.problem(Problem::new(written.span(), message));
        return None;
    }
    let rule = match (what.text(), value.first()) {
        ("remove", None) => Rule::Remove,
        ("remove", Some(value)) => {
            let problem = Problem::new(value.span(), "all fields of a name are removed");
            building.problem(problem.label("nothing follows the name"));
            return None;
        }
        (what, None) => {
            let problem = Problem::new(entry.span(), format!("the value of {name} is missing"));
            building.problem(problem.help(format!(
                "write it so: header {what} {} VALUE",
                written.text()
            )));
            return None;
        }
        (what, Some(value)) => {
            let text = HeaderValue::from_str(value.text());
            let text = building.problems.check(value.span(), text)?;
            if what == "set" {
                Rule::Set(text)
            } else {
                Rule::Add(text)
            }
        }
    };
    Some((name, rule))
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::super::testing::{Inner, from, get, now};
    use super::*;

    #[test]
    fn set_add_remove_in_order() {
        let inner = Inner(|_: Request<Body>, _: Visit| {
            let response = Response::builder().header("a", "1").header("a", "2");
            response
                .header("b", "1")
                .body(Body::empty())
                .unwrap()
                .into()
        });
        let name = HeaderName::from_static;
        let value = HeaderValue::from_static;
        let changed = HeaderRules::default()
            .set(name("a"), value("3"))
            .add(name("a"), value("4"))
            .remove(name("b"))
            .add(name("c"), value("5"))
            .around(Arc::new(inner));
        let response = now(changed.handle(get(&[]), from("::1")));
        let all = |name| response.headers().get_all(name).iter().collect::<Vec<_>>();
        assert_eq!(all("a"), ["3", "4"]);
        assert!(all("b").is_empty());
        assert_eq!(all("c"), ["5"]);
    }
}
