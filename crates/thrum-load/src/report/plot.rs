//! A chart for a page: lines and areas in an SVG that stretches with the page, and around it labels in HTML, which do not.
//!
//! `plotters` was rejected: it writes its colours and sizes into the drawing, so dark mode and a phone would each need a
//! drawing of their own. Here a mark has a class and the page's style says the colour.

use std::fmt::Write;

/// The drawing's own width and height; how large it is shown the page's style says.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 400.0;

/// A direction of a chart: which values it has, and where it says so.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    ticks: Vec<Tick>,
}

#[derive(Clone, Debug)]
struct Tick {
    value: f64,
    label: String,
    /// Left out where there is little room.
    spare: bool,
}

impl Axis {
    /// From 0 to a round number that is no less, with about four steps.
    pub(super) fn from_zero(highest: f64, label: impl Fn(f64) -> String) -> Self {
        let step = round_up(highest.max(1e-9) / 4.0);
        let steps = (highest / step).ceil().max(1.0);
        let ticks = (0..=steps as u32).map(|at| step * f64::from(at));
        Self::new([0.0, step * steps], false, ticks, label)
    }

    /// From 0 to just that number, with up to eight round steps.
    pub(super) fn up_to(highest: f64, label: impl Fn(f64) -> String) -> Self {
        let step = round_up(highest / 8.0).max(1.0);
        let ticks = (0..=(highest / step) as u32).map(|at| step * f64::from(at));
        let mut axis = Self::new([0.0, highest], false, ticks, label);
        for tick in axis.ticks.iter_mut().skip(1).step_by(2) {
            tick.spare = true;
        }
        axis
    }

    /// Between two positive numbers, as logarithms, with ticks at 1, 2 and 5 of each power of ten, or at the powers alone.
    pub(super) fn logarithmic(lowest: f64, highest: f64, label: impl Fn(f64) -> String) -> Self {
        let (low, mut high) = (round_down(lowest), round_up(highest));
        if high <= low {
            high = round_up(low * 1.5);
        }
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let all = |of: &'static [f64]| {
            let ticks = decades
                .clone()
                .flat_map(move |power| of.iter().map(move |one| one * 10_f64.powi(power)));
            // What was made by powers is not quite what was made by rounding.
            ticks
                .filter(|value| (low * 0.999..=high * 1.001).contains(value))
                .collect::<Vec<_>>()
        };
        let fine = all(&[1.0, 2.0, 5.0]);
        let ticks = if fine.len() > 7 { all(&[1.0]) } else { fine };
        Self::new([low, high], true, ticks.into_iter(), label)
    }

    /// Between two numbers, with ticks where they are said to be.
    pub(super) fn with_ticks(range: [f64; 2], ticks: impl Iterator<Item = (f64, String)>) -> Self {
        let [low, high] = range;
        let ticks = ticks.map(|(value, label)| Tick {
            value,
            label,
            spare: false,
        });
        Self {
            low,
            high,
            logarithmic: false,
            ticks: ticks.collect(),
        }
    }

    fn new(
        range: [f64; 2],
        logarithmic: bool,
        ticks: impl Iterator<Item = f64>,
        label: impl Fn(f64) -> String,
    ) -> Self {
        let axis = Self::with_ticks(range, ticks.map(|value| (value, label(value))));
        Self {
            logarithmic,
            ..axis
        }
    }

    /// Where a value is: 0 for the lowest, 1 for the highest.
    pub(super) fn place(&self, value: f64) -> f64 {
        let scale = |value: f64| {
            if self.logarithmic {
                value.log10()
            } else {
                value
            }
        };
        let place = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low));
        place.clamp(0.0, 1.0)
    }
}

/// What is drawn, from the first to the topmost.
pub(super) struct Plot {
    x: Axis,
    y: Axis,
    marks: String,
}

impl Plot {
    pub(super) fn new(x: Axis, y: Axis) -> Self {
        Self {
            x,
            y,
            marks: String::new(),
        }
    }

    /// A line through points.
    pub(super) fn line(&mut self, class: &str, points: impl Iterator<Item = (f64, f64)>) {
        let mut path = String::new();
        for (at, (x, y)) in points.enumerate() {
            let command = if at == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{} {}", self.x(x), self.y(y));
        }
        self.path(class, &path);
    }

    /// A line with a level for each part, the parts as wide as said; under it all is filled.
    pub(super) fn stairs(&mut self, class: &str, width: f64, levels: impl Iterator<Item = f64>) {
        let mut path = String::new();
        for (at, level) in levels.enumerate() {
            let command = if at == 0 { 'M' } else { 'V' };
            let begin = if at == 0 {
                format!("{} ", self.x(0.0))
            } else {
                String::new()
            };
            let end = self.x(width * (at + 1) as f64);
            let _ = write!(path, "{command}{begin}{}H{end}", self.y(level));
        }
        if !path.is_empty() {
            let area = format!("{path}V{HEIGHT}H0Z");
            self.path(&format!("area {class}"), &area);
        }
        self.path(class, &path);
    }

    /// Boxes of one shade: from x to x, from y to y, as shares of the chart.
    pub(super) fn boxes(&mut self, class: &str, boxes: impl Iterator<Item = [f64; 4]>) {
        let mut path = String::new();
        for [left, right, low, high] in boxes {
            let (x, width) = (number(left * WIDTH), number((right - left) * WIDTH));
            let (y, height) = (number((1.0 - high) * HEIGHT), number((high - low) * HEIGHT));
            let _ = write!(path, "M{x} {y}h{width}v{height}h-{width}z");
        }
        self.path(class, &path);
    }

