//! An axum router of fifty routes, as an API of ten kinds of things has: written for no runtime in particular.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

const KINDS: [&str; 10] = [
    "articles",
    "authors",
    "carts",
    "comments",
    "customers",
    "invoices",
    "orders",
    "payments",
    "products",
    "reviews",
];

/// What the handlers share.
struct Shop {
    name: String,
}

type Shared = State<Arc<Shop>>;

#[derive(Deserialize)]
struct Page {
    from: u32,
    count: u32,
}

#[derive(Deserialize, Serialize)]
struct Thing {
    name: String,
    price: u32,
    tags: Vec<String>,
}

#[derive(Serialize)]
struct Stored {
    id: u64,
    shop: String,
    #[serde(flatten)]
    thing: Thing,
}

/// The whole application.
pub(crate) fn router() -> Router {
    let mut router = Router::new();
    for kind in KINDS {
        router = router
            .route(&format!("/api/{kind}"), get(list).post(create))
            .route(&format!("/api/{kind}/{{id}}"), get(one))
            .route(&format!("/api/{kind}/{{id}}/name"), get(name))
            .route(&format!("/api/{kind}/{{id}}/parts"), get(list))
            .route(&format!("/api/{kind}/{{id}}/parts/{{part}}"), get(part));
    }
    router
        .layer(middleware::from_fn(versioned))
        .with_state(Arc::new(Shop {
            name: "Warp and weft".into(),
        }))
}

/// The middleware: says which version of the API answered.
async fn versioned(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let version = HeaderValue::from_static("1");
    response.headers_mut().insert("x-api-version", version);
    response
}

async fn list(Query(page): Query<Page>) -> Json<Vec<u32>> {
    Json((page.from..page.from.saturating_add(page.count.min(100))).collect())
}

async fn create(State(shop): Shared, Json(thing): Json<Thing>) -> (StatusCode, Json<Stored>) {
    (StatusCode::CREATED, Json(stored(&shop, 1, thing)))
}

async fn one(State(shop): Shared, Path(id): Path<u64>) -> Json<Stored> {
    let thing = Thing {
        name: "A yard of ribbon".into(),
        price: 250,
        tags: vec!["silk".into(), "red".into()],
    };
    Json(stored(&shop, id, thing))
}

async fn name(State(shop): Shared, Path(id): Path<u64>) -> String {
    format!("{id} of {}\r\n", shop.name)
}

async fn part(Path((id, part)): Path<(u64, String)>) -> String {
    format!("{part} of {id}\r\n")
}

fn stored(shop: &Shop, id: u64, thing: Thing) -> Stored {
    let shop = shop.name.clone();
    Stored { id, shop, thing }
}
