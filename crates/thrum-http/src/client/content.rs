//! Bodies of common kinds: forms, and JSON behind the feature `json`.

use std::fmt::Write;

use http::header::{CONTENT_TYPE, HeaderValue};
use thrum_parse::uri::encode;

use super::RequestBuilder;

impl RequestBuilder {
    /// Sets the body to the fields of a form, as a browser sends them (`application/x-www-form-urlencoded`).
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), thrum_http::client::Error> {
    /// # let client = thrum_http::Client::new();
    /// client.post("http://example.com/login").form(&[("user", "ann"), ("word", "a&b")]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn form<K: AsRef<str>, V: AsRef<str>>(self, fields: &[(K, V)]) -> Self {
        let mut body = String::new();
        for (name, value) in fields {
            let separator = if body.is_empty() { "" } else { "&" };
            let (name, value) = (encode(name.as_ref()), encode(value.as_ref()));
            let _ = write!(body, "{separator}{name}={value}"); // a String takes all
        }
        self.body(body).typed("application/x-www-form-urlencoded")
    }

    /// Sets the body to `value` as JSON.
    #[cfg(feature = "json")]
    pub fn json<T: serde::Serialize + ?Sized>(self, value: &T) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => self.body(body).typed("application/json"),
            Err(error) => self.fail(error),
        }
    }

    /// Says what the body is, unless the request does already.
    fn typed(self, kind: &'static str) -> Self {
        self.change(|request| {
            let headers = request.headers_mut();
            headers
                .entry(CONTENT_TYPE)
                .or_insert(HeaderValue::from_static(kind));
            Ok(())
        })
    }
}

#[cfg(feature = "json")]
impl super::Response {
    /// All of the body as JSON, whatever `Content-Type` says.
    ///
    /// ```no_run
    /// use std::collections::HashMap;
    ///
    /// # async fn example() -> Result<(), thrum_http::client::Error> {
    /// let ages: HashMap<String, u32> = thrum_http::get("http://example.com/ages").await?.json().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`bytes`](Self::bytes); and when it is not JSON, or not what makes a `T`.
    pub async fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, super::Error> {
        let url = self.url().clone();
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| super::Error::new(super::Phase::Response, error).with_url(&url))
    }
}
