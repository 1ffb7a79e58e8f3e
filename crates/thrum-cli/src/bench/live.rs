//! What is shown while a load runs: a bar, the rate and the latency of the last seconds.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use thrum_load::Progress;
use thrum_rt::time;

/// How often it is drawn anew.
const EVERY: Duration = Duration::from_millis(250);
/// Seconds in a sparkline.
const SECONDS: usize = 16;

/// Draws on standard error until it is dropped; nothing where that is no terminal.
pub(super) async fn show(name: &str, progress: impl Fn() -> Progress) {
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
    let template = "{prefix} {bar:24.cyan/dim} {msg}";
    bar.set_style(
        ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("━━─"),
    );
    bar.set_prefix(name.to_owned());
    let _clear = Clear(bar.clone());
    let mut most = None;
    loop {
        let now = progress();
        bar.set_position(done(&now, &mut most));
        bar.set_message(message(&now));
        time::sleep(EVERY).await;
    }
}

/// The line is taken away, whatever ends it.
struct Clear(ProgressBar);

impl Drop for Clear {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// In thousandths. `most` remembers how many requests there were to be sent.
fn done(progress: &Progress, most: &mut Option<u64>) -> u64 {
    let by_time = progress
        .elapsed
        .zip(progress.duration)
        .map(|(elapsed, duration)| elapsed.as_secs_f64() / duration.as_secs_f64().max(0.001));
    let by_count = progress.left.map(|left| {
        let most = *most.get_or_insert(left);
        1.0 - left as f64 / most.max(1) as f64
    });
    let share = by_time.unwrap_or(0.0).max(by_count.unwrap_or(0.0));
    (share.min(1.0) * 1000.0) as u64
}

fn message(progress: &Progress) -> String {
    if progress.elapsed.is_none() {
        return "warming up".to_owned();
    }
    // The last second is not over yet.
    let over = &progress.seconds[..progress.seconds.len().saturating_sub(1)];
    let recent = &over[over.len().saturating_sub(SECONDS)..];
    let rates: Vec<f64> = recent.iter().map(|second| second.0 as f64).collect();
    let waits: Vec<f64> = recent.iter().map(|second| second.1.as_secs_f64()).collect();
    let errors: u64 = progress.errors.iter().map(|error| error.1).sum();
    let rate = rates.last().copied().unwrap_or(progress.answered as f64);
    let wait = waits.last().copied().unwrap_or(0.0) * 1000.0;
    format!(
        "{rate:.0}/s {}  p99 {wait:.2} ms {}  errors {errors}",
        sparkline(&rates),
        sparkline(&waits)
    )
}

fn sparkline(values: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = values.iter().copied().fold(0.0, f64::max);
    let bar = |value: &f64| match most > 0.0 {
        true => BARS[((value / most * 7.0).round() as usize).min(7)],
        false => BARS[0],
    };
    values.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_goes_from_nothing_to_the_most() {
        assert_eq!(sparkline(&[0.0, 50.0, 100.0]), "▁▅█");
        assert_eq!(sparkline(&[0.0, 0.0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn the_bar_follows_time_or_count() {
        let mut progress = Progress {
            elapsed: Some(Duration::from_secs(5)),
            duration: Some(Duration::from_secs(10)),
            left: None,
            answered: 0,
            errors: Vec::new(),
            seconds: Vec::new(),
        };
        let mut most = None;
        assert_eq!(done(&progress, &mut most), 500);
        (progress.duration, progress.left) = (None, Some(80));
        assert_eq!(done(&progress, &mut most), 0);
        progress.left = Some(20);
        assert_eq!(done(&progress, &mut most), 750);
        progress.elapsed = None;
        assert_eq!(message(&progress), "warming up");
    }
}
