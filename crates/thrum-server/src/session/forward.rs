//! Sessions for programs behind the server, CGI and upstreams, in header fields.
//!
//! | field | in a request to the program | in its response |
//! |---|---|---|
//! | `X-Session-Id` | what the session is known by, if there is one | |
//! | `X-Session-User` | who has logged in | who logs in, which gives the session a new id |
//! | `X-Session-Data` | its data, a JSON object in ASCII | an object whose values are set; `null` removes one |
//! | `X-Session-End` | | whatever it says, the session ends |
//!
//! None of them passes from or to the client.

use http::{HeaderMap, HeaderName, HeaderValue, Response};
use serde_json::{Map, Value};
use thrum_http::Body;

use super::{Session, SessionError};

const ID: HeaderName = HeaderName::from_static("x-session-id");
const USER: HeaderName = HeaderName::from_static("x-session-user");
const DATA: HeaderName = HeaderName::from_static("x-session-data");
const END: HeaderName = HeaderName::from_static("x-session-end");

/// Removes a client's fields that only we may set, however CGI would spell them.
pub fn strip(headers: &mut HeaderMap) {
    let ours = b"x-session-";
    let is_ours = |name: &HeaderName| {
        let begin = name.as_str().as_bytes().get(..ours.len());
        begin.is_some_and(|begin| {
            let mut pairs = begin.iter().zip(ours);
            pairs.all(|(a, b)| a == b || (*a == b'_' && *b == b'-'))
        })
    };
    let forged: Vec<_> = headers
        .keys()
        .filter(|name| is_ours(name))
        .cloned()
        .collect();
    for name in forged {
        headers.remove(name);
    }
}

/// Sets the request's fields. Gives who has logged in.
pub(super) async fn announce(
    session: &Session,
    headers: &mut HeaderMap,
) -> Result<Option<String>, SessionError> {
    let user = session.user().await?;
    if let Some(id) = session.id().await? {
        set(headers, ID, id);
        set(headers, DATA, ascii(&Value::Object(session.data().await?)));
        if let Some(user) = &user {
            set(headers, USER, user.clone());
        }
    }
    Ok(user)
}

/// Does what the response's fields say, and removes them.
pub(super) async fn obey(
    session: &Session,
    response: &mut Response<Body>,
) -> Result<(), SessionError> {
    let headers = response.headers_mut();
    let (user, data) = (headers.remove(USER), headers.remove(DATA));
    let ends = headers.contains_key(END);
    strip(headers);
    if ends {
        session.destroy().await?;
    }
    if let Some(user) = user {
        match std::str::from_utf8(user.as_bytes()) {
            Ok("") => {}
            Ok(user) => session.log_in(user).await?,
            Err(_) => tracing::warn!("an X-Session-User of a response is no UTF-8"),
        }
    }
    if let Some(data) = data {
        match serde_json::from_slice::<Map<String, Value>>(data.as_bytes()) {
            Ok(data) => {
                for (name, value) in data {
                    match value {
                        Value::Null => session.remove(&name).await?,
                        value => session.set(&name, value).await?,
                    }
                }
            }
            Err(error) => {
                tracing::warn!("an X-Session-Data of a response is no JSON object: {error}")
            }
        }
    }
    Ok(())
}

/// Whether the response says something of the session.
pub(super) fn speaks(response: &Response<Body>) -> bool {
    let headers = response.headers();
    [ID, USER, DATA, END]
        .iter()
        .any(|name| headers.contains_key(name))
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: String) {
    match HeaderValue::try_from(value) {
        Ok(value) => drop(headers.insert(name, value)),
        Err(_) => tracing::warn!("{name} would have a control character, and is not sent"),
    }
}

/// JSON in which what is not ASCII is escaped.
fn ascii(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii() && c != '\x7f' {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forged_fields_go() {
        let mut headers = HeaderMap::new();
        for name in [
            "x-session-id",
            "x-session-user",
            "x-session-anything",
            "x_session_user",
            "x-session_data",
        ] {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static("forged"),
            );
        }
        for name in ["x-session", "x-sessions", "session-id", "x-other"] {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static("kept"),
            );
        }
        strip(&mut headers);
        assert_eq!(headers.len(), 4);
        assert!(headers.values().all(|value| value == "kept"));
    }

    #[test]
    fn data_are_ascii() {
        let value = serde_json::json!({ "name": "Zo\u{eb} \u{1f600}" });
        let text = ascii(&value);
        assert!(text.is_ascii());
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