    fn path(&mut self, class: &str, path: &str) {
        if !path.is_empty() {
            let _ = write!(self.marks, r#"<path class="{class}" d="{path}"/>"#);
        }
    }

    fn x(&self, value: f64) -> String {
        number(self.x.place(value) * WIDTH)
    }

    fn y(&self, value: f64) -> String {
        number((1.0 - self.y.place(value)) * HEIGHT)
    }

    /// As HTML; `told` says in words what it shows, for those who do not see it.
    pub(super) fn html(&self, told: &str) -> String {
        let mut grid = String::new();
        for tick in &self.y.ticks {
            let _ = write!(grid, "M0 {}H{WIDTH}", self.y(tick.value));
        }
        for tick in &self.x.ticks {
            let _ = write!(grid, "M{} 0V{HEIGHT}", self.x(tick.value));
        }
        let mut out = format!(
            "<div class=\"plot\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"{}\"><path class=\"grid\" d=\"{grid}\"/>{}</svg>",
            super::html::escaped(told),
            self.marks
        );
        for (axis, side, class) in [(&self.y, "bottom", "y"), (&self.x, "left", "x")] {
            for tick in &axis.ticks {
                let spare = if tick.spare { " spare" } else { "" };
                let _ = write!(
                    out,
                    "<span class=\"{class}{spare}\" style=\"{side}:{}%\">{}</span>",
                    number(axis.place(tick.value) * 100.0),
                    super::html::escaped(&tick.label)
                );
            }
        }
        out.push_str("</div>\n");
        out
    }
}

/// To a tenth, without a tenth that is 0.
fn number(value: f64) -> String {
    ((value * 10.0).round() / 10.0).to_string()
}

/// 1, 2 or 5 of a power of ten that is no less.
fn round_up(value: f64) -> f64 {
    round(value, |part| match part {
        ..=1.0 => 1.0,
        ..=2.0 => 2.0,
        ..=5.0 => 5.0,
        _ => 10.0,
    })
}

/// The same, no greater.
fn round_down(value: f64) -> f64 {
    round(value, |part| match part {
        5.0.. => 5.0,
        2.0.. => 2.0,
        _ => 1.0,
    })
}

fn round(value: f64, part: impl Fn(f64) -> f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    // Division makes 2.0000000000000004 of some 2.
    let digits = (value / power * 1e9).round() / 1e9;
    part(digits) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn axes_end_at_round_numbers() {
        let plain = |value: f64| format!("{value}");
        let axis = Axis::from_zero(1234.0, plain);
        assert_eq!(labels(&axis), ["0", "500", "1000", "1500"]);
        assert_eq!(axis.place(750.0), 0.5);
        assert_eq!(axis.place(9999.0), 1.0);
        assert_eq!(labels(&Axis::from_zero(0.0, plain)).len(), 2);
        assert_eq!(
            labels(&Axis::up_to(10.0, plain)),
            ["0", "2", "4", "6", "8", "10"]
        );
        assert_eq!(labels(&Axis::up_to(3.0, plain)), ["0", "1", "2", "3"]);
    }

    #[test]
    fn logarithms_have_equal_steps() {
        let plain = |value: f64| format!("{value:.3}");
        let axis = Axis::logarithmic(0.13, 4.0, plain);
        assert_eq!(
            labels(&axis),
            ["0.100", "0.200", "0.500", "1.000", "2.000", "5.000"]
        );
        assert!((axis.place(0.1) - 0.0).abs() < 1e-9);
        assert!((axis.place(5.0) - 1.0).abs() < 1e-9);
        let axis = Axis::logarithmic(1.0, 90_000.0, plain);
        assert_eq!(labels(&axis).len(), 6);
        assert!((axis.place(10.0) - 0.2).abs() < 1e-9);
        let axis = Axis::logarithmic(2.0, 2.0, plain);
        assert!(axis.low < axis.high);
    }

    #[test]
    fn marks_are_where_the_values_are() {
        let plain = |value: f64| format!("{value}");
        let mut plot = Plot::new(Axis::up_to(4.0, plain), Axis::from_zero(8.0, plain));
        plot.line("k1", [(0.0, 0.0), (4.0, 8.0)].into_iter());
        plot.stairs("k2", 2.0, [8.0, 4.0].into_iter());
        plot.boxes("h1", [[0.0, 0.5, 0.25, 0.5]].into_iter());
        let html = plot.html("a \"test\"");
        for needed in [
            r#"<path class="k1" d="M0 400L1000 0"/>"#,
            r#"<path class="k2" d="M0 0H500V200H1000"/>"#,
            r#"<path class="area k2" d="M0 0H500V200H1000V400H0Z"/>"#,
            r#"<path class="h1" d="M0 200h500v100h-500z"/>"#,
            r#"aria-label="a &quot;test&quot;""#,
            r#"<span class="y" style="bottom:50%">4</span>"#,
            r#"<span class="x spare" style="left:25%">1</span>"#,
        ] {
            assert!(html.contains(needed), "{needed}\n{html}");
        }
    }
}
