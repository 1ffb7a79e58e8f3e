use super::*;
use crate::results::ErrorKind;
use crate::samples::{self, Random};

/// How many of so many comparisons call each figure noise, in hundredths.
fn noise(trials: u64, mut pair: impl FnMut(u64) -> (Vec<Results>, Vec<Results>)) -> Vec<f64> {
    let mut counts = vec![0.0; Figure::ALL.len()];
    for trial in 0..trials {
        let (a, b) = pair(trial);
        for (count, one) in counts.iter_mut().zip(compare(&a, &b).differences) {
            *count += f64::from(one.verdict == Verdict::Noise);
        }
    }
    counts
        .iter()
        .map(|count| 100.0 * count / trials as f64)
        .collect()
}

/// A run whose rates vary around 200 a second, and whose median latency is so many milliseconds. The rate of a second is
/// so much like the one before: 0 for not at all, 1 for the same.
fn varying(seed: u64, seconds: usize, median_ms: f64, likeness: f64) -> Results {
    let mut random = Random(seed.wrapping_mul(0x1234_5678_9abc_def1));
    let mut drift = 0.0;
    let rates: Vec<_> = (0..seconds)
        .map(|_| {
            drift = likeness * drift + (1.0 - likeness * likeness).sqrt() * random.normal();
            (200.0 + 10.0 * drift) as u64
        })
        .collect();
    samples::series(seed, median_ms, &rates)
}

#[test]
fn the_same_is_called_noise_19_times_of_20() {
    let shares = noise(200, |trial| {
        let run = |seed| vec![varying(seed, 20, 2.0, 0.0)];
        (run(2 * trial + 1), run(2 * trial + 2))
    });
    for (share, figure) in shares.iter().zip(Figure::ALL).take(5) {
        assert!(
            (91.0..=99.0).contains(share),
            "{}: {shares:?}",
            figure.name()
        );
    }
}

#[test]
fn the_same_is_called_noise_where_a_second_is_like_the_one_before() {
    let shares = noise(150, |trial| {
        let run = |seed| vec![varying(seed, 60, 2.0, 0.6)];
        (run(2 * trial + 1), run(2 * trial + 2))
    });
    assert!(shares[0] >= 88.0, "{shares:?}");
}

#[test]
fn the_same_is_called_noise_by_rounds() {
    let rounds = |trial: u64, side: u64| -> Vec<_> {
        let round = |round: u64| {
            let seed = 100 * trial + 2 * round + side;
            // A round is a little faster or slower as a whole.
            let median = 2.0 * (0.05 * Random(seed).normal()).exp();
            let mut results = varying(seed, 5, median, 0.0);
            results.began_ms += 10_000 * (2 * round + side);
            results
        };
        (0..5).map(round).collect()
    };
    let shares = noise(150, |trial| (rounds(trial, 0), rounds(trial, 1)));
    for (share, figure) in shares.iter().zip(Figure::ALL).take(5) {
        assert!(
            (90.0..=99.5).contains(share),
            "{}: {shares:?}",
            figure.name()
        );
    }
}

#[test]
fn a_tenth_is_found() {
    for trial in 0..20 {
        let a = [varying(2 * trial + 1, 30, 2.0, 0.0)];
        let mut b = [varying(2 * trial + 2, 30, 2.2, 0.0)];
        for second in &mut b[0].seconds {
            second.answered = second.answered * 9 / 10;
        }
        let comparison = compare(&a, &b);
        for one in &comparison.differences[..4] {
            assert_eq!(one.verdict, Verdict::Slower, "{trial}: {one:?}");
            let [low, high] = one.interval.unwrap();
            let change = if one.figure == Figure::Rate {
                -0.1
            } else {
                0.1
            };
            assert!((one.change.unwrap() - change).abs() < 0.05, "{one:?}");
            assert!(
                low < one.change.unwrap() && one.change.unwrap() < high,
                "{one:?}"
            );
        }
        let back = compare(&b, &a);
        assert!(
            back.differences[..4]
                .iter()
                .all(|one| one.verdict == Verdict::Faster)
        );
    }
}

#[test]
fn what_drifts_does_no_harm_to_rounds_in_turn() {
    let round = |seed: u64, at: u64, median: f64| {
        // The machine gets slower and slower, by a half in the end.
        let mut results = varying(seed, 3, median * (1.0 + at as f64 / 20.0), 0.0);
        results.began_ms += 10_000 * at;
        results
    };
    let a: Vec<_> = (0..5).map(|at| round(at + 1, 2 * at, 2.0)).collect();
    let b: Vec<_> = (0..5).map(|at| round(at + 51, 2 * at + 1, 2.4)).collect();
    assert_eq!(compare(&a, &b).differences[2].verdict, Verdict::Slower);
    let mut shuffled = b.clone();
    shuffled.reverse();
    let apart = compare(&a, &shuffled);
    assert!(
        apart.notes[0].contains("5 rounds of A and 5 of B"),
        "{:?}",
        apart.notes
    );
    let [low, high] = apart.differences[2].interval.unwrap();
    let [low_paired, high_paired] = compare(&a, &b).differences[2].interval.unwrap();
    assert!(high - low > 2.0 * (high_paired - low_paired));
}

#[test]
fn too_little_is_said_to_be() {
    let short = [samples::run(1, 2, 2.0, 100)];
    let long = [samples::run(2, 10, 2.0, 500)];
    let comparison = compare(&short, &long);
    assert!(
        comparison
            .differences
            .iter()
            .all(|one| one.verdict == Verdict::Unknown && one.interval.is_none())
    );
    // 5,000 requests have five beyond p99.9.
    let same = compare(&long, &long);
    let verdicts: Vec<_> = same.differences.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts[..5], [Verdict::Noise; 5]);
    assert_eq!(verdicts[5], Verdict::Unknown);

    let nothing = [samples::run(1, 10, 2.0, 0)];
    let comparison = compare(&nothing, &long);
    assert!(
        comparison
            .differences
            .iter()
            .all(|one| one.verdict == Verdict::Unknown && one.change.is_none())
    );
    assert!(
        compare(&[], &[])
            .differences
            .iter()
            .all(|one| one.verdict == Verdict::Unknown)
    );
}

#[test]
fn doubts_are_told() {
    let a = samples::run(1, 10, 2.0, 100);
    let mut b = samples::run(2, 10, 2.0, 100);
    b.plan[0].1 = "100".to_owned();
    b.errors = [(ErrorKind::Lost, 1000)].into();
    let told = compare(&[a], &[b]).notes.join("\n");
    for needed in [
        "--against measures in turn",
        "one figure in twenty",
        "The loads differ: A had connections 50; B had connections 100.",
        "Of A's requests 0 % went wrong, of B's 50 %",
    ] {
        assert!(told.contains(needed), "{told}");
    }
}
