//! Pages of a real PHP.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use thrum_server::fastcgi::FastCgi;

use crate::support::*;

/// PHP-FPM in the foreground, for as long as this lives.
struct Fpm {
    process: Child,
    socket: PathBuf,
}

impl Drop for Fpm {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> Option<PathBuf> {
    let is_fpm = |name: &str| {
        name.strip_prefix("php-fpm").is_some_and(|rest| {
            rest.bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
        })
    };
    let found = ["/usr/sbin", "/usr/local/sbin", "/usr/bin"]
        .iter()
        .find_map(|folder| {
            let mut entries = std::fs::read_dir(folder).ok()?.flatten();
            entries.find(|entry| entry.file_name().to_str().is_some_and(is_fpm))
        });
    found.map(|entry| entry.path())
}

fn start(programs: &Programs, children: u32) -> Option<Fpm> {
    let Some(program) = program() else {
        skipped("FastCGI with PHP", "php-fpm");
        return None;
    };
    let (socket, config) = (programs.path("fpm.sock"), programs.path("fpm.conf"));
    let text = format!(
        "[global]\nerror_log = {0}\ndaemonize = no\n[www]\nlisten = {1}\npm = static\npm.max_children = {children}\n\
         catch_workers_output = no\nphp_admin_flag[display_errors] = off\n",
        programs.path("fpm.log").display(),
        socket.display()
    );
    std::fs::write(&config, text).unwrap();
    let process = Command::new(program)
        .args(["-n", "-R", "-F", "-y"])
        .arg(&config)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let fpm = Fpm { process, socket };
    wait_for(|| std::os::unix::net::UnixStream::connect(&fpm.socket).ok());
    Some(fpm)
}

const PAGE: &str = "<?php
header('X-From: php');
if (isset($_GET['missing'])) { http_response_code(404); }
if (isset($_GET['away'])) { header('Location: /elsewhere'); exit; }
foreach (['SCRIPT_NAME', 'SCRIPT_FILENAME', 'PATH_INFO', 'REQUEST_URI', 'PHP_SELF', 'DOCUMENT_ROOT', 'HTTP_X_A'] as $name) {
    echo $name, '=', $_SERVER[$name] ?? '-', \"\\n\";
}
echo 'post=', $_POST['a'] ?? '-', ' input=', strlen(file_get_contents('php://input')), \"\\n\";
error_log('said on the side');
";

#[test]
fn a_page() {
    let programs = Programs::new()
        .file("www/index.php", PAGE, 0o644)
        .file("www/sub/page.php", PAGE, 0o644)
        .file("www/style.css", "body {}", 0o644)
        .file("www/broken.php", "<?php this is no PHP", 0o644);
    let Some(fpm) = start(&programs, 2) else {
        return;
    };
    let root = programs.path("www");
    let address = format!("unix:{}", fpm.socket.display());
    // Each for a runtime of its own: connections that are kept belong to the runtime they were made in.
    let app = || FastCgi::new(address.parse().unwrap()).root(&root).unwrap();
    let shown = root.display();
    serve_at("/", app(), |address| {
        let response = get(address, "/sub/page.php/more?x=1");
        assert_eq!(
            (response.status, response.field("x-from")),
            (200, Some("php")),
            "{response:?}"
        );
        assert_eq!(
            response.text(),
            format!(
                "SCRIPT_NAME=/sub/page.php\nSCRIPT_FILENAME={shown}/sub/page.php\nPATH_INFO=/more\n\
                 REQUEST_URI=/sub/page.php/more?x=1\nPHP_SELF=/sub/page.php/more\nDOCUMENT_ROOT={shown}\nHTTP_X_A=-\n\
                 post=- input=0\n"
            )
        );
        assert!(
            get(address, "/")
                .text()
                .starts_with("SCRIPT_NAME=/index.php\n")
        );
        assert_eq!(get(address, "/style.css").text(), "body {}");
        assert_eq!(get(address, "/nothing.php").status, 404);
        assert_eq!(get(address, "/?missing").status, 404);
        let response = get(address, "/?away");
        assert_eq!(
            (response.status, response.field("location")),
            (302, Some("/elsewhere"))
        );
        assert_eq!(get(address, "/broken.php").status, 500);

        let form = "POST / HTTP/1.1\r\nHost: x\r\nX-A: b\r\nContent-Type: application/x-www-form-urlencoded\r\n";
        let response = ask(address, &format!("{form}Content-Length: 3\r\n"), b"a=b");
        assert!(
            response.text().ends_with("HTTP_X_A=b\npost=b input=3\n"),
            "{}",
            response.text()
        );
        let chunked = format!("{form}Transfer-Encoding: chunked\r\n");
        let response = ask(address, &chunked, b"3\r\na=c\r\n0\r\n\r\n");
        assert!(
            response.text().ends_with("post=c input=3\n"),
            "{}",
            response.text()
        );
        // Longer than any buffer on the way.
        let head =
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 3000000\r\n";
        assert!(
            ask(address, head, &[b'x'; 3_000_000])
                .text()
                .ends_with("input=3000000\n")
        );
    });
    serve_at("/", app().fallback("/index.php"), |address| {
        let response = get(address, "/2026/11/a-post/?p=1");
        assert!(response.text().contains("SCRIPT_NAME=/index.php\n"));
        assert!(
            response
                .text()
                .contains("REQUEST_URI=/2026/11/a-post/?p=1\n")
        );
        assert!(response.text().contains("PATH_INFO=-\n"));
    });
}

/// Connections that are kept must not keep those from being answered who wait for a process.
#[test]
fn more_clients_than_processes() {
    let programs =
        Programs::new().file("www/index.php", "<?php usleep(20000); echo 'done';", 0o644);
    let Some(fpm) = start(&programs, 2) else {
        return;
    };
    let address = format!("unix:{}", fpm.socket.display());
    let app = FastCgi::new(address.parse().unwrap())
        .root(programs.path("www"))
        .unwrap();
    serve_at("/", app, |address| {
        let clients: Vec<_> = (0..16)
            .map(|_| {
                std::thread::spawn(move || {
                    (0..5)
                        .map(|_| get(address, "/").text().to_owned())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        for client in clients {
            assert_eq!(client.join().unwrap(), ["done"; 5]);
        }
    });
}
