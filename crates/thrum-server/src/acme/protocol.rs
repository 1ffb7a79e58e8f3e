//! The requests of ACME (RFC 8555 section 7): account, order, authorizations, certificate.

use std::time::{Duration, Instant};

use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use rcgen::{CertificateParams, DistinguishedName, KeyPair};
use serde_json::{Value, json};
use thrum_http::client::{self, RequestBuilder};
use thrum_rt::time::sleep;

use super::account::{AccountKey, Signer, encode};
use super::challenges::{Challenges, Kind};
use super::{AcmeError, Authority};

/// Bytes of an answer. A chain of certificates is a few KiB.
const ANSWER: usize = 256 * 1024;

/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(30);

/// How long an authority may take to verify a name, and to sign.
const DECISION: Duration = Duration::from_secs(180);

/// How long to wait before asking again, at most.
const BETWEEN: Duration = Duration::from_secs(15);

/// How often a nonce may be refused: it may have been used, or be too old.
const NONCES: usize = 4;

/// An account with an authority.
pub(super) struct Session<'a> {
    authority: &'a Authority,
    key: &'a AccountKey,
    account: String,
    new_nonce: String,
    new_order: String,
    nonce: Option<String>,
}

struct Reply {
    headers: HeaderMap,
    body: Vec<u8>,
}

impl<'a> Session<'a> {
    /// Finds the account of a key, or makes one.
    pub(super) async fn open(
        authority: &'a Authority,
        key: &'a AccountKey,
    ) -> Result<Self, AcmeError> {
        let directory = send(authority.client.get(authority.directory.as_str())).await?;
        let directory = refused(directory).await?.json()?;
        let url = |name: &'static str| text(&directory, name, "a directory with its URLs");
        let mut session = Self {
            authority,
            key,
            account: String::new(),
            new_nonce: url("newNonce")?,
            new_order: url("newOrder")?,
            nonce: None,
        };
        let mut account = json!({"termsOfServiceAgreed": true});
        if let Some(contact) = &authority.contact {
            account["contact"] = json!([format!("mailto:{contact}")]);
        }
        let made = session.post(&url("newAccount")?, Some(&account)).await?;
        session.account = made.location()?;
        Ok(session)
    }

