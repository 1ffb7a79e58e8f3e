//! Notes in SQLite, which blocks whoever calls it, called straight from the handlers. `sqlite [ADDRESS]`, default
//! 127.0.0.1:8080. The notes are in the file that NOTES names, default `notes.db`.
//!
//! ```text
//! curl -d 'buy milk' localhost:8080/notes
//! curl localhost:8080/notes localhost:8080/notes/1
//! curl localhost:8080/slow/10000000        # meanwhile the others are served
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use thrum::http::router::{IntoResponse, Json, ParamError, Params, Router, plain};
use thrum::http::{Body, Request, Response, StatusCode};
use thrum::net::TcpListener;
use thrum::stream::Bytes;
use thrum_examples::address;

const USAGE: &str =
    "usage: sqlite [ADDRESS]    default 127.0.0.1:8080; NOTES=FILE, default notes.db";

#[thrum::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = address(USAGE, "127.0.0.1:8080");
    let notes = Notes::open(std::env::var("NOTES").unwrap_or("notes.db".to_owned()))?;
    let (list, create, show, slow) = (notes.clone(), notes.clone(), notes.clone(), notes);
    let router = Router::new()
        .get("/notes", plain(move |_: Request<Bytes>| list.list()))
        .post(
            "/notes",
            plain(move |note: Request<Bytes>| create.create(note.body())).body_limit(10_000),
        )
        .get(
            "/notes/{id}",
            plain(move |_: Request<Bytes>, id: Params| show.show(id.parse("id")?)),
        )
        .get(
            "/slow/{n}",
            plain(move |_: Request<Bytes>, n: Params| slow.count_to(n.parse("n")?)),
        );
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/", listener.local_addr()?);
    Ok(thrum::http::serve(listener, router).await?)
}

/// The notes, by as many connections as are used at the same time: one is opened when none is idle.
#[derive(Clone)]
struct Notes {
    path: String,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Notes {
    fn open(path: String) -> rusqlite::Result<Self> {
        let notes = Self {
            path,
            idle: Arc::default(),
        };
        notes.with(|database| {
            // Readers and a writer do not wait for one another.
            database.pragma_update(None, "journal_mode", "wal")?;
            database.execute_batch(
                "create table if not exists notes (id integer primary key, text text not null)",
            )
        })?;
        Ok(notes)
    }

    fn with<R>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<R>,
    ) -> rusqlite::Result<R> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let connection = taken.map_or_else(|| Connection::open(&self.path), Ok)?;
        let result = query(&connection);
        idle().push(connection);
        result
    }

    fn list(&self) -> Result<Json<Vec<i64>>, Failed> {
        let ids = self.with(|database| {
            let mut query = database.prepare("select id from notes order by id limit 1000")?;
            query.query_map([], |row| row.get(0))?.collect()
        });
        Ok(Json(ids?))
    }

    fn create(&self, text: &[u8]) -> Result<(StatusCode, Json<Value>), Failed> {
        let text = std::str::from_utf8(text).map_err(|_| Failed::NotText)?;
        let id = self.with(|database| {
            database.execute("insert into notes (text) values (?)", [text])?;
            Ok(database.last_insert_rowid())
        });
        Ok((StatusCode::CREATED, Json(json!({ "id": id? }))))
    }

    fn show(&self, id: i64) -> Result<String, Failed> {
        let text = self.with(|database| {
            let query = "select text from notes where id = ?";
            database.query_row(query, [id], |row| row.get(0)).optional()
        });
        text?.ok_or(Failed::NotFound)
    }

    /// Keeps SQLite busy: some seconds for ten million.
    fn count_to(&self, n: u32) -> Result<String, Failed> {
        let count: i64 = self.with(|database| {
            let query = "with recursive c(n) as (select 1 union all select n + 1 from c where n < ?) select count(*) from c";
            database.query_row(query, [n], |row| row.get(0))
        })?;
        Ok(format!("{count}\n"))
    }
}

/// Why there is no answer; it is one itself.
enum Failed {
    NotFound,
    NotText,
    Path(ParamError),
    Database(rusqlite::Error),
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response<Body> {
        match self {
            Failed::NotFound => (StatusCode::NOT_FOUND, "there is no such note\n").into_response(),
            Failed::NotText => (StatusCode::BAD_REQUEST, "a note is UTF-8\n").into_response(),
            Failed::Path(error) => error.into_response(),
            Failed::Database(error) => {
                eprintln!("{error}");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

impl From<ParamError> for Failed {
    fn from(error: ParamError) -> Self {
        Failed::Path(error)
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Failed::Database(error)
    }
}
