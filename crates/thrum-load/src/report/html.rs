//! A page about one run, or about several side by side: one file, which needs no other and no script.

use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use thrum_parse::http::value::HttpDate;

use super::charts::{self, colour};
use super::{Run, figures, joined};
use crate::compare::Comparison;
use crate::results::Results;
use crate::units;

const STYLE: &str = include_str!("html.css");

/// The page. Rounds of one load are shown as one run, one round after the other. What is said about how B differs from A
/// stands at its top, if there is a comparison.
pub fn page(runs: &[Run<'_>], comparison: Option<&Comparison>) -> String {
    let joined = joined(runs);
    let runs = joined.iter().map(|(name, results)| Run { name, results });
    let runs: &[Run<'_>] = &runs.collect::<Vec<_>>();
    let mut targets: Vec<_> = runs.iter().map(|run| run.results.target.as_str()).collect();
    targets.dedup();
    let title = escaped(&targets.join(" and "));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>thrum bench: {title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    head(runs, &title, &mut out);
    if let [run] = runs {
        tiles(run.results, &mut out);
    }
    if let Some(comparison) = comparison {
        differences(comparison, &mut out);
    }
    throughput(runs, &mut out);
    latencies(runs, &mut out);
    heat(runs, &mut out);
    figures::table(runs, &mut out);
    let _ = write!(
        out,
        "<p>thrum {}</p>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    out
}

/// Text in HTML, between tags or in an attribute.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn head(runs: &[Run<'_>], title: &str, out: &mut String) {
    let _ = writeln!(out, "<header><h1>{title}</h1>");
    for (at, run) in runs.iter().enumerate() {
        let results = run.results;
        let began =
            HttpDate::from_system_time(UNIX_EPOCH + Duration::from_millis(results.began_ms));
        let plan = results
            .plan
            .iter()
            .map(|(name, value)| format!("{name} {value}"));
        let plan: Vec<_> = std::iter::once(began.to_string()).chain(plan).collect();
        let name = match runs {
            [_] => String::new(),
            _ => key(at, &format!("{}: {}", run.name, results.target)),
        };
        let _ = writeln!(out, "<p>{name}{}</p>", escaped(&plan.join(", ")));
    }
    out.push_str("</header>\n");
    for run in runs {
        for warning in &run.results.warnings {
            let whose = if runs.len() > 1 {
                format!("{}: ", run.name)
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                "<p class=\"warning\">{}</p>",
                escaped(&format!("{whose}{warning}"))
            );
        }
    }
}

fn tiles(results: &Results, out: &mut String) {
    let percentile = |percent: f64| match results.latency.count() {
        0 => "-".to_owned(),
        _ => units::time(results.latency.percentile(percent)),
    };
    let wrong = if results.failed() > 0 {
        " class=\"wrong\""
    } else {
        ""
    };
    let received = results.received_bytes as f64 / results.elapsed_s.max(1e-9);
    let tiles = [
        (units::rate(results.rate()), "requests a second", ""),
        (percentile(50.0), "median latency", ""),
        (percentile(99.0), "99 % within", ""),
        (units::count(results.failed()), "errors", wrong),
        (units::bytes(received), "received a second", ""),
    ];
    out.push_str("<div class=\"tiles\">");
    for (value, what, class) in tiles {
        let _ = write!(out, "<div><b{class}>{value}</b><span>{what}</span></div>");
    }
    out.push_str("</div>\n");
}

fn differences(comparison: &Comparison, out: &mut String) {
    out.push_str(
        "<section><h2>B against A</h2><div class=\"scroll\"><table><thead><tr><th></th>\
         <th class=\"spare\">A</th><th class=\"spare\">B</th><th>change</th><th>95 % interval</th><th></th></tr></thead><tbody>",
    );
    for one in &comparison.differences {
        let interval = one.interval.map_or("-".to_owned(), units::interval);
        let verdict = one.verdict.name();
        let _ = write!(
            out,
            "<tr><th>{}</th><td class=\"spare\">{}</td><td class=\"spare\">{}</td><td>{}</td><td>{interval}</td><td class=\"{verdict}\">{verdict}</td></tr>",
            one.figure.name(),
            one.figure.shown(one.a),
            one.figure.shown(one.b),
            one.change.map_or("-".to_owned(), units::change),
        );
    }
    out.push_str("</tbody></table></div>");
    for note in &comparison.notes {
        let _ = write!(out, "<p>{}</p>", escaped(note));
    }
    out.push_str("</section>\n");
}

fn throughput(runs: &[Run<'_>], out: &mut String) {
    let Some(charts) = charts::throughput(runs) else {
        return;
    };
    out.push_str("<section><h2>Throughput</h2><p>Requests answered a second, over time</p>");
    keys(runs, out);
    out.push_str(&charts.answered);
    if let Some(errors) = charts.errors {
        let class = if runs.len() == 1 { "low bad" } else { "low" };
        let _ = write!(
            out,
            "<h3>Errors</h3><p>Requests that went wrong a second</p><div class=\"{class}\">{errors}</div>"
        );
    }
    out.push_str("</section>\n");
}

fn latencies(runs: &[Run<'_>], out: &mut String) {
    let Some(chart) = charts::percentiles(runs) else {
        return;
    };
    out.push_str(
        "<section><h2>Latency by percentile</h2><p>Within what time which share of all requests was answered, in percent</p>",
    );
    match runs {
        [run] if run.results.waited() => {
            out.push_str(
                "<p><span class=\"key k1\">from when it was due</span><span class=\"key service\">from when it was sent\
                 </span></p>",
            );
        }
        _ => keys(runs, out),
    }
    out.push_str(&chart);
    out.push_str("</section>\n");
}

fn heat(runs: &[Run<'_>], out: &mut String) {
    let Some(maps) = charts::heat(runs) else {
        return;
    };
    out.push_str(
        "<section><h2>Latency over time</h2><p>How many requests took how long: \
         <span class=\"shade\">few <svg class=\"shades\" viewBox=\"0 0 6 1\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\">",
    );
    for shade in 1..=charts::SHADES {
        let _ = write!(
            out,
            "<path class=\"h{shade}\" d=\"M{} 0h1v1h-1z\"/>",
            shade - 1
        );
    }
    out.push_str("</svg> many</span></p><div class=\"heats\">");
    for (run, map) in runs.iter().zip(maps) {
        let name = match runs {
            [_] => String::new(),
            _ => format!("<h3>{}</h3>", escaped(run.name)),
        };
        let _ = write!(out, "<div>{name}{map}</div>");
    }
    out.push_str("</div></section>\n");
}

/// Which colour is whose.
fn keys(runs: &[Run<'_>], out: &mut String) {
    if runs.len() > 1 {
        let keys: Vec<_> = runs
            .iter()
            .enumerate()
            .map(|(at, run)| key(at, run.name))
            .collect();
        let _ = write!(out, "<p>{}</p>", keys.join(""));
    }
}

fn key(run: usize, name: &str) -> String {
    format!(
        "<span class=\"key {}\">{}</span>",
        colour(run),
        escaped(name)
    )
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::compare::compare;
    use crate::results::{ErrorKind, Second};
    use crate::samples;

    fn one(results: &Results) -> String {
        page(&[Run { name: "A", results }], None)
    }

    #[test]
    fn a_page_of_one_run() {
        let mut results = samples::run(1, 20, 2.0, 600);
        results.target = "http://127.0.0.1/?a=<b>&c".to_owned();
        results.warnings = vec!["the client was 99 % busy".to_owned()];
        let page = one(&results);
        for needed in [
            "<title>thrum bench: http://127.0.0.1/?a=&lt;b&gt;&amp;c</title>",
            "<b>600</b><span>requests a second</span>",
            "<p class=\"warning\">the client was 99 % busy</p>",
            "aria-label=\"Requests answered in each second\"",
            "aria-label=\"Latency by percentile\"",
            "aria-label=\"Heat map of latency over time\"",
            "<span class=\"x\" style=\"left:0%\">0 s</span>",
            ">99.9</span>",
            "<tr><th>status 200</th><td>12,000</td></tr>",
            "<tr><th>connect, 50 %</th>",
        ] {
            assert!(page.contains(needed), "{needed}\n{page}");
        }
        for unwanted in [
            "<script",
            "Errors in each",
            "<h2>B against A",
            "TLS",
            "service, ",
            "http-equiv",
            "url(",
            "src=",
        ] {
            assert!(!page.contains(unwanted), "{unwanted}");
        }
        assert_eq!(
            page.matches("<section>").count(),
            page.matches("</section>").count()
        );
        assert!(!page.contains("NaN") && !page.contains("inf%"));
    }

    #[test]
    fn a_page_of_two_has_how_they_differ() {
        let a = samples::run(1, 10, 2.0, 600);
        let mut b = samples::run(2, 12, 3.0, 400);
        b.target = "http://127.0.0.1:8081/".to_owned();
        b.seconds[3].errors = 12;
        b.errors = [(ErrorKind::Timeout, 12)].into();
        let comparison = compare(from_ref(&a), from_ref(&b));
        let runs = [
            Run {
                name: "A",
                results: &a,
            },
            Run {
                name: "B",
                results: &b,
            },
        ];
        let page = page(&runs, Some(&comparison));
        for needed in [
            "<h1>http://127.0.0.1:8080/ and http://127.0.0.1:8081/</h1>",
            "<span class=\"key k2\">B</span>",
            "<td class=\"slower\">slower</td>",
            "class=\"line k2\"",
            "aria-label=\"Errors in each second\"",
            "<tr><th>errors: timeout</th><td></td><td>12</td></tr>",
        ] {
            assert!(page.contains(needed), "{needed}\n{page}");
        }
        assert_eq!(page.matches("Heat map of latency").count(), 2);
    }

    #[test]
    fn rounds_are_shown_as_one_run() {
        let rounds = [1, 2, 3, 4].map(|seed| samples::run(seed, 4, 2.0, 100));
        let names = ["A", "B", "A", "B"].into_iter();
        let runs = names
            .zip(&rounds)
            .map(|(name, results)| Run { name, results });
        let page = page(&runs.collect::<Vec<_>>(), None);
        for needed in [
            "<thead><tr><th></th><th>A</th><th>B</th></tr></thead>",
            "<tr><th>answered</th><td>800</td><td>800</td></tr>",
            "rounds 2</p>",
            ">8 s</span>",
        ] {
            assert!(page.contains(needed), "{needed}\n{page}");
        }
    }

    #[test]
    fn an_open_loop_shows_both_latencies() {
        let mut results = samples::run(1, 5, 2.0, 400);
        results.service = samples::run(2, 5, 1.0, 400).service;
        let page = one(&results);
        for needed in [
            "from when it was due",
            "class=\"line service\"",
            "<th>service, 99 %</th>",
        ] {
            assert!(page.contains(needed), "{needed}");
        }
    }

    #[test]
    fn what_was_not_measured_is_not_drawn() {
        let mut results = samples::run(1, 0, 2.0, 0);
        results.elapsed_s = 0.4;
        let page = one(&results);
        assert!(
            !page.contains("class=\"plot\"") && !page.contains("NaN"),
            "{page}"
        );
        results.elapsed_s = 2.0;
        results.seconds = vec![Second::default(); 2];
        let page = one(&results);
        assert!(page.contains("Requests answered in each second"), "{page}");
        assert!(
            !page.contains("Latency by percentile") && !page.contains("NaN"),
            "{page}"
        );
    }

    #[test]
    fn an_hour_is_no_larger_than_a_page() {
        let mut results = samples::run(1, 100, 2.0, 50);
        let minute = results.seconds.clone();
        results.seconds = minute.iter().cycle().take(3600).cloned().collect();
        results.elapsed_s = 3600.0;
        let page = one(&results);
        assert!(page.len() < 200_000, "{}", page.len());
    }
}