    /// Orders a certificate for names, and returns its chain and the key, both in PEM form.
    pub(super) async fn order(
        &mut self,
        names: &[String],
        kind: Kind,
        challenges: &Challenges,
    ) -> Result<(String, String), AcmeError> {
        let identifiers: Vec<_> = names
            .iter()
            .map(|name| json!({"type": "dns", "value": name}))
            .collect();
        let url = self.new_order.clone();
        let order = self
            .post(&url, Some(&json!({"identifiers": identifiers})))
            .await?;
        let url = order.location()?;
        let order = order.json()?;
        let authorizations = order["authorizations"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for authorization in authorizations {
            let url = authorization
                .as_str()
                .ok_or(AcmeError::Malformed("an authorization"))?;
            self.authorize(url, kind, challenges).await?;
        }

        let (request, key) = certificate_request(names).map_err(|error| {
            AcmeError::Crypto(format!("no certificate can be asked for: {error}"))
        })?;
        let finalize = text(&order, "finalize", "the URL to finalize an order")?;
        let request = json!({"csr": encode(&request)});
        self.post(&finalize, Some(&request)).await?;
        let (order, _) = self
            .decided(&url, &["pending", "ready", "processing"])
            .await?;
        if order["status"] != "valid" {
            return Err(problem(&order["error"], StatusCode::OK, None));
        }
        let certificate = text(&order, "certificate", "the URL of the certificate")?;
        let chain = self.post(&certificate, None).await?;
        let chain = String::from_utf8(chain.body);
        Ok((
            chain.map_err(|_| AcmeError::Malformed("a chain in PEM form"))?,
            key,
        ))
    }

    async fn authorize(
        &mut self,
        url: &str,
        kind: Kind,
        challenges: &Challenges,
    ) -> Result<(), AcmeError> {
        let authorization = self.post(url, None).await?.json()?;
        if authorization["status"] == "valid" {
            return Ok(());
        }
        let name = text(&authorization["identifier"], "value", "the name to prove")?;
        let offered = authorization["challenges"].as_array().into_iter().flatten();
        let offered = offered
            .into_iter()
            .find(|offered| offered["type"] == kind.name());
        let offered = offered.ok_or_else(|| AcmeError::NoChallenge(name.clone()))?;
        let token = text(offered, "token", "a token")?;
        let _answered = challenges.answer(kind, &name, &token, self.key.authorization(&token))?;
        let ready = text(offered, "url", "the URL of a challenge")?;
        self.post(&ready, Some(&json!({}))).await?;
        let (decided, _) = self.decided(url, &["pending"]).await?;
        if decided["status"] == "valid" {
            return Ok(());
        }
        let challenges = decided["challenges"].as_array().into_iter().flatten();
        let detail = challenges
            .filter_map(|challenge| challenge["error"]["detail"].as_str())
            .next();
        Err(AcmeError::Unverified {
            name,
            challenge: kind.name(),
            detail: detail.unwrap_or("it does not say why").to_owned(),
        })
    }

    /// Asks again until the status is another than these.
    async fn decided(&mut self, url: &str, open: &[&str]) -> Result<(Value, HeaderMap), AcmeError> {
        let start = Instant::now();
        let mut wait = Duration::from_millis(250);
        loop {
            let reply = self.post(url, None).await?;
            let value = reply.json()?;
            let status = value["status"].as_str().unwrap_or_default();
            if !open.contains(&status) {
                return Ok((value, reply.headers));
            }
            if start.elapsed() > DECISION {
                return Err(AcmeError::Undecided(DECISION.as_secs()));
            }
            let asked = retry_after(&reply.headers).map(Duration::from_secs);
            sleep(asked.unwrap_or(wait).min(BETWEEN)).await;
            wait = (wait * 2).min(BETWEEN);
        }
    }

    async fn post(&mut self, url: &str, payload: Option<&Value>) -> Result<Reply, AcmeError> {
        let mut left = NONCES;
        loop {
            let nonce = match self.nonce.take() {
                Some(nonce) => nonce,
                None => self.fresh_nonce().await?,
            };
            let signer = match &*self.account {
                "" => Signer::Key,
                account => Signer::Account(account),
            };
            let body = self.key.sign(&signer, &nonce, url, payload)?;
            let mut jose = HeaderMap::new();
            jose.insert(
                CONTENT_TYPE,
                HeaderValue::from_static("application/jose+json"),
            );
            let client = &self.authority.client;
            let response = send(client.post(url).headers(jose).body(body)).await?;
            self.nonce = nonce_of(response.headers());
            left -= 1;
            match refused(response).await {
                Err(AcmeError::Refused { kind, .. }) if kind == "badNonce" && left > 0 => {}
                result => return result,
            }
        }
    }

    async fn fresh_nonce(&self) -> Result<String, AcmeError> {
        let client = &self.authority.client;
        let response = send(client.request(Method::HEAD, self.new_nonce.as_str())).await?;
        nonce_of(response.headers()).ok_or(AcmeError::Malformed("a nonce"))
    }
}

/// Sends a request, which has to say whose it is (RFC 8555 section 6.1).
async fn send(request: RequestBuilder) -> Result<client::Response, client::Error> {
    let agent = HeaderValue::from_static(concat!("thrum/", env!("CARGO_PKG_VERSION")));
    let headers = HeaderMap::from_iter([(USER_AGENT, agent)]);
    request.headers(headers).timeout(REQUEST).send().await
}

/// A request for a certificate in DER form, and its key in PEM form.
fn certificate_request(names: &[String]) -> Result<(Vec<u8>, String), rcgen::Error> {
    let mut params = CertificateParams::new(names.to_vec())?;
    // The names are where they belong; a common name is a thing of the past.
    params.distinguished_name = DistinguishedName::new();
    let key = KeyPair::generate()?;
    let request = params.serialize_request(&key)?;
    Ok((request.der().to_vec(), key.serialize_pem()))
}

/// An answer, or why there is none.
async fn refused(response: client::Response) -> Result<Reply, AcmeError> {
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.limit(ANSWER).bytes().await?;
    if status.is_success() {
        let body = body.to_vec();
        return Ok(Reply { headers, body });
    }
    let value = serde_json::from_slice(&body).unwrap_or_default();
    Err(problem(&value, status, retry_after(&headers)))
}

/// A problem document (RFC 7807).
fn problem(value: &Value, status: StatusCode, retry_after: Option<u64>) -> AcmeError {
    let kind = value["type"].as_str().unwrap_or("unknown");
    AcmeError::Refused {
        kind: kind.rsplit(':').next().unwrap_or(kind).to_owned(),
        detail: value["detail"]
            .as_str()
            .unwrap_or("it does not say why")
            .to_owned(),
        status: status.as_u16(),
        retry_after,
    }
}

impl Reply {
    fn json(&self) -> Result<Value, AcmeError> {
        serde_json::from_slice(&self.body).map_err(|_| AcmeError::Malformed("JSON"))
    }

    fn location(&self) -> Result<String, AcmeError> {
        let location = self
            .headers
            .get(LOCATION)
            .and_then(|value| value.to_str().ok());
        location
            .map(str::to_owned)
            .ok_or(AcmeError::Malformed("a location"))
    }
}

fn text(value: &Value, name: &str, what: &'static str) -> Result<String, AcmeError> {
    let text = value[name].as_str().map(str::to_owned);
    text.ok_or(AcmeError::Malformed(what))
}

fn nonce_of(headers: &HeaderMap) -> Option<String> {
    let nonce = headers.get("replay-nonce")?.to_str().ok()?;
    Some(nonce.to_owned())
}

/// Seconds; authorities do not give dates.
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}
